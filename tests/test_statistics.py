"""Binomial chances against fifty digits, exact limits against SciPy's."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from effort import examples
from vambrace.kernels import compiled
from vambrace.statistics import (
    chi_square_tail,
    least_chance,
    log_binomial_mass,
    log_tail,
    lower_limit,
    range_limit,
    student_limit,
    student_tail,
)


def true_log_mass(k: float, n: int, p: float) -> float:
    with mpmath.workdps(50):
        truth = mpmath.loggamma(n + 1) - mpmath.loggamma(mpmath.mpf(k) + 1) - mpmath.loggamma(n - mpmath.mpf(k) + 1)
        return float(truth + k * mpmath.log(p) + (n - k) * mpmath.log1p(-mpmath.mpf(p)))


@pytest.mark.parametrize("n", [1, 17, 1000, 10**9, 10**15])
@pytest.mark.parametrize("p", [1e-9, 0.015, 0.5])
def test_log_mass_to_fifty_digits(n: int, p: float) -> None:
    """scipy's logpmf is off by 3.8 at n = 10^15; mpmath is the judge."""
    spread = np.sqrt(n * p * (1 - p))
    for k in {0, n, *(int(np.clip(n * p + z * spread, 0, n)) for z in (-3, -1, 0, 1, 4))}:
        assert log_binomial_mass(float(k), float(n), p) == pytest.approx(true_log_mass(k, n, p), rel=1e-12, abs=1e-6)


@given(st.integers(1, 10**7), st.floats(1e-6, 1 - 1e-6), st.floats(0.001, 0.999))
def test_the_mass_between_whole_numbers_is_smooth(n: int, share: float, p: float) -> None:
    """Where a part of one reward is altered, the number of successes is not whole."""
    found = log_binomial_mass(share * n, float(n), p)
    assert found == pytest.approx(true_log_mass(share * n, n, p), rel=1e-11, abs=1e-8)


@examples(200)
@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(1e-12, 0.35))
def test_limits_are_those_of_scipy(trials: int, share: float, tail: float) -> None:
    successes = round(share * trials)
    low = stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    assert lower_limit(successes, trials, tail) == pytest.approx(low, rel=1e-8, abs=1e-14)


@given(st.integers(1, 400), st.integers(1, 400), st.floats(0.001, 0.999))
def test_the_tail_is_the_binomial_one(trials: int, more: int, share: float) -> None:
    successes = min(more, trials)
    chance = share * successes / (trials + 1)
    exact = math.fsum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(successes, trials + 1)
    )
    tail, slope = log_tail(float(successes), float(trials), chance, exact=True)
    bound, _ = log_tail(float(successes), float(trials), chance, exact=False)
    assert tail <= bound + 1e-12
    if exact > 1e-280:
        assert tail == pytest.approx(math.log(exact), rel=1e-9)
        further, _ = log_tail(float(successes), float(trials), chance * (1 - 1e-6), exact=True)
        assert tail - further == pytest.approx(1e-6 * slope, rel=1e-3)


def test_the_limit_at_the_ends() -> None:
    assert lower_limit(0, 50, 0.025) == 0.0
    assert lower_limit(50, 50, 0.025) == pytest.approx(0.025 ** (1 / 50))


@pytest.mark.parametrize("exact", [True, False])
def test_the_compiled_form_is_the_interpreted_one(exact: bool) -> None:
    for k, n in ((3.0, 100.0), (2.5, 7.0), (70_000.0, 10.0**7)):
        arguments = (k, n, math.log(0.01), exact)
        assert compiled(least_chance, {})(*arguments) == pytest.approx(least_chance(*arguments), rel=1e-13)


def test_tails_and_limits_of_tests_are_those_of_scipy() -> None:
    for freedom in (1, 2, 3, 19, 100, 10_000):
        for t in (0.0, 1e-6, 0.3, 1.0, 2.5, -2.5, 40.0, 1e5):
            expected = 2 * stats.t.sf(abs(t), freedom)
            assert student_tail(t, freedom) == pytest.approx(expected, rel=1e-8, abs=1e-300)
            assert chi_square_tail(abs(t), min(freedom, 60)) == pytest.approx(stats.chi2.sf(abs(t), min(freedom, 60)))
        for tail in (0.5, 0.05, 1e-6):
            assert student_limit(tail, freedom) == pytest.approx(stats.t.isf(tail / 2, freedom), rel=1e-8)
    for count in (2, 3, 10, 40):
        assert range_limit(0.05, count) == pytest.approx(stats.studentized_range.isf(0.05, count, np.inf), rel=1e-9)
    assert student_tail(math.inf, 3) == 0.0
