"""What figures and tables say of a game besides its mean regret: the interval of that mean, and the theory's bound."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vambrace import theory
from vambrace.lab.study import Play
from vambrace.protocols import Floats

RESAMPLES = 1000  # for a band


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
    low, high = np.quantile(_resampled(len(values)) @ values / len(values), [0.025, 0.975], axis=0)
    return Band(values.mean(axis=0), low, high)


@lru_cache(maxsize=4)
def _resampled(copies: int) -> Floats:
    """For each resample how often each replication is in it."""
    drawn = np.random.default_rng(2026).multinomial(copies, np.full(copies, 1 / copies), size=RESAMPLES)
    return drawn.astype(np.float64)


def promise(play: Play) -> theory.Bound | None:
    """The smallest bound with explicit constants that speaks of a game."""
    game = play.game
    found = theory.promises(game.policy, play.gaps, horizon=game.horizon, budget=play.spendable)
    return min((bound for bound in found if bound.explicit), key=lambda bound: bound.value, default=None)
