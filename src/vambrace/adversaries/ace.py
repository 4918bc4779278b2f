"""ACE: the adaptive attack by constant estimation, for any learner with low regret.

Setting     Strong; knows only what it observes, not even which policy it attacks (black box).
Algorithm   From round K + 1 on subtract max(0, m_i - m + beta(N_i) + beta(N)) from the reward of every arm i except the
            target; m_i, N_i are the arm's raw mean and pulls, this one included; m, N the target's.  Liu & Shroff 2019
Effect      With probability 1 - delta every other arm seems worse than the target, so a learner with regret R plays
            the target in all but O(R) rounds, at a cost of the same order.
Reading     Needs unbounded rewards: if rewards are clipped to [0, 1], a reward of zero cannot be lowered, and arms stay
            ahead. Nothing happens before the target's first pull.
"""

from dataclasses import dataclass
from typing import Any

from vambrace.adversaries.books import Bookkeeper, Books, beta, idle
from vambrace.kernels import kernel
from vambrace.protocols import Round, Stream


@kernel
def alter(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm) or round.t <= len(books.counts):
        return reward, books
    count, target_count = books.counts[arm] + 1, books.counts[books.target]
    lead = (books.raw[arm] + reward) / count - books.raw[books.target] / target_count
    return reward - max(0.0, lead + beta(books, count) + beta(books, target_count)), books


@dataclass(frozen=True, kw_only=True)
class ACE(Bookkeeper):
    """Adaptive attack by constant estimation: push every other arm below the target, with estimates of both means.

    Works on any learner with low regret. Strong and black box. Meant for ``bounded=False``.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.
        sigma: How much a reward spreads: at most 0.5 in [0, 1].

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.ACE(budget=1_000)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1, bounded=False)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1].round(1))
    ([19, 4981], 25.6)
    """

    name, reference = "ace", "Liu & Shroff 2019"
    alter = staticmethod(alter)
