"""Jun et al.'s attack on epsilon-greedy: no other arm's mean may reach the target's.

Setting     Strong; knows nothing but what passes by (black box).
Algorithm   From round K + 1 on take from the reward of every arm but the target the least that brings the arm's
            delivered mean down to m - 2 beta(N), m and N being the target's mean and pulls.   Jun et al. 2018
Effect      The greedy arm is the target, which gets all but a vanishing share of the pulls, at a cost of
            sum over arms (gap + 4 beta) times the pulls that exploration makes: O(ln T) where epsilon is of order 1/t.
Reading     Nothing happens before the target's first pull. Where rewards are clipped to [0, 1], what a zero could not
            pay is taken from the next rewards of that arm: the rule looks at what was delivered. But no arm can then be
            pushed below a target that has paid nothing but zeros, and with epsilon = 1/t that may last for ever.
"""

from dataclasses import dataclass
from typing import Any

from vambrace.adversaries.books import Bookkeeper, Books, humble_level, idle, lowered
from vambrace.kernels import kernel
from vambrace.protocols import Round
from vambrace.sampling import Stream


@kernel
def alter(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm) or round.t <= len(books.counts):
        return reward, books
    return lowered(books, arm, reward, humble_level(books)), books


@dataclass(frozen=True, kw_only=True)
class JunEpsilonGreedy(Bookkeeper):
    """Jun et al.'s attack on epsilon-greedy: take just enough that no other arm's mean reaches the target's.

    Makes a greedy policy greedy for the target. Strong: it sees the pulled arm; it knows nothing but what passes by.

    Args:
        budget: What it may spend in total: at worst, so many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.JunEpsilonGreedy(budget=300)
    >>> result = vb.simulate(vb.EpsilonGreedy(), env, attack, horizon=5_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1].round(1))
    ([8, 4992], 5.4)
    """

    name = "jun-epsilon-greedy"
    reference = "Jun et al. 2018"

    alter = staticmethod(alter)
