"""What SE-WR, SE-WR-Stop, PE-WR and the bases of MS-SE-WR share: the table of arms and the elimination rules.

One code path serves prompt and delayed feedback (SPEC §2, unequal counts): ask the active arm with the fewest pulls,
those still unanswered included, and test for elimination when the smallest count has grown. With prompt feedback that
is a sweep in index order with a test at its end, and every test sees equal counts.
"""

from math import exp, expm1, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.kernel import kernel, rare_kernel
from vambrace.protocols import Flags, Floats, Integers, Pending

PAPER, TIGHT, KL = 0, 1, 2
RADII = ("paper", "tight", "kl")
PIECES = 16  # into how many pieces the kl rule cuts the budget that two arms share
TIE = 1e-9  # kl bounds closer than this count as equal, and ties stay
NEVER = 2**62


class Arms(NamedTuple):
    """Counts and totals of every arm, and which are active."""

    totals: Floats  # observed reward of each arm
    counts: Integers  # answered pulls of each arm
    active: Integers  # active arms in index order; the first n_active entries are valid
    dropped: Flags
    n_active: int
    floor: int  # smallest count of an active arm
    at_floor: int  # how many active arms have that count
    excess: int  # sum over the active arms of count - floor; zero exactly when all counts are equal


class Rule(NamedTuple):
    """The constants of an elimination test."""

    radius: int
    log_single: float  # ln(2KT/delta): two sides, every arm, every count (paper, kl)
    log_equal: float  # ln(KT/delta): one side, every rival, every common count (tight)
    log_pair: float  # ln(KT^2/delta): one side, every rival, every pair of counts (tight)
    budget: float


def make_arms(n_arms: int) -> Arms:
    """All arms active, nothing pulled."""
    return Arms(
        totals=np.zeros(n_arms),
        counts=np.zeros(n_arms, dtype=np.int64),
        active=np.arange(n_arms),
        dropped=np.zeros(n_arms, dtype=np.bool_),
        n_active=n_arms,
        floor=0,
        at_floor=n_arms,
        excess=0,
    )


def make_rule(radius: str, n_arms: int, horizon: int, delta: float | None, budget: float) -> Rule:
    """The rule of SE-WR; delta = None means K / T, with which ln(2KT/delta) = ln(2 T^2)."""
    log_count = log(n_arms) + log(horizon) - log(n_arms / horizon if delta is None else delta)
    return Rule(RADII.index(radius), log(2.0) + log_count, log_count, log_count + log(horizon), float(budget))


def check_radius(value: str, known: tuple[str, ...] = RADII) -> None:
    """Refuse a radius that does not exist."""
    validation.choice("radius", value, known)


@kernel
def next_in_sweep(arms: Arms, pending: Pending) -> int:
    """The active arm with the fewest pulls, ties to the lowest index.

    With nothing pending the asked counts are the answered ones, and since the fewest are asked first the arms that are
    one ahead are the first in index order: the position in the sweep is how many are ahead. (Where counts were reset at
    unequal values this does not hold: see PE-WR.)
    """
    if pending.total == 0:
        return arms.active[arms.n_active - arms.at_floor]
    return fewest_pulled(arms, pending)


@rare_kernel
def fewest_pulled(arms: Arms, pending: Pending) -> int:
    """The same by looking at every active arm."""
    best, fewest = 0, NEVER
    for i in range(arms.n_active):
        arm = arms.active[i]
        pulls = arms.counts[arm] + pending.per_arm[arm]
        if pulls < fewest:
            best, fewest = arm, pulls
    return best


@kernel
def record(arms: Arms, arm: int, reward: float) -> None:
    """Enter one observation in the table."""
    arms.totals[arm] += reward
    arms.counts[arm] += 1


@kernel
def cycle(state: Any) -> tuple[Integers, int]:
    """The arms of a sweep, for the leap engine; for any state that has `arms`."""
    return state.arms.active, state.arms.n_active


@kernel
def absorb_sweeps(arms: Arms, sweeps: int, totals: Floats) -> Arms:
    """Enter so many whole sweeps at once, starting and ending at equal counts; totals[arm] is what they paid."""
    for i in range(arms.n_active):
        arm = arms.active[i]
        arms.totals[arm] += totals[arm]
        arms.counts[arm] += sweeps
    return Arms(
        arms.totals, arms.counts, arms.active, arms.dropped, arms.n_active, arms.floor + sweeps, arms.n_active, 0
    )


