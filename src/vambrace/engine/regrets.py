"""From the history of a game to its regrets, in a separate program that depends only on the environment.

The rewards of arms that were not pulled are not observed and influence nothing. They may be drawn after the game, each
arm's sum since the last checkpoint in one draw: exact in law.
"""

from typing import Any, NamedTuple

import numpy as np

from vambrace.engine.rounds import History
from vambrace.engine.slots import CLOSED_FORM, draw_total
from vambrace.kernels import kernel
from vambrace.protocols import Floats, Integers
from vambrace.sampling import Stream


class Regrets(NamedTuple):
    """The regrets of one replication, one number for each checkpoint."""

    pseudo: Floats
    realized: Floats
    observed: Floats


@kernel
def settle(
    arms: Any, gaps: Floats, checkpoints: Integers, history: History, realized: bool, rng: Stream, regrets: Regrets
) -> None:
    """Fill in the regrets of every checkpoint.

    The observed regret is the realised one plus a shift that is computed from small numbers, so that rounding in large
    sums cannot break |observed - realised| <= 2 cost.
    """
    n_arms = len(gaps)
    for i in range(len(checkpoints)):
        pseudo = 0.0
        for k in range(n_arms):
            pseudo += gaps[k] * history.pulls[i, k]
        regrets.pseudo[i] = pseudo
        if not realized:
            continue
        if CLOSED_FORM:
            for k in range(n_arms):
                counted, total = 0, 0.0
                if i > 0:
                    counted, total = checkpoints[i - 1] - history.pulls[i - 1, k], history.unpulled[i - 1, k]
                unpulled = checkpoints[i] - history.pulls[i, k]
                history.unpulled[i, k] = total + draw_total(arms, k, unpulled - counted, rng)
        best, earned, shifted_most, altered = -np.inf, 0.0, -np.inf, 0.0
        for k in range(n_arms):
            best = max(best, history.pulled[i, k] + history.unpulled[i, k])
            earned += history.pulled[i, k]
            altered += history.altered[i, k]
        for k in range(n_arms):
            behind = (history.pulled[i, k] + history.unpulled[i, k]) - best
            shifted_most = max(shifted_most, behind + history.altered[i, k])
        regrets.realized[i] = best - earned
        regrets.observed[i] = (best - earned) + (shifted_most - altered)
