"""Random flips: noise without intent, the baseline of every attack.

Algorithm   With probability ``rate`` return 1 - reward.
Effect      Multiplies every gap by 1 - 2 rate while the budget lasts; for rate < 1/2 the order of the arms stays.
"""

from dataclasses import dataclass
from typing import Any

from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.parameters import Share
from vambrace.protocols import Game


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