@kernel
def advance(arms: Arms, arm: int) -> Arms:
    """Follow the smallest count after an observation of `arm` was recorded; `floor` grows when a sweep is complete."""
    if arms.dropped[arm]:
        return arms
    floor, at_floor, excess = arms.floor, arms.at_floor, arms.excess + 1
    if arms.counts[arm] == floor + 1:
        at_floor -= 1
        if at_floor == 0:
            floor, excess = floor + 1, excess - arms.n_active
            at_floor = arms.n_active if excess == 0 else _at_count(arms, floor)
    return Arms(arms.totals, arms.counts, arms.active, arms.dropped, arms.n_active, floor, at_floor, excess)


@rare_kernel
def _at_count(arms: Arms, count: int) -> int:
    found = 0
    for i in range(arms.n_active):
        if arms.counts[arms.active[i]] == count:
            found += 1
    return found


@kernel
def advance_and_test(arms: Arms, arm: int, rule: Rule, next_test: int, last_test: int) -> tuple[Arms, int]:
    """`advance`, and the elimination test where a sweep is complete; returns also when the next test can matter.

    At equal counts no arm can fall before `next_test`, a bound that `quiet_sweeps` gave at the last test; at unequal
    counts every completed sweep is tested. SE-WR-Stop tests no more after `last_test`.
    """
    grown = advance(arms, arm)
    return drop_if_due(grown, rule, next_test, last_test) if grown.floor > arms.floor else (grown, next_test)


@kernel
def drop_if_due(arms: Arms, rule: Rule, next_test: int, last_test: int) -> tuple[Arms, int]:
    """The elimination test at the end of a sweep, and when the next one can matter."""
    if arms.n_active > 1 and arms.floor <= last_test:
        if arms.excess > 0:
            return eliminate(arms, rule), 0
        if arms.floor >= next_test:
            fewer = eliminate(arms, rule)
            return fewer, fewer.floor + quiet_sweeps(fewer, rule) + 1
    return arms, next_test


@rare_kernel
def eliminate(arms: Arms, rule: Rule) -> Arms:
    """Drop every active arm that an active arm beats: one pass, with the rivals as they stood before it.

    The maximum runs over the active arms only (erratum E6): the stale mean of a dropped arm could otherwise empty the
    set once the attacker overspends. At equal counts, and for radius "paper" at any, one rival beats whatever any does.
    """
    one_rival = arms.excess == 0 or rule.radius == PAPER
    rival = _strongest(arms, rule)
    if arms.excess == 0 and not beats(arms, rule, rival, _lowest(arms)):
        return arms
    for i in range(arms.n_active):
        arm = arms.active[i]
        if one_rival:
            arms.dropped[arm] = rival != arm and beats(arms, rule, rival, arm)
        else:
            for j in range(arms.n_active):
                if i != j and beats(arms, rule, arms.active[j], arm):
                    arms.dropped[arm] = True
                    break
    kept, floor, total = 0, NEVER, 0
    for i in range(arms.n_active):
        arm = arms.active[i]
        if not arms.dropped[arm]:
            arms.active[kept] = arm
            kept += 1
            floor = min(floor, arms.counts[arm])
            total += arms.counts[arm]
    smaller = Arms(arms.totals, arms.counts, arms.active, arms.dropped, kept, floor, 0, total - kept * floor)
    at_floor = kept if smaller.excess == 0 else _at_count(smaller, floor)
    return Arms(arms.totals, arms.counts, arms.active, arms.dropped, kept, floor, at_floor, smaller.excess)


@kernel
def _strongest(arms: Arms, rule: Rule) -> int:
    """The active arm with the highest lower bound; at equal counts simply the highest total."""
    best, highest = arms.active[0], -np.inf
    for i in range(arms.n_active):
        arm = arms.active[i]
        height = arms.totals[arm]
        if arms.excess > 0:
            count = arms.counts[arm]
            height = (height - rule.budget) / count - sqrt(rule.log_single / count)
        if height > highest:
            best, highest = arm, height
    return best


