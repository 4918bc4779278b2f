"""Deterministic arms: each always pays its mean. For exact tests and for seeing an algorithm's bones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vambrace import validation
from vambrace.kernel import kernel
from vambrace.protocols import Environment, Floats
from vambrace.sampling import Stream


class State(NamedTuple):
    """What each arm pays."""

    means: Floats


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
class Deterministic(Environment):
    """Every pull of an arm pays the same.

    >>> import vambrace as vb
    >>> result = vb.simulate(vb.SE(), vb.Deterministic([0.75, 0.25]), horizon=1_000)
    >>> int(result.pulls[0].argmax())
    0
    """

    name = "deterministic"

    means: Sequence[float]

    draw, draw_total, outcomes = staticmethod(draw), staticmethod(draw_total), staticmethod(outcomes)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validation.means(self.means))

    def arm_means(self) -> Floats:
        """The means as given."""
        return np.array(self.means)

    def init(self) -> State:
        """The means as an array."""
        return State(self.arm_means())
