"""Is the winner better than one rival? The test of a pair whose rewards are any numbers in [0, 1].

One arm    Let m be in [0, 1], 0 < r < 1 / m and c = psi(r m) / m^2, psi(x) = -ln(1 - x) - x (for m = 0, c = r^2 / 2).
           (x - ln(1 + x)) / x^2 falls in x, so ln(1 + r d) >= h(d) = r d - c d^2 for every d = X - m >= -m. If rewards
           have mean t, given all that happened before, then E exp(h(X - m)) <= 1 + r (t - m). So
               L(t) = exp(sum of h(X_i - m) - n ln(1 + r (t - m)))
           is a supermartingale that starts at 1, however the arms and the moments of looking are chosen. It depends on
           the log through the number n, the sum and the sum of squares only. So is the average of L over a fixed grid
           of (m, r). Fan, Grama and Liu (2015) and Howard et al. (2021) have it with r < 1 and exp(r (t - m)); with the
           logarithm it hardly matters which m is used while r is small, and r beyond 1 suits rare large rewards.
A pair     L of the winner falls in t. The same for the rival with all rewards X replaced by 1 - X, and t by 1 - t,
           grows in t. If the winner's mean is at most the rival's, their product at the two true means, which is a
           supermartingale again, is at least their product at each t between them. The pair is rejected if the minimum
           over all t is 1 / level or more; by Ville's inequality that ever happens with probability level at most.
           So the test holds for both designs. The logarithm of the product is convex in t: tangents bound its minimum
           from below, and a minimum that cannot be bounded well enough counts as too small.
Threats    Every clean log within the budget must be rejected. For each (m, r) the logarithm of L at t is at least
           alter     the logged one - a max(r + 2 c m, 2 c (1 - m) - r), since that bounds the slope of h (the sum
                     changes by at most a, the sum of squares by at most 2 a),
           inject    the logged one - a ln(1 + r (1 - m)) + a ln(1 + r (t - m)), since h(X - m) <= ln(1 + r (X - m)),
           suppress  the logged one + a min(h(-m), h(1 - m)) - a ln(1 + r (t - m)), since h is concave,
           if a is spent on the winner, and likewise for the rival. Each falls as a grows, so their average does too.
           These are bounds, not the exact worst case: the budget may be too small, but not too large.
Squares    If the sum of squares is not known, it is at most the sum; a larger one makes L smaller.
"""

from math import exp, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.audit.coins import ALTER, INJECT, SUPPRESS
from vambrace.kernels import kernel, rare_kernel

STEPS = 100  # of the search for the minimum; it needs about five


def _grid() -> np.ndarray:
    """Rows of (m, r, c, logarithm of the weight, loss under each threat)."""
    pairs = [(m, k) for m in (0.0, 0.5, 1.0) for k in range(-6, 7)]
    pairs += [(0.5, k) for k in range(-13, -6)] + [(0.0, k) for k in range(7, 13)]  # for the smallest r any m does
    rows = []
    for m, k in pairs:
        r = 1.0 / (m + 2.0**-k)
        c = (-log1p(-r * m) - r * m) / m**2 if m > 0.0 else 0.5 * r * r
        lowest = min(-r * m - c * m * m, r * (1.0 - m) - c * (1.0 - m) ** 2)
        losses = (max(r + 2.0 * c * m, 2.0 * c * (1.0 - m) - r), log1p(r * (1.0 - m)), -lowest)
        rows.append((m, r, c, -log(len(pairs)), *losses))
    return np.array(rows)


GRID = _grid()
LOSS = 4  # the first column of losses


class MeanArm(NamedTuple):
    """What is known of the winner, or of a rival with all rewards X replaced by 1 - X."""

    events: float
    total: float
    squares: float


class MeanPair(NamedTuple):
    """A winner and a rival as logged, and the question that is asked."""

    threat: int
    log_level: float
    winner: MeanArm
    rival: MeanArm


def flipped(arm: MeanArm) -> MeanArm:
    """The arm with all rewards X replaced by 1 - X."""
    return MeanArm(arm.events, arm.events - arm.total, arm.events - 2.0 * arm.total + arm.squares)


