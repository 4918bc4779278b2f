"""Arms with continuous rewards: Beta, such as the share of a page that was read, and Gaussian, clipped to [0, 1]."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, exp, pi, sqrt
from typing import Annotated, NamedTuple

import numpy as np

from vambrace.environments.means import MeansEnvironment
from vambrace.kernels import kernel
from vambrace.parameters import PER_ARM, Chance, Positive, Range
from vambrace.protocols import Floats
from vambrace.sampling import Stream, beta_draw, normal


class Shapes(NamedTuple):
    """The two shape parameters of each arm's distribution."""

    alphas: Floats
    betas: Floats


@kernel
def draw_beta(state: Shapes, arm: int, rng: Stream) -> float:
    return beta_draw(state.alphas[arm], state.betas[arm], rng)


@dataclass(frozen=True)
class Beta(MeansEnvironment):
    """Arms that pay any amount between 0 and 1, such as the share of a page that was read.

    Args:
        means: The expected reward of each arm, strictly between 0 and 1.
        concentration: Larger means less noise: the variance is mean (1 - mean) / (concentration + 1).

    >>> import vambrace as vb
    >>> env = vb.Beta([0.8, 0.4], concentration=4)
    >>> env.arm_means().tolist()
    [0.8, 0.4]
    >>> print(vb.simulate(vb.SEWR(budget=5, radius="tight"), env, vb.Conceal(budget=5), horizon=2_000, seed=1))
    se-wr:budget=5,radius=tight against conceal:budget=5: regret 70.0 after 2,000 rounds, cost 5.0
    """

    name = "beta"
    draw = staticmethod(draw_beta)

    means: Annotated[Sequence[Chance], PER_ARM]
    concentration: Positive = 2.0

    def init(self) -> Shapes:
        means = self.arm_means()
        return Shapes(means * self.concentration, (1.0 - means) * self.concentration)


class Centres(NamedTuple):
    """The centre of each arm's normal distribution before clipping."""

    centres: Floats
    sigma: float


@kernel
def draw_clipped(state: Centres, arm: int, rng: Stream) -> float:
    return min(max(state.centres[arm] + state.sigma * normal(rng), 0.0), 1.0)


@dataclass(frozen=True)
class ClippedGaussian(MeansEnvironment):
    """Normal rewards around the given means, clipped to [0, 1]: measurements on a bounded scale.

    Args:
        means: The means before clipping, in [0, 1]; `arm_means` gives those after it, which are closer to the middle.
        sigma: The standard deviation before clipping.

    >>> import vambrace as vb
    >>> vb.ClippedGaussian([1.0, 0.5], sigma=0.1).arm_means().round(4).tolist()
    [0.9601, 0.5]
    """

    name = "clipped-gaussian"
    draw = staticmethod(draw_clipped)

    sigma: Annotated[float, Range(0.0, 1e6, open_low=True)] = 0.1

    def arm_means(self) -> Floats:
        """The mean after clipping, E[max(X, 0) - max(X - 1, 0)] for a normal X."""
        above_0 = [_positive_part(centre, self.sigma) for centre in self.means]
        above_1 = [_positive_part(centre - 1.0, self.sigma) for centre in self.means]
        return np.array(above_0) - np.array(above_1)

    def init(self) -> Centres:
        return Centres(np.array(self.means), self.sigma)


def _positive_part(centre: float, sigma: float) -> float:
    z = centre / sigma
    return centre * 0.5 * (1.0 + erf(z / sqrt(2.0))) + sigma * exp(-0.5 * z * z) / sqrt(2.0 * pi)
