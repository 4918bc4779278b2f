"""Boost: make another arm look better, by faking a share of successes.

Algorithm   Return 1 for the boosted arm with the chance with which its mean seems `depth` of its gap higher.
Effect      What is spent adds to the regret of an index policy, and with two arms no policy with armour can avoid that
            (docs/price-of-armour.md).
Reading     The gap is the distance to the best mean. The runner-up is the best arm that is not best.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Positive
from vambrace.protocols import Game


class State(NamedTuple):
    """The arm to boost, and with which chance each of its rewards is replaced by 1."""

    arm: int
    chance: float


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return (state.chance if arm == state.arm else 0.0), 1.0


@dataclass(frozen=True, kw_only=True)
class Boost(StationaryAdversary):
    """Make the runner-up look better: fake just so many successes that it seems to close its gap to the best arm.

    A policy with armour loses what the attacker spends. Strong: it sees the pulled arm. It knows the true means. It is
    a `Script` with the sign + and a level for the runner-up.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        arm: The arm to boost, by number; None: the runner-up.
        depth: How much higher the arm seems, in gaps between it and the best: 1 is a tie; it never seems to pay more
            than 1.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.5])
    >>> for attack in (None, vb.Boost(budget=100)):
    ...     print(vb.simulate(vb.KLUCBWR(budget=100), env, attack, horizon=100_000, seed=1))
    kl-ucb-wr:budget=100 without attack: regret 130.8 after 100,000 rounds
    kl-ucb-wr:budget=100 against boost:budget=100: regret 252.0 after 100,000 rounds, cost 100.0
    """

    name = "boost"
    reference = "vambrace: the price of armour"
    knowledge = "oracle means"
    aim = "promotes the runner-up"

    budget: AttackBudget = inf
    arm: Arm | None = None
    depth: Positive = 1.0

    respond = staticmethod(respond)

    def init(self, game: Game) -> State:
        """Compute the chance; nothing is boosted if all arms are best."""
        means = game.means
        runner_up = int(np.where(means < means.max(), means, -inf).argmax())
        arm = validation.arm("arm", self.arm, len(means), default=runner_up)
        gap = means.max() - means[arm]
        return State(arm, min(1.0, self.depth * gap / (1.0 - means[arm])) if gap > 0.0 else 0.0)
