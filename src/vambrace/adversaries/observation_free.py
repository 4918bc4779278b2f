"""The observation-free attack: a fixed script for the first rounds.

Algorithm   In the first ``zero_rounds`` rounds every arm pays 0; in the next ``target_rounds`` rounds the target pays 1
            and every other arm 0; then nothing.   Xu et al. 2021
Effect      A number of rounds that does not grow with the horizon is enough: UCB with a narrow radius and Thompson
            sampling starve every arm except the target, because they never check its false lead again.
Reading     By default a budget is split as published for two arms and T = 50,000: 34 rounds to 66. An infinite budget
            gives exactly these rounds. Xu et al.'s index is mean + sqrt(ln T / N), which contains the horizon; UCB1
            with alpha = 1, which has ln t instead, fails as well.
"""

from dataclasses import dataclass
from math import inf, isinf
from typing import NamedTuple

from vambrace.adversaries.ranks import promoted_arm
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Rounds
from vambrace.protocols import Adversary, Floats, Game, Round, Stream

ZERO_ROUNDS, TARGET_ROUNDS = 34, 66  # as published


class State(NamedTuple):
    """The target, and the last round of each part of the script."""

    target: int
    zero_until: int
    until: int


@kernel
def corrupt(state: State, round: Round, rewards: Floats, rng: Stream) -> State:
    if round.t <= state.until:
        for k in range(len(rewards)):
            rewards[k] = 1.0 if k == state.target and round.t > state.zero_until else 0.0
    return state


@dataclass(frozen=True, kw_only=True)
class ObservationFree(Adversary):
    """A fixed script for the first rounds: zeros for all arms, then ones for the target only.

    Defeats narrow UCB and Thompson sampling, which never check the false lead again. Medium and blind.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        zero_rounds: In how many rounds every arm pays 0; None: 34 % of the budget.
        target_rounds: In how many rounds after that only the target pays 1; None: 66 % of the budget.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.8]), vb.ObservationFree(budget=100)
    >>> result = vb.simulate(vb.UCB1(alpha=1), env, attack, horizon=10_000, seed=1)
    >>> result.pulls[0].tolist()
    [18, 9982]
    """

    name, reference = "observation-free", "Xu et al. 2021"
    strength, knowledge, aim = "medium", "black box", "promotes a target"
    corrupt = staticmethod(corrupt)

    budget: AttackBudget = inf
    target: Arm | None = None
    zero_rounds: Rounds | None = None
    target_rounds: Rounds | None = None

    def init(self, game: Game) -> State:
        # a round costs at most one, so a budget of C lasts for at least C rounds
        in_all = ZERO_ROUNDS + TARGET_ROUNDS if isinf(self.budget) else int(min(self.budget, game.required_horizon))
        zeros = in_all * ZERO_ROUNDS // (ZERO_ROUNDS + TARGET_ROUNDS)
        zero_until = zeros if self.zero_rounds is None else self.zero_rounds
        until = zero_until + (in_all - zeros if self.target_rounds is None else self.target_rounds)
        return State(promoted_arm(self.target, game), zero_until, until)
