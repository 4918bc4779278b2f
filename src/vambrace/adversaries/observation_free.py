"""The observation-free attack: a script for the first few rounds, whatever happens in them.

Setting     Medium, and blind: looks neither at rewards nor at arms (black box).
Algorithm   In the first ``zero_rounds`` rounds every arm pays 0; in the next ``target_rounds`` rounds the target pays 1
            and every other arm 0; then nothing.   Xu et al. 2021
Effect      With a constant number of rounds, in the horizon, UCB with a narrow radius and Thompson sampling starve
            every arm but the target: its false lead is never checked again.
Reading     By default a budget is split as published for two arms and T = 50,000, 34 rounds to 66, and these
            are the rounds where it is infinite. Xu et al.'s index is mean + sqrt(ln T / N), with the horizon in it;
            UCB1 with alpha = 1, ln t in its place, falls as well.
"""

from dataclasses import dataclass
from math import inf, isinf
from typing import NamedTuple

from vambrace import validation
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Rounds
from vambrace.protocols import Adversary, Floats, Game, Round
from vambrace.sampling import Stream

ZERO_ROUNDS, TARGET_ROUNDS = 34, 66  # as published


class State(NamedTuple):
    """The target, and after which round each part of the script is over."""

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
    """A script for the first few rounds, whatever happens in them: zeros for all, then ones for the target only.

    Enough for narrow UCB and Thompson sampling, which never check the false lead again. Medium, and blind: it looks
    neither at rewards nor at arms.

    Args:
        budget: What it may spend in total: at worst, so many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        zero_rounds: How long every arm pays 0; None: 34 % of the budget.
        target_rounds: How long the target alone then pays 1; None: 66 % of the budget.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.8]), vb.ObservationFree(budget=100)
    >>> result = vb.simulate(vb.UCB1(alpha=1), env, attack, horizon=10_000, seed=1)
    >>> result.pulls[0].tolist()
    [18, 9982]
    """

    name = "observation-free"
    reference = "Xu et al. 2021"
    strength = "medium"
    knowledge = "black box"
    aim = "promotes a target"

    budget: AttackBudget = inf
    target: Arm | None = None
    zero_rounds: Rounds | None = None
    target_rounds: Rounds | None = None

    corrupt = staticmethod(corrupt)

    def init(self, game: Game) -> State:
        """The script; of the means only the worst arm's index is used, where no target is named."""
        means, horizon = game.means, game.required_horizon
        target = validation.arm("target", self.target, len(means), default=int(means.argmin()))
        # a round costs one at most, so that the budget suffices for as many
        in_all = ZERO_ROUNDS + TARGET_ROUNDS if isinf(self.budget) else int(min(self.budget, horizon))
        zeros = in_all * ZERO_ROUNDS // (ZERO_ROUNDS + TARGET_ROUNDS)
        zero_until = zeros if self.zero_rounds is None else int(self.zero_rounds)
        return State(
            target, zero_until, zero_until + int(in_all - zeros if self.target_rounds is None else self.target_rounds)
        )
