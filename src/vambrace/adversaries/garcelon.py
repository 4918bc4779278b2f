"""Garcelon et al.'s attack: return a fraction of the target's lower confidence bound for every other arm.

Setting     Strong; knows only what it observes (black box).
Algorithm   On every arm except the target return (1 - shrink) max(0, m - beta(N)), where m and N are the target's raw
            mean and pulls.   Garcelon et al. 2020
Effect      Every other arm seems worth less than the target, so a learner with low regret plays the target in all but
            a vanishing share of the rounds. Clipping does not weaken the attack: what it returns lies in [0, 1].
Reading     Reconstruction on K arms of an attack on linear contextual bandits. The reward is replaced, so a low one is
            raised. Nothing happens before the target's first pull.
"""

from dataclasses import dataclass
from typing import Any

from vambrace.adversaries.books import Bookkeeper, Books, beta, idle
from vambrace.kernels import kernel
from vambrace.parameters import Share
from vambrace.protocols import Game, Round, Stream


@kernel
def alter(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm):
        return reward, books
    count = books.counts[books.target]
    lower_bound = max(0.0, books.raw[books.target] / count - beta(books, count))
    return (1.0 - books.parameter) * lower_bound, books


@dataclass(frozen=True, kw_only=True)
class Garcelon(Bookkeeper):
    """Replace the rewards of all other arms by a fraction of the target's lower confidence bound.

    What it returns lies in [0, 1], so clipping does not weaken it. Strong and black box.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.
        sigma: How much a reward spreads: at most 0.5 in [0, 1].
        shrink: Which fraction of the target's lower bound is withheld; 1 returns zeros.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Garcelon(budget=300)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1].round(1))
    ([125, 4875], 97.4)
    """

    name, reference = "garcelon", "Garcelon et al. 2020"
    alter = staticmethod(alter)

    shrink: Share = 0.5

    def init(self, game: Game) -> Books:
        return super().init(game)._replace(parameter=self.shrink)
