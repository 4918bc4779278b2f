"""What environments with given means share, and the simplest of them: arms that always pay their mean."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.parameters import Means
from vambrace.protocols import Environment, Floats
from vambrace.sampling import Stream


class State(NamedTuple):
    """The mean reward of each arm."""

    means: Floats


@dataclass(frozen=True)
class MeansEnvironment(Environment):
    """One mean in [0, 1] for each arm."""

    means: Means

    def arm_means(self) -> Floats:
        return np.array(self.means)

    def init(self) -> Any:
        return State(self.arm_means())


@kernel
def draw(state: State, arm: int, rng: Stream) -> float:
    return state.means[arm]


@kernel
def draw_total(state: State, arm: int, pulls: int, rng: Stream) -> float:
    return pulls * state.means[arm]


@kernel
def outcomes(state: State, arm: int) -> tuple[float, float, float]:
    return state.means[arm], 0.0, 1.0


@dataclass(frozen=True)
class Deterministic(MeansEnvironment):
    """Arms that always pay their mean: for exact tests, and to see what an algorithm does without randomness.

    Args:
        means: What each arm pays, in [0, 1].

    >>> import vambrace as vb
    >>> result = vb.simulate(vb.SE(), vb.Deterministic([0.75, 0.25]), horizon=1_000)
    >>> result.pulls[0].tolist()  # 233 sweeps until a gap of one half is beyond doubt
    [767, 233]
    """

    name = "deterministic"
    draw, draw_total, outcomes = staticmethod(draw), staticmethod(draw_total), staticmethod(outcomes)
