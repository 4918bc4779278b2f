"""When is one arm so far above another that no attack within the budget explains it? The three radii of SE-WR.

paper   each arm's mean may be wrong by sqrt(L / n) and by the whole budget over n   Algorithm 1, Theorem 6
tight   the two arms share one budget, and the difference of their means is one sub-Gaussian variable
kl      Chernoff intervals of two Bernoulli-like means, disjoint for every split of the budget between them
"""

from math import exp, expm1, log, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from vambrace.engine.slots import KL_RADIUS
from vambrace.kernels import kernel, rare_kernel

PAPER, TIGHT, KL = 0, 1, 2
Radius = Literal["paper", "tight", "kl"]
RADII: tuple[Radius, ...] = get_args(Radius)
PIECES = 16  # the number of pieces into which the kl rule cuts the budget that two arms share
TIE = 1e-9  # kl bounds closer than this count as equal, and ties are not dropped
MANY = 2**60  # more sweeps than any game has


class Rule(NamedTuple):
    """The constants of an elimination test."""

    radius: int
    log_single: float  # ln(2KT/delta): two sides, every arm, every count (paper, kl)
    log_equal: float  # ln(KT/delta): one side, every rival, every common count (tight)
    log_pair: float  # ln(KT^2/delta): one side, every rival, every pair of counts (tight)
    budget: float


def make_rule(radius: str, n_arms: int, horizon: int, delta: float | None, budget: float) -> Rule:
    """The rule of SE-WR; delta = None means K / T, with which ln(2KT/delta) = ln(2 T^2)."""
    log_count = log(n_arms) + log(horizon) - log(n_arms / horizon if delta is None else delta)
    return Rule(RADII.index(radius), log(2.0) + log_count, log_count, log_count + log(horizon), float(budget))


@kernel
def separated(rule: Rule, high_total: float, high_count: int, low_total: float, low_count: int) -> bool:
    """`beats` for given totals and counts."""
    high, low = high_total / high_count, low_total / low_count
    if KL_RADIUS and rule.radius == KL:
        return high > low and _blocking_piece(rule, high_total, high_count, low_total, low_count) < 0
    if rule.radius == PAPER:
        return high - low > _paper_width(rule, high_count, low_count)
    width = rule.budget / min(high_count, low_count)  # the two share one budget
    if high_count == low_count:  # their difference is sub-Gaussian as one variable
        width += sqrt(rule.log_equal / high_count)
    else:
        width += sqrt(0.5 * rule.log_pair * (1.0 / high_count + 1.0 / low_count))
    return high - low > width


@kernel
def _paper_width(rule: Rule, high_count: int, low_count: int) -> float:
    """Algorithm 1: each arm may have lost the whole budget; the radius is loose by sqrt 2 (E7)."""
    width = sqrt(rule.log_single / high_count) + rule.budget / high_count
    return width + (sqrt(rule.log_single / low_count) + rule.budget / low_count)


@kernel
def narrowest(rule: Rule, most: int, second: int) -> float:
    """No more than the difference of means that any two arms need, if these are the two largest counts."""
    if KL_RADIUS and rule.radius == KL:
        return 0.0
    if rule.radius == PAPER:
        return _paper_width(rule, most, second)
    unequal = 0.5 * rule.log_pair * (1.0 / most + 1.0 / second)
    return rule.budget / second + sqrt(min(unequal, rule.log_equal / second))


@rare_kernel
def _blocking_piece(rule: Rule, high_total: float, high_count: int, low_total: float, low_count: int) -> int:
    """A split of the budget between the two arms for which their Chernoff intervals overlap; -1 if there is none.

    [0, budget] is cut into pieces, and on each of them both arms get the worse end. The most even splits are tried
    first, because they are the most likely to overlap.
    """
    for step in range(PIECES):
        piece = PIECES // 2 + (step + 1) // 2 * (1 - 2 * (step % 2))
        if _overlap(rule, high_total, high_count, low_total, low_count, piece):
            return piece
    return -1


