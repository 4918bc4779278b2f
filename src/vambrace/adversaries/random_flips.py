"""Random flips: noise without intent, the baseline of every attack.

Setting     Strong, and blind: no knowledge at all (black box).
Algorithm   With probability ``rate`` return 1 - reward.
Effect      Shrinks every gap by the factor 1 - 2 rate while the budget lasts; ranks stay as they are for rate < 1/2.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from vambrace import validation
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernel import kernel
from vambrace.protocols import Floats


class State(NamedTuple):
    """The chance of a flip."""

    rate: float


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return state.rate, 1.0 - reward


@dataclass(frozen=True, kw_only=True)
class RandomFlips(StationaryAdversary):
    """Flip observed rewards at random.

    >>> import vambrace as vb
    >>> result = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), vb.RandomFlips(rate=0.1), horizon=5_000, seed=1)
    >>> int(result.pulls[0].argmax())
    0
    """

    name = "random-flips"
    reference = "baseline"
    knowledge = "black box"
    aim = "noise on every arm"

    budget: float = float("inf")
    rate: float = 0.1

    respond = staticmethod(respond)

    def __post_init__(self) -> None:
        validation.budget(self.budget)
        validation.number("rate", self.rate, low=0.0, high=1.0)

    def init(self, means: Floats, horizon: int) -> State:
        """Only the rate."""
        return State(float(self.rate))