@rare_kernel
def log_average(threat: int, arm: MeanArm, spent: float, t: float) -> tuple[float, float]:
    """The least logarithm of the average of L at t if this much was spent on the arm, and its slope in t."""
    events = arm.events if threat == ALTER else arm.events - spent if threat == INJECT else arm.events + spent
    largest, total, slope = -np.inf, 0.0, 0.0
    for i in range(GRID.shape[0]):
        m, r, c = GRID[i, 0], GRID[i, 1], GRID[i, 2]
        deviation = arm.total - arm.events * m
        square = arm.squares - m * (arm.total + deviation)
        room = 1.0 + r * (t - m)
        value = GRID[i, 3] + r * deviation - c * square - spent * GRID[i, LOSS + threat] - events * log(room)
        if value > largest:
            shrink = exp(largest - value)
            total, slope, largest = total * shrink, slope * shrink, value
        weight = exp(value - largest)
        total += weight
        slope -= weight * events * r / room
    return largest + log(total), slope / total


@kernel
def log_product(pair: MeanPair, on_winner: float, on_rival: float, t: float) -> tuple[float, float]:
    """The logarithm of the product of both arms if both means are t, and its slope."""
    above, falling = log_average(pair.threat, pair.winner, on_winner, t)
    below, rising = log_average(pair.threat, pair.rival, on_rival, 1.0 - t)
    return above + below, falling - rising


@rare_kernel
def rejects(pair: MeanPair, on_winner: float, on_rival: float) -> bool:
    """Whether the winner is better than the rival if this much was spent on each of the two."""
    if pair.threat == INJECT and (on_winner >= pair.winner.events or on_rival >= pair.rival.events):
        return False
    wanted = -pair.log_level
    low, high = 0.0, 1.0
    at_low, slope_low = log_product(pair, on_winner, on_rival, low)
    at_high, slope_high = log_product(pair, on_winner, on_rival, high)
    t = 0.5 * (pair.winner.total / pair.winner.events + 1.0 - pair.rival.total / pair.rival.events)
    if slope_low >= 0.0 or slope_high <= 0.0:  # the least is at an end
        return min(at_low, at_high) >= wanted
    for _ in range(STEPS):
        at_t, slope = log_product(pair, on_winner, on_rival, t)
        if at_t < wanted:
            return False
        if slope < 0.0:
            low, at_low, slope_low = t, at_t, slope
        else:
            high, at_high, slope_high = t, at_t, slope
        t = (at_high - at_low + slope_low * low - slope_high * high) / (slope_low - slope_high)
        if at_low + slope_low * (t - low) >= wanted:  # the tangents meet here
            return True
        if not low < t < high:
            return False
    return False


@kernel
def grown(pair: MeanPair, factor: float) -> MeanPair:
    """The pair with more events at the same means."""
    w, j = pair.winner, pair.rival
    winner = MeanArm(factor * w.events, factor * w.total, factor * w.squares)
    return MeanPair(
        pair.threat, pair.log_level, winner, MeanArm(factor * j.events, factor * j.total, factor * j.squares)
    )


@rare_kernel
def leads(pair: MeanPair, on_winner: float, on_rival: float) -> bool:
    """Whether the winner's mean is above the rival's after the most harmful events of both are undone.

    The rewards of a events add up to at most a, and to at most the root of a times the sum of their squares.
    """
    return left(pair.threat, pair.winner, on_winner) > 1.0 - left(pair.threat, pair.rival, on_rival)


@kernel
def left(threat: int, arm: MeanArm, spent: float) -> float:
    """The least mean of an arm if this much was spent on it; zero if it may have no events."""
    if threat == SUPPRESS:
        return arm.total / (arm.events + spent)
    if threat == ALTER:
        return max(arm.total - spent, 0.0) / arm.events
    if spent >= arm.events:
        return 0.0
    return max(arm.total - min(spent, sqrt(spent * arm.squares)), 0.0) / (arm.events - spent)


@rare_kernel
def least_mean(arm: MeanArm, log_level: float) -> float:
    """The least mean at which the average of L is not yet 1 / level: a lower limit, valid at every look."""
    low, high = 0.0, 1.0
    if log_average(ALTER, arm, 0.0, low)[0] < -log_level:
        return low
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if log_average(ALTER, arm, 0.0, middle)[0] < -log_level:
            high = middle
        else:
            low = middle
    return low