@kernel
def _overlap(rule: Rule, high_total: float, high_count: int, low_total: float, low_count: int, piece: int) -> bool:
    """Whether the intervals overlap when the rival lost (piece + 1) / 16 of the budget, and the arm gained the rest."""
    high = (high_total - rule.budget * (piece + 1) / PIECES) / high_count
    low = (low_total + rule.budget * (PIECES - piece) / PIECES) / low_count
    high, low = min(max(high, 0.0), 1.0), min(max(low, 0.0), 1.0)
    if high <= low:
        return True
    bound = kl_upper(low, rule.log_single / low_count) + TIE
    return high <= bound or high_count * kl(high, bound) <= rule.log_single


@kernel
def kl(p: float, q: float) -> float:
    """The Kullback-Leibler divergence of two Bernoulli distributions."""
    divergence = 0.0
    if p > 0.0:
        if q <= 0.0:
            return np.inf
        divergence += p * log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return np.inf
        divergence += (1.0 - p) * log((1.0 - p) / (1.0 - q))
    return divergence


@rare_kernel
def kl_upper(mean: float, level: float) -> float:
    """The largest q >= mean with kl(mean, q) <= level.

    Newton from above: the divergence is convex in q, so every step stays above the root. The start is the smaller of
    Pinsker's bound and the bound that follows from ln(1 / q) >= 0, which keeps it away from one.
    """
    if mean >= 1.0:
        return 1.0
    if mean <= 0.0:
        return -expm1(-level)
    room = (1.0 - mean) * exp(-(level - mean * log(mean)) / (1.0 - mean))
    q = min(mean + sqrt(0.5 * level), 1.0 - room)
    if q >= 1.0:  # the root is one, up to rounding
        return 1.0
    for _ in range(64):
        excess = kl(mean, q) - level
        slope = (q - mean) / (q * (1.0 - q))
        if excess <= 0.0 or slope <= 0.0:
            break
        step = excess / slope
        if q - step >= q:
            break
        q -= step
        if step < 1e-16 * q:
            break
    return max(q, mean)


@rare_kernel
def quiet_sweeps(rule: Rule, highest: float, lowest: float, count: int) -> int:
    """For how many further sweeps no arm can fall, at equal counts and while observed rewards stay in [0, 1].

    In totals the threshold of "paper" is 2 (sqrt(n L) + budget), that of "tight" sqrt(n L') + budget. A sweep widens
    the range of the totals by at most one, and the threshold only rises. For "kl" the best case for a drop is a rival
    that earns only ones and an arm that earns only zeros; it gets likelier with every sweep.
    """
    if KL_RADIUS and rule.radius == KL:
        return _quiet_sweeps_kl(rule, highest, lowest, count)
    if rule.radius == PAPER:
        line = 2.0 * (sqrt(count * rule.log_single) + rule.budget)
    else:
        line = sqrt(count * rule.log_equal) + rule.budget
    return int(min(max(line - (highest - lowest), 0.0), float(MANY)))


@rare_kernel
def _quiet_sweeps_kl(rule: Rule, highest: float, lowest: float, count: int) -> int:
    """While one piece blocks, no arm falls: follow the piece that blocks now, by doubling and bisection."""
    piece = _blocking_piece(rule, highest + 1.0, count + 1, lowest, count + 1)
    if piece < 0:
        return 0
    safe, unsafe = 1, 2
    while unsafe < MANY and _overlap(rule, highest + unsafe, count + unsafe, lowest, count + unsafe, piece):
        safe, unsafe = unsafe, 2 * unsafe
    while unsafe - safe > max(safe // 8, 1):  # close enough: one eighth more would save little
        middle = (safe + unsafe) // 2
        if _overlap(rule, highest + middle, count + middle, lowest, count + middle, piece):
            safe = middle
        else:
            unsafe = middle
    return safe
