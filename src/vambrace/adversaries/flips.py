"""Rewards turned around: random flips, which are noise without intent, and Invert, which flips every reward.

Algorithm   Random flips: with probability ``rate`` return 1 - reward.
            Invert: return 1 - reward for every arm, while the budget lasts.   Lykouris et al. 2018
Effect      Random flips multiply every gap by 1 - 2 rate while the budget lasts; for rate < 1/2 the order of the arms
            stays. The cost of a round of Invert is the largest change over the arms, so 0/1 rewards cost one per round:
            the first C rounds are inverted.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.parameters import AttackBudget, Share
from vambrace.protocols import Adversary, Floats, Game, Round, Stream


@kernel
def respond(rate: float, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return rate, 1.0 - reward


@dataclass(frozen=True, kw_only=True)
class RandomFlips(StationaryAdversary):
    """Flip observed rewards at random: noise without intent, the baseline of every attack.

    A real attack must do more harm than this one. It counts as strong, but knows nothing.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        rate: The probability that a reward r becomes 1 - r.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.5])
    >>> for attack in (vb.RandomFlips(budget=60), vb.Conceal(budget=60)):
    ...     print(vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1))
    ucb1 against random-flips:budget=60: regret 33.6 after 5,000 rounds, cost 60.0
    ucb1 against conceal:budget=60: regret 1,977.2 after 5,000 rounds, cost 51.0
    """

    name, reference = "random-flips", "baseline"
    knowledge, aim = "black box", "noise on every arm"
    respond = staticmethod(respond)

    rate: Share = 0.1

    def init(self, game: Game) -> float:
        return self.rate


@kernel
def corrupt(state: int, round: Round, rewards: Floats, rng: Stream) -> int:
    for k in range(len(rewards)):
        rewards[k] = 1.0 - rewards[k]
    return state


@dataclass(frozen=True, kw_only=True)
class Invert(Adversary):
    """Exchange good and bad rewards for a while: every arm pays 1 - reward until the budget is spent.

    The textbook attack. Medium: it acts before the arm is known, so a round costs the largest change over the arms.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Invert(budget=100)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=1_000, checkpoints=[50, 100], seed=1)
    >>> result.cost[0].tolist()  # one a round: the first hundred rounds are inverted
    [50.0, 100.0, 100.0]
    """

    name, reference = "invert", "Lykouris et al. 2018"
    strength, knowledge, aim = "medium", "black box", "every arm"
    corrupt = staticmethod(corrupt)

    budget: AttackBudget = inf

    def init(self, game: Game) -> int:
        return 0  # nothing to remember
