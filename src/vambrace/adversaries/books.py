"""Attackers who know only what they observe: they keep books on each arm's pulls, raw and delivered rewards.

A mean over n pulls of an arm lies within beta(n) = sqrt(2 sigma^2 / n ln(pi^2 K n^2 / (3 delta))) of the truth, for
every arm and every n at once, with probability 1 - delta, if rewards are sigma-subgaussian; rewards in [0, 1] have
sigma = 1/2, and Jun et al. and Liu & Shroff assume 0.1. Here are two attacks on any learner with low regret that use
the raw means; `jun` has those that use delivered ones.

ACE         From round K + 1 on subtract max(0, m_i - m + beta(N_i) + beta(N)) from the reward of every arm i except the
            target; m_i, N_i are the arm's raw mean and pulls, this one included; m, N the target's. With probability
            1 - delta every other arm seems worse than the target, so a learner with regret R plays the target in all
            but O(R) rounds, at a cost of the same order. If rewards are clipped to [0, 1], a reward of zero cannot be
            lowered, and arms stay ahead.   Liu & Shroff 2019
Garcelon    On every arm except the target return (1 - shrink) max(0, m - beta(N)), which lies in [0, 1]: every other
            arm seems worth less than the target. A reconstruction on K arms of an attack on linear contextual bandits.
            The reward is replaced, so a low one is raised.   Garcelon et al. 2020

Nothing happens before the target's first pull.
"""

from dataclasses import dataclass
from math import inf, log, pi, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.adversaries.ranks import promoted_arm
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Positive, Range, Share
from vambrace.protocols import Adversary, Floats, Game, Integers, Round, Stream


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


@dataclass(frozen=True, kw_only=True)
class Bookkeeper(Adversary):
    """An attack that promotes a target and keeps `Books`."""

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


@kernel
def subtract_lead(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
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
    alter = staticmethod(subtract_lead)


@kernel
def replace(books: Books, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Books]:
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
    alter = staticmethod(replace)

    shrink: Share = 0.5

    def init(self, game: Game) -> Books:
        return super().init(game)._replace(parameter=self.shrink)
