"""The meter: exact against fractions, whatever floats come."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vambrace.engine.meter import add_up, distance, meter, meter_all

unit = st.floats(0.0, 1.0)
anything = st.floats(-1e6, 1e6)
amounts = st.floats(0.0, 1e9)


@given(anything, anything)
def test_add_up_is_the_least_float_not_below_the_sum(a: float, b: float) -> None:
    total, exact = add_up(a, b), Fraction(a) + Fraction(b)
    assert Fraction(total) >= exact
    assert Fraction(float(np.nextafter(total, -np.inf))) < exact


@given(anything, anything)
def test_distance_is_never_below_the_true_one(a: float, b: float) -> None:
    assert Fraction(distance(a, b)) >= abs(Fraction(a) - Fraction(b))


@settings(max_examples=300)
@given(unit, anything, amounts, amounts)
def test_truncation(raw: float, wanted: float, spent: float, more: float) -> None:
    budget = spent + more
    seen, after = meter(raw, wanted, spent, budget)
    true_cost = abs(Fraction(raw) - Fraction(seen))
    assert Fraction(spent) + true_cost <= Fraction(after) <= Fraction(budget)
    assert min(raw, wanted) <= seen <= max(raw, wanted)
    if abs(Fraction(raw) - Fraction(wanted)) <= Fraction(budget) - Fraction(spent) - Fraction(1, 10**6):
        assert seen == wanted, "what the budget covers is left alone"
    elif more > 1e-6:
        # all but rounding of what was left is used
        assert true_cost >= Fraction(more) - Fraction(float(np.spacing(budget))) * 4 - Fraction(1, 10**12)


@given(st.lists(st.tuples(unit, anything), min_size=1, max_size=5), st.floats(0.0, 5.0))
def test_a_medium_adversary_pays_for_the_largest_change(pairs: list[tuple[float, float]], budget: float) -> None:
    raw, wanted = (np.array(each) for each in zip(*pairs, strict=True))
    seen = wanted.copy()
    after = meter_all(raw, seen, 0.0, budget)
    assert after <= budget
    assert all(abs(Fraction(float(x)) - Fraction(float(y))) <= Fraction(after) for x, y in zip(raw, seen, strict=True))
