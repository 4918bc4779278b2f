"""Exact intervals against SciPy's."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from vambrace.statistics import clopper_pearson, log_incomplete_beta, lower_limit, upper_limit


@settings(max_examples=200)
@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(1e-12, 0.4))
def test_limits_are_those_of_scipy(trials: int, share: float, tail: float) -> None:
    successes = round(share * trials)
    low = stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    high = stats.beta.isf(tail, successes + 1, trials - successes) if successes < trials else 1.0
    # log-gamma loses about ln(n!) in the last place: six digits of the chance at n = 10^6
    assert lower_limit(successes, trials, tail) == pytest.approx(low, rel=1e-7, abs=1e-14)
    assert upper_limit(successes, trials, tail) == pytest.approx(high, rel=1e-7, abs=1e-14)


@given(st.integers(1, 400), st.integers(0, 400), st.floats(0.001, 0.999))
def test_the_tail_is_the_binomial_one(trials: int, more: int, chance: float) -> None:
    successes = min(max(1, more), trials)
    exact = math.fsum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(successes, trials + 1)
    )
    if exact > 1e-280:
        assert math.exp(log_incomplete_beta(successes, trials - successes + 1, chance)) == pytest.approx(
            exact, rel=1e-9
        )


def test_the_interval_at_the_ends() -> None:
    assert list(clopper_pearson(0, 50, 0.95)) == pytest.approx([0.0, 1 - 0.025 ** (1 / 50)])
    assert list(clopper_pearson(50, 50, 0.95)) == pytest.approx([0.025 ** (1 / 50), 1.0])
