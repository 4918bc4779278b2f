"""The budget meter: what an alteration costs, and where it is cut off; and sums without rounding.

The engine does not trust the attack. The cost is summed without rounding and reported rounded upwards, so it is never
below the true cost and never above the budget, not even by one unit in the last place.
"""

from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Floats

STEPS = 4  # how often a cut alteration is shortened by one unit in the last place before it is given up
SPLITTER = 134217729.0  # 2^27 + 1, which splits a float into two halves of 26 bits (Veltkamp)


class Sum(NamedTuple):
    """A sum as two floats, of which `high` is the sum rounded to nearest and `low` what is missing (Dekker 1971).

    106 bits hold the sum of 10^15 times one reward exactly, and of a few rewards of similar size, in any order and
    grouping: that is why both engines report the same numbers.
    """

    high: float
    low: float


@kernel
def add(total: Sum, value: float) -> Sum:
    """The sum plus a float: Knuth's error term is added to the low part."""
    high = total.high + value
    other = high - total.high
    low = total.low + ((total.high - (high - other)) + (value - other))
    rounded = high + low
    return Sum(rounded, low - (rounded - high))


@kernel
def add_times(total: Sum, count: int, value: float) -> Sum:
    """The sum plus `count` times a float: the product and its rounding error (Dekker 1971)."""
    times = float(count)
    product = times * value
    big_times, big_value = SPLITTER * times, SPLITTER * value
    high_times, high_value = big_times - (big_times - times), big_value - (big_value - value)
    low_times, low_value = times - high_times, value - high_value
    lost = (high_times * high_value - product) + high_times * low_value + low_times * high_value
    return add(add(total, product), lost + low_times * low_value)


@kernel
def add_at(sums: Floats, arm: int, value: float) -> None:
    """`add` for one column of an array whose rows are the high and the low parts."""
    sums[0, arm], sums[1, arm] = add(Sum(sums[0, arm], sums[1, arm]), value)


@kernel
def add_times_at(sums: Floats, arm: int, count: int, value: float) -> None:
    """`add_times` for one column of such an array."""
    sums[0, arm], sums[1, arm] = add_times(Sum(sums[0, arm], sums[1, arm]), count, value)


@kernel
def upper(total: Sum) -> float:
    """The least float that is not below the sum."""
    return np.nextafter(total.high, np.inf) if total.low > 0.0 else total.high


@kernel
def distance(raw: float, altered: float) -> float:
    """|raw - altered|, rounded upwards."""
    return upper(add(Sum(max(raw, altered), 0.0), -min(raw, altered)))


@kernel
def meter(raw: float, wanted: float, spent: Sum, budget: float) -> tuple[float, Sum]:
    """The reward that the learner sees and the total cost after it.

    An alteration that the budget does not cover is moved towards the raw reward until the budget covers it. The whole
    budget then counts as spent, although rounding may leave a remainder that is too small to use.
    """
    if spent.high >= budget:
        return raw, spent
    after = add(spent, distance(raw, wanted))
    if upper(after) <= budget:
        return wanted, after
    return _cut(raw, wanted, spent, budget), Sum(budget, 0.0)


@rare_kernel
def _cut(raw: float, wanted: float, spent: Sum, budget: float) -> float:
    """The reward nearest to the wanted one that the rest of the budget covers."""
    left = budget - upper(spent)
    unit = max(np.nextafter(raw, 2.0) - raw, np.nextafter(left, np.inf) - left)  # what rounding may have added
    for _ in range(STEPS):
        seen = raw - left if wanted < raw else raw + left
        if upper(add(spent, distance(raw, seen))) <= budget:
            return seen
        left -= unit
    return raw


@rare_kernel
def meter_all(raw: Floats, wanted: Floats, spent: Sum, budget: float) -> Sum:
    """`meter` for a medium attack, in place: the cost of a round is the largest change of any arm."""
    cost = 0.0
    for k in range(len(raw)):
        cost = max(cost, distance(raw[k], wanted[k]))
    after = add(spent, cost)
    if upper(after) <= budget:
        return after
    highest = spent
    for k in range(len(raw)):
        wanted[k], after = meter(raw[k], wanted[k], spent, budget)
        if upper(after) > upper(highest):
            highest = after
    return highest
