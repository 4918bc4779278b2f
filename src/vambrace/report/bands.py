"""Bands: how far a mean over replications might be from the truth, by resampling the replications."""

from typing import NamedTuple

import numpy as np

from vambrace.protocols import Floats

RESAMPLES = 1000
LEVEL = 0.95
SEED = 2026


class Band(NamedTuple):
    """A mean with its interval of 95 %, at every checkpoint."""

    mean: Floats
    low: Floats
    high: Floats


def bootstrap(values: Floats) -> Band:
    """The band of the mean of replications (rows) at each checkpoint (columns); with one replication it has no width.

    Whole replications are drawn with replacement, so that a band is one of curves. The draws are fixed by the number of
    replications, so that the same results always give the same picture.
    """
    values = np.asarray(values, dtype=np.float64)
    copies = len(values)
    chosen = np.random.default_rng(SEED).multinomial(copies, np.full(copies, 1 / copies), size=RESAMPLES)
    low, high = np.quantile(chosen @ values / copies, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return Band(values.mean(axis=0), low, high)
