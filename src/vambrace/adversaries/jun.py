"""Jun et al.'s attacks on UCB and on epsilon-greedy, and Zuo's deeper one: no other mean may come near the target's.

Algorithm   Lower the reward of every arm except the target just enough to bring the arm's delivered mean down to a
            level: m - 2 beta(N) - margin on UCB, and from round K + 1 on m - 2 beta(N) on epsilon-greedy, where m and N
            are the target's mean and pulls.   Jun et al. 2018
            The exponential threshold: m - 2 beta(N) - 3 sigma exp(n) for the n-th pull of an arm.   Zuo 2024
Effect      UCB pulls every other arm O(ln T / margin^2) times, at a cost of O(ln T) per arm. With the exponential
            threshold an arm's mean falls e times as deep with every pull, so UCB returns to it only O(ln ln T) times.
            The greedy arm of epsilon-greedy is the target, at a cost of sum over arms (gap + 4 beta) times the pulls
            that exploration makes: O(ln T) if epsilon is of order 1/t.
Reading     Nothing happens before the target's first pull. The rule looks at delivered rewards: if they are clipped to
            [0, 1], what cannot be subtracted from a zero is subtracted from the next rewards of that arm. But no arm
            can then be pushed below a target that has only paid zeros, and on epsilon-greedy with epsilon = 1/t that
            may last for ever. Clipped, the exponential threshold returns 0 for every arm except the target. It is a
            reconstruction from a description; its exponent stops at 40, where a reward is about -10^19, so that sums
            do not overflow.
"""

from dataclasses import dataclass
from math import exp
from typing import Annotated, Any

from vambrace.adversaries.books import Bookkeeper, Books, beta, idle
from vambrace.kernels import kernel
from vambrace.parameters import Range
from vambrace.protocols import Game, Round, Stream

LARGEST_EXPONENT = 40


@kernel
def lowered(books: Books, arm: int, reward: float, depth: float) -> float:
    """The reward, lowered just enough to bring the arm's delivered mean, this pull included, down to the level.

    The level is `depth` below m - 2 beta(N), which is almost surely below the target's mean.
    """
    count = books.counts[books.target]
    level = books.seen[books.target] / count - 2.0 * beta(books, count) - depth
    return reward - max(0.0, books.seen[arm] + reward - (books.counts[arm] + 1) * level)


@kernel
def alter_for_ucb(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    return (reward if idle(books, arm) else lowered(books, arm, reward, books.parameter)), books


@kernel
def alter_for_greedy(
    books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream
) -> tuple[float, Books]:
    if idle(books, arm) or round.t <= len(books.counts):
        return reward, books
    return lowered(books, arm, reward, 0.0), books


@kernel
def alter_deeper(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
    if idle(books, arm):
        return reward, books
    depth = 3.0 * books.sigma * exp(float(min(books.counts[arm] + 1, LARGEST_EXPONENT)))
    return lowered(books, arm, reward, depth), books


@dataclass(frozen=True, kw_only=True)
class JunUCB(Bookkeeper):
    """Jun et al.'s attack on UCB: subtract just enough that no other arm's mean comes near the target's.

    Makes an optimistic policy play the target in all but O(ln T) rounds. Strong and black box.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        delta: The chance that one of its confidence bounds fails.
        sigma: How much a reward spreads: at most 0.5 in [0, 1].
        margin: How far below the target's lower bound every other arm is kept.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.JunUCB(budget=300)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1].round(1))
    ([245, 4755], 155.0)
    """

    name, reference = "jun-ucb", "Jun et al. 2018"
    alter = staticmethod(alter_for_ucb)

    margin: Annotated[float, Range(0.0, 1e9)] = 0.1

    def init(self, game: Game) -> Books:
        return super().init(game)._replace(parameter=self.margin)


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
    alter = staticmethod(alter_for_greedy)


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
    alter = staticmethod(alter_deeper)
