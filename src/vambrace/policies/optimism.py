"""Indices that grow with time, and for how long the largest stays the largest: UCB1, KL-UCB, robust means.

While the leader is played, the data of the other arms do not change, and a bonus grows like ln t or slower. When an arm
leads twice in a row, `_look_again` computes two bounds for the next `window` rounds: a ceiling that no other index
passes, with the bonus at their end; and a threshold for the leader's estimate, above which its index stays above the
ceiling, with the present ln t and the count at their end. Then most rounds cost one comparison.
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from vambrace.engine.slots import TIE, above, growth, index, threshold
from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Floats, Integers

TOLERANCE = 1e-12  # an arm must be better by more than this to come before a lower arm
SLACK = 1e-9  # more than ties and rounding can move an index


class GrowingRanking(NamedTuple):
    """The arm with the largest index while no decision is open, and until when that is certain."""

    counts: Integers  # answers of each arm
    estimates: Floats  # zero before an arm's first answer
    answered: int  # answers of all arms
    leader: int  # the arm with the largest index
    threshold: float  # the leader is certain to stay while its estimate is above this and `until` is not reached
    until: int  # the number of answers at which the certainty ends
    window: int  # the number of rounds that the last threshold was computed for


def make_growing_ranking(n_arms: int) -> GrowingRanking:
    return GrowingRanking(np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms), 0, 0, 0.0, 0, 1)


@kernel
def with_estimate(state: Any, arm: int, estimate: float) -> GrowingRanking:
    """The ranking of a state after one more answer of an arm, which has this estimate now."""
    counts, estimates, answered, leader, lowest, until, window = state.ranking
    estimates[arm] = estimate
    counts[arm] += 1
    answered += 1
    if arm != leader or answered >= until or not estimate > lowest:
        leader, lowest, until, window = _look_again(state, arm, answered)
    return GrowingRanking(counts, estimates, answered, leader, lowest, until, window)


@rare_kernel
def _look_again(state: Any, last: int, answered: int) -> tuple[int, float, int, int]:
    """The leader after an answer of the arm `last`, its threshold, until when, and the window."""
    ranking, t = state.ranking, answered + 1
    counts = ranking.counts
    leader, highest, now = 0, -np.inf, growth(state, t)
    for arm in range(len(counts)):
        count = counts[arm]
        if count == 0:
            return arm, 0.0, 0, ranking.window
        if above(state, arm, count, now, highest + TIE):
            leader, highest = arm, index(state, arm, count, now)
    window = ranking.window
    if leader != last or last != ranking.leader:
        return leader, 0.0, 0, window  # a new leader: look again next round
    if ranking.until > 0:  # adapts to how often leaders change
        window = 2 * window if answered >= ranking.until else max(window // 2, 1)
    ceiling, later = 0.0, growth(state, t + window)
    for arm in range(len(counts)):
        if arm != leader and above(state, arm, counts[arm], later, ceiling):
            ceiling = index(state, arm, counts[arm], later)
    return leader, threshold(state, ceiling, counts[leader] + window, now), t + window - 1, window


class Bonus(NamedTuple):
    """An index of the form estimate + sqrt(offset + slope ln t) / sqrt(N). Its `growth` is the first root."""

    offset: float
    slope: float


TABLE = 8192  # most arms have fewer answers; looking up is faster
INVERSE_ROOTS = 1.0 / np.sqrt(np.maximum(np.arange(TABLE), 1))


@kernel
def bonus_growth(state: Any, t: int) -> float:
    return sqrt(state.bonus.offset + state.bonus.slope * log(t))


@kernel
def bonus_index(state: Any, arm: int, count: int, growth: float) -> float:
    value: float = state.ranking.estimates[arm] + growth * _inverse_root(count)
    return value


@kernel
def bonus_above(state: Any, arm: int, count: int, growth: float, floor: float) -> bool:
    """`bonus_index` above the floor; as one kernel, since a live learner asks this of every arm."""
    above: bool = state.ranking.estimates[arm] + growth * _inverse_root(count) > floor
    return above


@kernel
def bonus_threshold(state: Any, ceiling: float, count: int, growth: float) -> float:
    return ceiling - growth * _inverse_root(count) + SLACK


@kernel
def _inverse_root(count: int) -> float:
    return float(INVERSE_ROOTS[count]) if count < TABLE else 1.0 / sqrt(count)


SLOTS: dict[str, Any] = {
    "growth": bonus_growth,
    "index": bonus_index,
    "above": bonus_above,
    "threshold": bonus_threshold,
    "TIE": TOLERANCE,
}


def migrated_ranking(estimates: list[float], counts: list[int], leader: int) -> dict[str, Any]:
    """The ranking of a snapshot of version 0.1, in the present format; the leader is checked after the next answer."""
    known = {"counts": counts, "estimates": estimates, "answered": sum(counts), "leader": leader}
    return {**known, "threshold": 0.0, "until": 0, "window": 1}


def migrated_state(state: dict[str, Any]) -> dict[str, Any]:
    """The same for a whole state with a bonus."""
    old = state["optimism"]
    kept = {name: value for name, value in state.items() if name != "optimism"}
    ranking = migrated_ranking(old["estimates"], old["counts"], old["lead"]["arm"])
    return {**kept, "ranking": ranking, "bonus": {"offset": old["offset"], "slope": old["slope"]}}


def migrated_means(state: dict[str, Any], leader: int, low: float = -np.inf, high: float = np.inf) -> dict[str, Any]:
    """The ranking by the means of a state of version 0.1, clipped; zero before the first answer."""
    means = [total / max(count, 1) for total, count in zip(state["totals"], state["counts"], strict=True)]
    return migrated_ranking([min(max(mean, low), high) for mean in means], state["counts"], leader)
