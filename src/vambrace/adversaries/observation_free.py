"""The observation-free attack: a fixed script for the first rounds.

Algorithm   In the first C1 rounds every arm pays 0; in the next C2 rounds the target pays 1 and every other arm 0; then
            nothing. C1 = K ceil(ln T / mean^2) and C1 : C2 = (1 - mean) : mean, with the target's mean.
            Xu et al. 2021
Effect      A number of rounds that does not grow with the horizon is enough: UCB with a narrow radius and Thompson
            sampling starve every arm except the target, because they never check its false lead again. After C1 rounds
            an arm has been pulled C1 / K times, so its index is at most the target's mean; and after C2 more, if the
            target was pulled in all C1 + C2 rounds, its mean looks no better than it is, so it never falls.
Reading     All of a finite budget is spent. A larger one is split in the same proportion, since a longer script works
            on wider radii too. Of a smaller one C1 rounds are zeros if it has as many: those are what matters. Xu et
            al.'s index is mean + sqrt(ln T / N), which contains the horizon; UCB1 with alpha = 1, which has ln t
            instead, fails as well.
"""

from dataclasses import dataclass
from math import ceil, inf, isinf, log
from typing import NamedTuple

from vambrace.adversaries.ranks import promoted_arm
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Rounds
from vambrace.protocols import Adversary, Floats, Game, Round, Stream


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

    Defeats narrow UCB and Thompson sampling, which never check the false lead again. Medium and blind; it knows
    the target's mean.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        zero_rounds: In how many rounds every arm pays 0; None: by Xu et al.'s formula, from the target's mean.
        target_rounds: In how many rounds after that only the target pays 1; None: the rest.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.8]), vb.ObservationFree(budget=100)
    >>> result = vb.simulate(vb.UCB1(alpha=1), env, attack, horizon=10_000, seed=1)
    >>> result.pulls[0].tolist()
    [16, 9984]
    """

    name, reference = "observation-free", "Xu et al. 2021"
    strength, knowledge, aim = "medium", "oracle means", "promotes a target"
    corrupt = staticmethod(corrupt)

    budget: AttackBudget = inf
    target: Arm | None = None
    zero_rounds: Rounds | None = None
    target_rounds: Rounds | None = None

    def init(self, game: Game) -> State:
        target = promoted_arm(self.target, game)
        mean, horizon = float(game.means[target]), game.required_horizon
        in_all = int(min(self.budget, horizon))  # a round costs at most one, so a budget of C lasts C rounds or more
        enough = len(game.means) * ceil(log(horizon) / mean**2) if mean > 0.0 else in_all
        if isinf(self.budget) and 0.0 < mean < 1.0:
            in_all = min(in_all, enough + round(enough * mean / (1.0 - mean)))
        zeros = round((1.0 - mean) * in_all)
        zeros = max(zeros, enough) if enough <= in_all else zeros
        zero_until = zeros if self.zero_rounds is None else self.zero_rounds
        until = zero_until + (in_all - zeros if self.target_rounds is None else self.target_rounds)
        return State(target, zero_until, until)
