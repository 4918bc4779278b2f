"""The meter: exact against fractions, whatever floats come."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from vambrace.engine.meter import Sum, add, add_times, distance, meter, meter_all, upper

unit = st.floats(0.0, 1.0)
anything = st.floats(-1e6, 1e6)
amounts = st.floats(0.0, 1e9)
rewards = st.floats(2.0**-20, 1.0)


def exactly(total: Sum) -> Fraction:
    return Fraction(total.high) + Fraction(total.low)


@given(anything, anything)
def test_upper_is_the_least_float_not_below_the_sum(a: float, b: float) -> None:
    total, exact = upper(add(Sum(a, 0.0), b)), Fraction(a) + Fraction(b)
    assert Fraction(total) >= exact
    assert Fraction(float(np.nextafter(total, -np.inf))) < exact


@given(st.lists(st.tuples(st.integers(0, 10**15), st.integers(-(2**53), 2**53)), max_size=4))
def test_sums_of_multiples_are_exact(parts: list[tuple[int, int]]) -> None:
    """Up to 10^15 times each of a few multiples of 2^-53, as every reward from one half up is: 105 bits."""
    total, exact = Sum(0.0, 0.0), Fraction(0)
    for count, units in parts:
        value = units * 2.0**-53
        total, exact = add_times(total, count, value), exact + count * Fraction(value)
    assert exactly(total) == exact
    assert float(exact) == total.high, "the high part is the sum rounded to nearest"


@examples(50)
@given(rewards, rewards, st.integers(0, 300), st.integers(0, 300))
def test_one_by_one_is_the_same_as_all_at_once(x: float, y: float, many: int, more: int) -> None:
    single = Sum(0.0, 0.0)
    for i in range(max(many, more)):
        single = add(single, x) if i < many else single
        single = add(single, y) if i < more else single
    assert single == add_times(add_times(Sum(0.0, 0.0), more, y), many, x)


@given(anything, anything)
def test_distance_is_never_below_the_true_one(a: float, b: float) -> None:
    assert Fraction(distance(a, b)) >= abs(Fraction(a) - Fraction(b))


@examples(300)
@given(unit, anything, amounts, unit, amounts)
def test_truncation(raw: float, wanted: float, spent: float, bit: float, more: float) -> None:
    before = add(Sum(spent, 0.0), bit)
    budget = spent + more
    seen, after = meter(raw, wanted, before, budget)
    true_cost = abs(Fraction(raw) - Fraction(seen))
    if exactly(before) > Fraction(budget):
        assert (seen, after) == (raw, before)
        return
    assert exactly(before) + true_cost <= Fraction(upper(after)) <= Fraction(budget)
    assert min(raw, wanted) <= seen <= max(raw, wanted)
    left = Fraction(budget) - exactly(before)
    if abs(Fraction(raw) - Fraction(wanted)) <= left - Fraction(1, 10**6):
        assert seen == wanted, "what the budget covers is left alone"
    elif left > Fraction(1, 10**6):
        # all but rounding of what was left is used
        assert true_cost >= left - Fraction(float(np.spacing(budget))) * 4 - Fraction(1, 10**12)


@given(st.lists(st.tuples(unit, anything), min_size=1, max_size=5), st.floats(0.0, 5.0))
def test_a_medium_adversary_pays_for_the_largest_change(pairs: list[tuple[float, float]], budget: float) -> None:
    raw, wanted = (np.array(each) for each in zip(*pairs, strict=True))
    seen = wanted.copy()
    after = upper(meter_all(raw, seen, Sum(0.0, 0.0), budget))
    assert after <= budget
    assert all(abs(Fraction(float(x)) - Fraction(float(y))) <= Fraction(after) for x, y in zip(raw, seen, strict=True))
