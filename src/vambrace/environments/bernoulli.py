"""Bernoulli arms: a click or no click."""

from dataclasses import dataclass

from vambrace.environments.means import MeansEnvironment, State
from vambrace.kernel import kernel
from vambrace.sampling import Stream, binomial, uniform


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
class Bernoulli(MeansEnvironment):
    """Rewards of zero and one with the given means.

    >>> import vambrace as vb
    >>> vb.Bernoulli([0.9, 0.8, 0.7]).n_arms
    3
    """

    name = "bernoulli"

    draw, draw_total, outcomes = staticmethod(draw), staticmethod(draw_total), staticmethod(outcomes)
