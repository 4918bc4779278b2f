"""Bernoulli arms: a click or no click."""

from dataclasses import dataclass

from vambrace.environments.means import MeansEnvironment, State
from vambrace.kernels import kernel
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
