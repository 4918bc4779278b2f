"""Bernoulli arms: a click or no click."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vambrace import validation
from vambrace.kernel import kernel
from vambrace.protocols import Environment, Floats
from vambrace.sampling import Stream, binomial, uniform


class State(NamedTuple):
    """The probability of a reward of one, for each arm."""

    means: Floats


@kernel
def draw(state: State, arm: int, rng: Stream) -> float:
    return 1.0 if uniform(rng) < state.means[arm] else 0.0


@kernel
def draw_total(state: State, arm: int, pulls: int, rng: Stream) -> float:
    return float(binomial(pulls, state.means[arm], rng))


@kernel
def outcomes(state: State, arm: int) -> tuple[float, float, float]:
    return 1.0, 0.0, state.means[arm]


@dataclass(frozen=True)
class Bernoulli(Environment):
    """Rewards of zero and one with the given means.

    >>> import vambrace as vb
    >>> vb.Bernoulli([0.9, 0.8, 0.7]).n_arms
    3
    """

    name = "bernoulli"

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