@kernel
def _lowest(arms: Arms) -> int:
    """The active arm with the lowest total."""
    lowest = arms.active[0]
    for i in range(arms.n_active):
        if arms.totals[arms.active[i]] < arms.totals[lowest]:
            lowest = arms.active[i]
    return lowest


@kernel
def beats(arms: Arms, rule: Rule, rival: int, arm: int) -> bool:
    """Whether the rival is so far above the arm that no attack within the budget explains it. Ties stay."""
    return separated(rule, arms.totals[rival], arms.counts[rival], arms.totals[arm], arms.counts[arm])


@kernel
def separated(rule: Rule, high_total: float, high_count: int, low_total: float, low_count: int) -> bool:
    """`beats` on bare totals and counts."""
    high, low = high_total / high_count, low_total / low_count
    if rule.radius == KL:
        return high > low and _blocking_piece(rule, high_total, high_count, low_total, low_count) < 0
    if rule.radius == PAPER:  # Algorithm 1: each arm may have lost the whole budget; radius loose by sqrt 2 (E7)
        width = sqrt(rule.log_single / high_count) + rule.budget / high_count
        width += sqrt(rule.log_single / low_count) + rule.budget / low_count
    else:  # the two share one budget, and their difference is sub-Gaussian as one variable (SPEC §2)
        width = rule.budget / min(high_count, low_count)
        if high_count == low_count:
            width += sqrt(rule.log_equal / high_count)
        else:
            width += sqrt(0.5 * rule.log_pair * (1.0 / high_count + 1.0 / low_count))
    return high - low > width


@rare_kernel
def _blocking_piece(rule: Rule, high_total: float, high_count: int, low_total: float, low_count: int) -> int:
    """A split of the budget between the two arms for which their Chernoff intervals overlap; -1 if there is none.

    [0, budget] is cut into pieces, and on each of them both arms get the worse end. The even splits fail first, so
    they are tried first.
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
    """The Kullback-Leibler divergence of two Bernoulli laws."""
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
    Pinsker's bound and of what follows from ln(1 / q) >= 0, which keeps it away from one.
    """
    if mean >= 1.0:
        return 1.0
    if mean <= 0.0:
        return -expm1(-level)
    room = (1.0 - mean) * exp(-(level - mean * log(mean)) / (1.0 - mean))
    q = min(mean + sqrt(0.5 * level), 1.0 - room)
    if q >= 1.0:  # the root is one, to rounding
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
def quiet_sweeps(arms: Arms, rule: Rule) -> int:
    """For how many further sweeps no arm can fall, at equal counts and while observed rewards stay in [0, 1].

    In totals the line of "paper" is 2 (sqrt(n L) + budget), that of "tight" sqrt(n L') + budget. A sweep widens the
    spread of the totals by at most one, and the line only rises. For "kl" the best case for a drop is a rival that
    earns only ones and an arm that earns only zeros; it gets likelier with every sweep.
    """
    if arms.n_active == 1:
        return NEVER
    highest, lowest = arms.totals[_strongest(arms, rule)], arms.totals[_lowest(arms)]
    count = arms.floor
    if rule.radius == KL:
        return _quiet_sweeps_kl(rule, highest, lowest, count)
    if rule.radius == PAPER:
        line = 2.0 * (sqrt(count * rule.log_single) + rule.budget)
    else:
        line = sqrt(count * rule.log_equal) + rule.budget
    return int(min(max(line - (highest - lowest), 0.0), float(NEVER // 2)))


@rare_kernel
def _quiet_sweeps_kl(rule: Rule, highest: float, lowest: float, count: int) -> int:
    """While one piece blocks, nothing falls: follow the one that blocks now, by doubling and bisection."""
    piece = _blocking_piece(rule, highest + 1.0, count + 1, lowest, count + 1)
    if piece < 0:
        return 0
    safe, unsafe = 1, 2
    while unsafe < NEVER // 4 and _overlap(rule, highest + unsafe, count + unsafe, lowest, count + unsafe, piece):
        safe, unsafe = unsafe, 2 * unsafe
    while unsafe - safe > max(safe // 8, 1):  # close enough: an eighth more would save little
        middle = (safe + unsafe) // 2
        if _overlap(rule, highest + middle, count + middle, lowest, count + middle, piece):
            safe = middle
        else:
            unsafe = middle
    return safe
