"""The records of an attacker who knows only what it observes: for each arm, pulls, raw and delivered rewards.

Shared by the attacks of Jun et al. (2018), Liu & Shroff (2019), Zuo (2024) and Garcelon et al. (2020). A mean over n
pulls of an arm lies within beta(n) = sqrt(2 sigma^2 / n ln(pi^2 K n^2 / (3 delta))) of the truth, for every arm and
every n at once, with probability 1 - delta, if rewards are sigma-subgaussian; rewards in [0, 1] have sigma = 1/2.
"""

from dataclasses import dataclass
from math import inf, log, pi, sqrt
from typing import Annotated, NamedTuple

import numpy as np

from vambrace.adversaries.ranks import promoted_arm
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Positive, Range
from vambrace.protocols import Adversary, Floats, Game, Integers


class Books(NamedTuple):
    """What was pulled, what it paid and what was delivered, up to the round before."""

    target: int
    counts: Integers
    raw: Floats  # sums of the rewards before the attack
    seen: Floats  # sums of the rewards after clipping and metering
    log_term: float  # ln(pi^2 K / (3 delta))
    sigma: float
    parameter: float  # the attack's own parameter: a margin or a factor, if it has one


@kernel
def witness(books: Books, arm: int, reward: float, seen: float) -> Books:
    books.counts[arm] += 1
    books.raw[arm] += reward
    books.seen[arm] += seen
    return books


@kernel
def idle(books: Books, arm: int) -> bool:
    """Whether there is nothing to do: the target is pulled, or was never pulled and so has no mean yet."""
    return arm == books.target or books.counts[books.target] == 0


@kernel
def beta(books: Books, count: int) -> float:
    """How far the mean of `count` rewards may be from the truth."""
    return sqrt(2.0 * books.sigma * books.sigma / count * (books.log_term + 2.0 * log(count)))


@kernel
def humble_level(books: Books) -> float:
    """A level that is almost surely below the target's mean: m - 2 beta(N), from its delivered rewards (Jun et al.)."""
    count = books.counts[books.target]
    return books.seen[books.target] / count - 2.0 * beta(books, count)


@kernel
def lowered(books: Books, arm: int, reward: float, level: float) -> float:
    """The reward, lowered just enough to bring the arm's delivered mean, this pull included, down to a level."""
    return reward - max(0.0, books.seen[arm] + reward - (books.counts[arm] + 1) * level)


@dataclass(frozen=True, kw_only=True)
class Bookkeeper(Adversary):
    """An attack that promotes a target and keeps `Books`.

    Args:
        target: The arm to promote; None: the worst.
        delta: The chance that some confidence bound fails.
        sigma: How much a reward spreads: for rewards in [0, 1] at most 0.5. Jun et al. and Liu and Shroff assume 0.1.
    """

    strength, knowledge, aim = "strong", "black box", "promotes a target"

    budget: AttackBudget = inf
    target: Arm | None = None
    delta: Annotated[float, Range(1e-300, 1.0, open_high=True)] = 0.05
    sigma: Positive = 0.5

    witness = staticmethod(witness)

    def init(self, game: Game) -> Books:
        """Nothing pulled yet."""
        n_arms = len(game.means)
        return Books(
            target=promoted_arm(self.target, game),
            counts=np.zeros(n_arms, dtype=np.int64),
            raw=np.zeros(n_arms),
            seen=np.zeros(n_arms),
            log_term=log(pi * pi * n_arms / (3.0 * self.delta)),
            sigma=self.sigma,
            parameter=0.0,
        )
