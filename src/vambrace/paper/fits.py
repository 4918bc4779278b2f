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
    """Least squares through the means of the samples, one for each x, after a transform such as a logarithm."""
    design = np.column_stack([np.ones(len(x)), x])
    rng = np.random.default_rng(SEED)
    resampled = [[transform(rng.choice(sample, len(sample)).mean()) for sample in samples] for _ in range(RESAMPLES)]
    heights = np.array([[transform(sample.mean()) for sample in samples], *resampled]).T
    lines = np.linalg.lstsq(design, heights, rcond=None)[0]
    low, high = np.quantile(lines[1, 1:], [0.025, 0.975])
    residual = heights[:, 0] - design @ lines[:, 0]
    return Line(float(lines[1, 0]), float(low), float(high), float(1.0 - residual.var() / heights[:, 0].var()))
