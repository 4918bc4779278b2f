"""The exponential threshold: make an arm look so bad at once that it is hardly ever pulled again.

Setting     Strong; knows only what it observes (black box). Meant for unbounded rewards.
Algorithm   As Jun et al.'s attack on UCB, with the level m - 2 beta(N) - 3 sigma exp(n) for an arm that is pulled for
            the n-th time.   Zuo 2024
Effect      With every pull an arm's mean falls e times as deep, so UCB returns to it only O(ln ln T) times, and the
            cost grows more slowly than Jun's. Clipped to [0, 1] it returns 0 for every arm except the target.
Reading     Reconstruction from a description of the rule. The exponent stops at 40, where a reward is about -10^19, so
            that sums do not overflow.
"""

from dataclasses import dataclass
from math import exp
from typing import Any

from vambrace.adversaries.books import Bookkeeper, Books, humble_level, idle, lowered
from vambrace.kernels import kernel
from vambrace.protocols import Round, Stream

LARGEST_EXPONENT = 40


@kernel
def alter(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm):
        return reward, books
    depth = 3.0 * books.sigma * exp(float(min(books.counts[arm] + 1, LARGEST_EXPONENT)))
    return lowered(books, arm, reward, humble_level(books) - depth), books


@dataclass(frozen=True, kw_only=True)
class ExponentialThreshold(Bookkeeper):
    """Push every arm except the target down, e times as deep with each pull, so that UCB hardly ever returns to it.

    Needs O(ln ln T) pulls where `JunUCB` needs O(ln T). Strong and black box. Meant for ``bounded=False``.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.
        sigma: How much a reward spreads: at most 0.5 in [0, 1].

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.ExponentialThreshold()
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1, bounded=False)
    >>> result.pulls[0].tolist()
    [2, 4998]
    """

    name, reference = "exponential-threshold", "Zuo 2024"
    alter = staticmethod(alter)
