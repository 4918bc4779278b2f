"""Jun et al.'s attack on epsilon-greedy: no other arm's mean may reach the target's.

Setting     Strong; knows only what it observes (black box).
Algorithm   From round K + 1 on lower the reward of every arm except the target just enough to bring the arm's
            delivered mean down to m - 2 beta(N), where m and N are the target's mean and pulls.   Jun et al. 2018
Effect      The greedy arm is the target, which gets all but a vanishing share of the pulls, at a cost of
            sum over arms (gap + 4 beta) times the pulls that exploration makes: O(ln T) if epsilon is of order 1/t.
Reading     Nothing happens before the target's first pull. The rule looks at delivered rewards: if they are clipped to
            [0, 1], what cannot be subtracted from a zero is subtracted from the next rewards of that arm. But no arm
            can then be pushed below a target that has only paid zeros, and with epsilon = 1/t that may last for ever.
"""

from dataclasses import dataclass
from typing import Any

from vambrace.adversaries.books import Bookkeeper, Books, humble_level, idle, lowered
from vambrace.kernels import kernel
from vambrace.protocols import Round, Stream


@kernel
def alter(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm) or round.t <= len(books.counts):
        return reward, books
    return lowered(books, arm, reward, humble_level(books)), books


@dataclass(frozen=True, kw_only=True)
class JunEpsilonGreedy(Bookkeeper):
    """Jun et al.'s attack on epsilon-greedy: subtract just enough that no other arm's mean reaches the target's.

    Makes a greedy policy greedy for the target. Strong and black box.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.
        sigma: How much a reward spreads: at most 0.5 in [0, 1].

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.JunEpsilonGreedy(budget=300)
    >>> result = vb.simulate(vb.EpsilonGreedy(), env, attack, horizon=5_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1].round(1))
    ([8, 4992], 5.4)
    """

    name, reference = "jun-epsilon-greedy", "Jun et al. 2018"
    alter = staticmethod(alter)
