"""Indices that grow with time, and for how long the largest stays the largest without looking: KL-UCB, robust means.

While the leader is played no other arm's data change, and the bonus of an index grows like ln t or slower. So let the
same arm lead twice in a row. For the next `window` rounds no other index passes a hurdle, computed with the bonus at
their end, and the leader stays above it as long as its estimate stays above a `bar`, computed with the bonus of now and
the count at their end: most rounds cost one comparison. UCB1 does the same with its own, leaner numbers.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Floats, Integers, Round

TIE = 1e-12  # an arm must be better by more than this to come before one of a lower index
SLACK = 1e-9  # more than ties and rounding can move an index


class Lead(NamedTuple):
    """Who has the largest index, as long as nothing is round, and until when that is sure."""

    arm: int
    bar: float
    until: int
    window: int  # for how many rounds the last bar was set


NOBODY = Lead(arm=0, bar=0.0, until=0, window=1)


@kernel
def holds(lead: Lead, arm: int, answered: int, total: float, count: int) -> bool:
    """Whether the leader, with the mean total / count after its answer, is sure to lead still."""
    return arm == lead.arm and answered < lead.until and total > lead.bar * count


@kernel
def next_window(lead: Lead, answered: int) -> int:
    """Twice as long if it was used up, half if the bar fell first: so it finds the scale on which leaders change."""
    if lead.until == 0:
        return lead.window
    return 2 * lead.window if answered >= lead.until else max(lead.window // 2, 1)


class Optimism(NamedTuple):
    """Indices of the form estimate + sqrt((offset + slope ln t) / N)."""

    estimates: Floats  # zero before the first answer
    counts: Integers
    inverse_roots: Floats  # 1 / sqrt(count), up to date for every arm but the leader
    lead: Lead
    answered: int
    offset: float
    slope: float


def make_optimism(n_arms: int, offset: float, slope: float) -> Optimism:
    """No answers."""
    counts = np.zeros(n_arms, dtype=np.int64)
    return Optimism(np.zeros(n_arms), counts, np.zeros(n_arms), NOBODY, 0, float(offset), float(slope))


@kernel
def optimistic_arm(optimism: Optimism, round: Round) -> int:
    """The arm to play next. While answers are missing t and N count them and the estimate does not."""
    if round.open > 0:
        return _arm_with_pending(optimism, round)
    return optimism.lead.arm


@rare_kernel
def _arm_with_pending(optimism: Optimism, round: Round) -> int:
    scale = _scale(optimism, optimism.answered + round.open + 1)
    best, highest = 0, -np.inf
    for k in range(len(optimism.counts)):
        asked = optimism.counts[k] + round.open_per_arm[k]
        if asked == 0:
            return k
        index = optimism.estimates[k] + scale / sqrt(asked)
        if index > highest + TIE:
            best, highest = k, index
    return best


@kernel
def _scale(optimism: Optimism, t: int) -> float:
    return sqrt(optimism.offset + optimism.slope * log(t))


@kernel
def told(optimism: Optimism, arm: int, estimate: float) -> Optimism:
    """After one more answer of an arm, which has this estimate now."""
    optimism.estimates[arm] = estimate
    optimism.counts[arm] += 1
    answered, lead = optimism.answered + 1, optimism.lead
    if not holds(lead, arm, answered, estimate, 1):
        lead = _look_again(optimism, arm, answered)
    return Optimism(
        optimism.estimates,
        optimism.counts,
        optimism.inverse_roots,
        lead,
        answered,
        optimism.offset,
        optimism.slope,
    )


@rare_kernel
def _look_again(optimism: Optimism, arm: int, answered: int) -> Lead:
    last, t = optimism.lead, answered + 1
    for k in (arm, last.arm):
        if optimism.counts[k] > 0:
            optimism.inverse_roots[k] = 1.0 / sqrt(optimism.counts[k])
    scale = _scale(optimism, t)
    best, highest = 0, -np.inf
    for k in range(len(optimism.counts)):
        if optimism.counts[k] == 0:
            return Lead(k, 0.0, 0, last.window)
        index = optimism.estimates[k] + scale * optimism.inverse_roots[k]
        if index > highest + TIE:
            best, highest = k, index
    if best != arm or arm != last.arm:
        return Lead(best, 0.0, 0, last.window)  # a new leader: look again next round
    window = next_window(last, answered)
    later_scale = _scale(optimism, t + window)
    hurdle = -np.inf
    for k in range(len(optimism.counts)):
        if k != best:
            hurdle = max(hurdle, optimism.estimates[k] + later_scale * optimism.inverse_roots[k])
    bar = hurdle - scale / sqrt(optimism.counts[best] + window) + SLACK
    return Lead(best, bar, t + window - 1, window)
