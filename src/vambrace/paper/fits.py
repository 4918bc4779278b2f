"""Slopes with intervals: least squares through the means of replications, and resampling for what chance does to it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from vambrace.protocols import Floats

RESAMPLES = 400
SEED = 2026


class Line(NamedTuple):
    """A fitted line: its slope with an interval of 95 %, and how much of the variation it explains."""

    slope: float
    low: float
    high: float
    explained: float


def fit(x: Sequence[float], samples: Sequence[Floats], transform: Callable[[Any], Any] = lambda y: y) -> Line:
    """Least squares through the transformed means of the samples.

    Args:
        x: Where the samples were taken.
        samples: For each x the values of all replications.
        transform: What is done to a mean before the fit, such as taking its logarithm.
    """
    places = np.asarray(x, dtype=float)
    design = np.column_stack([np.ones_like(places), places])

    def slope(heights: Floats) -> float:
        return float(np.linalg.lstsq(design, heights, rcond=None)[0][1])

    heights = np.array([transform(sample.mean()) for sample in samples])
    rng = np.random.default_rng(SEED)
    resampled = [
        slope(np.array([transform(rng.choice(sample, len(sample)).mean()) for sample in samples]))
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(resampled, [0.025, 0.975])
    residual = heights - design @ np.linalg.lstsq(design, heights, rcond=None)[0]
    return Line(slope(heights), float(low), float(high), float(1.0 - residual.var() / heights.var()))
