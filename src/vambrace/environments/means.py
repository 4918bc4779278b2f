"""Arms with given means that pay 0 or 1, or always their mean; and what all environments with given means share."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.parameters import Means
from vambrace.protocols import Environment, Floats
from vambrace.sampling import Stream, binomial, uniform


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
    return 1.0 if uniform(rng) < state.means[arm] else 0.0


@kernel
def draw_total(state: State, arm: int, pulls: int, rng: Stream) -> float:
    return float(binomial(pulls, state.means[arm], rng))


@kernel
def outcomes(state: State, arm: int) -> tuple[float, float, float]:
    return 1.0, 0.0, state.means[arm]


@dataclass(frozen=True)
class Bernoulli(MeansEnvironment):
    """Arms that pay 0 or 1 with the given means: clicks, conversions, likes.

    Args:
        means: The chance of a 1 for each arm, in [0, 1]; a list, in the order of the arms.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.8, 0.7])
    >>> env.n_arms, env.arm_means().tolist()
    (3, [0.9, 0.8, 0.7])
    >>> print(vb.simulate(vb.Thompson(), env, horizon=2_000, seed=1))
    thompson without attack: regret 9.9 after 2,000 rounds
    """

    name = "bernoulli"
    draw, draw_total, outcomes = staticmethod(draw), staticmethod(draw_total), staticmethod(outcomes)


@kernel
def draw_mean(state: State, arm: int, rng: Stream) -> float:
    return state.means[arm]


@kernel
def draw_mean_total(state: State, arm: int, pulls: int, rng: Stream) -> float:
    return pulls * state.means[arm]


@kernel
def one_outcome(state: State, arm: int) -> tuple[float, float, float]:
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
    draw, draw_total, outcomes = staticmethod(draw_mean), staticmethod(draw_mean_total), staticmethod(one_outcome)
