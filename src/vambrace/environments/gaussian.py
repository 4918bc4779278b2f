"""Gaussian arms clipped to [0, 1]: noisy measurements on a bounded scale."""

from dataclasses import dataclass
from math import erf, exp, pi, sqrt
from typing import Annotated, NamedTuple

import numpy as np

from vambrace.environments.means import MeansEnvironment
from vambrace.kernels import kernel
from vambrace.parameters import Range
from vambrace.protocols import Floats
from vambrace.sampling import Stream, normal


class State(NamedTuple):
    """The centre of each arm's normal distribution before clipping."""

    centres: Floats
    sigma: float


@kernel
def draw(state: State, arm: int, rng: Stream) -> float:
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
    draw = staticmethod(draw)

    sigma: Annotated[float, Range(0.0, 1e6, open_low=True)] = 0.1

    def arm_means(self) -> Floats:
        """The mean after clipping, E[max(X, 0) - max(X - 1, 0)] for a normal X."""
        above_0 = [_positive_part(centre, self.sigma) for centre in self.means]
        above_1 = [_positive_part(centre - 1.0, self.sigma) for centre in self.means]
        return np.array(above_0) - np.array(above_1)

    def init(self) -> State:
        return State(np.array(self.means), self.sigma)


def _positive_part(centre: float, sigma: float) -> float:
    z = centre / sigma
    return centre * 0.5 * (1.0 + erf(z / sqrt(2.0))) + sigma * exp(-0.5 * z * z) / sqrt(2.0 * pi)
