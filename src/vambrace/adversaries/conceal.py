"""Conceal: hide the best arm; best-arm corruption: hide it without knowing when it will be pulled.

Algorithm   Return 0 whenever a concealed arm is pulled, while the budget lasts.   Theorem 1
            Best-arm corruption: the arm pays 0 in every round, while the budget lasts.   Lykouris et al. 2018
Effect      Any policy suffers floor(C / e) (floor(K/2) - 1) e on some instance; e = 1 here (E14). A policy without
            armour drops or starves the best arm after a few dozen fake events.
            Corruption pays for every round in which the arm would have paid, pulled or not. The same budget therefore
            does less harm, and the more arms there are, the less.
Reading     Every arm that is as good as the best is concealed too: while one of them is left there is no harm. With
            ``stop_when_dropped`` the attack reads the state of an eliminating policy and does nothing to an arm that is
            dropped (white box).
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.adversaries.ranks import HowMany, best_arms
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget
from vambrace.protocols import Adversary, Flags, Floats, Game, Round, Stream


class State(NamedTuple):
    """Which arms seem to pay nothing, and the one that always seems to pay (`EliminationRush`); -1: none does."""

    hidden: Flags
    raised: int


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return (1.0 if state.hidden[arm] else 0.0), 0.0


@kernel
def respond_until_dropped(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    if state.hidden[arm]:
        return (0.0 if view.arms.dropped[arm] else 1.0), 0.0
    if arm == state.raised:
        for k in range(len(state.hidden)):
            if state.hidden[k] and not view.arms.dropped[k]:
                return 1.0, 1.0
    return 0.0, reward


@dataclass(frozen=True, kw_only=True)
class Conceal(StationaryAdversary):
    """Hide the best arm: it seems to pay nothing whenever it is pulled, while the budget lasts.

    The first attack to try on any policy, and usually the worst: a policy without armour drops or starves the best arm
    after a few dozen fake events (Theorem 1). Strong: it sees the pulled arm. It knows which arm is best. It is a
    `Script` with the sign - for the hidden arms.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        arm: The arm to hide, by number; None: the best ones.
        stop_when_dropped: Do nothing to an arm that an eliminating policy has dropped (white box), which saves budget.
        best: How many of the best arms to hide, and with them every arm that is as good as one of them; never the
            worst.

    >>> import vambrace as vb
    >>> result = vb.simulate(vb.SE(), vb.Bernoulli([0.9, 0.8]), vb.Conceal(budget=300), horizon=20_000, seed=1)
    >>> result.pulls[0].tolist()  # the best arm was dropped
    [131, 19869]
    >>> float(result.cost[0, -1])  # and its pulls until then are all that it cost
    118.0
    """

    name, reference = "conceal", "Theorem 1"
    knowledge, aim = "oracle means", "hides the best arm"

    arm: Arm | None = None
    stop_when_dropped: bool = False
    best: HowMany = 1

    @property
    def respond(self) -> Any:  # type: ignore[override]
        """The kernel: one reads the policy's state, the other does not."""
        return respond_until_dropped if self.stop_when_dropped else respond

    @property
    def reads(self) -> tuple[str, ...]:
        """The table of arms, if the attack stops when an arm is dropped."""
        return ("arms",) if self.stop_when_dropped else ()

    def init(self, game: Game) -> State:
        if self.arm is None:
            return State(best_arms(game.means, self.best), -1)
        arm = validation.arm("arm", self.arm, len(game.means), default=0)
        return State(np.arange(len(game.means)) == arm, -1)


@kernel
def corrupt(hidden: Flags, round: Round, rewards: Floats, rng: Stream) -> Flags:
    for k in range(len(rewards)):
        if hidden[k]:
            rewards[k] = 0.0
    return hidden


@dataclass(frozen=True, kw_only=True)
class BestArmCorruption(Adversary):
    """`Conceal` without seeing the arm: the best arm pays 0 in every round, pulled or not, while the budget lasts.

    Shows what an attacker loses if it must act before the arm is known (medium). It knows which arm is best.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        best: How many of the best arms to hide, and with them every arm that is as good as one of them; never the
            worst.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.5])
    >>> for attack in (vb.BestArmCorruption(budget=60), vb.Conceal(budget=60)):
    ...     print(vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1))
    ucb1 against best-arm-corruption:budget=60: regret 34.8 after 5,000 rounds, cost 60.0
    ucb1 against conceal:budget=60: regret 1,977.2 after 5,000 rounds, cost 51.0
    """

    name, reference = "best-arm-corruption", "Lykouris et al. 2018"
    strength, knowledge, aim = "medium", "oracle means", "hides the best arm"
    corrupt = staticmethod(corrupt)

    budget: AttackBudget = inf
    best: HowMany = 1

    def init(self, game: Game) -> Flags:
        return best_arms(game.means, self.best)
