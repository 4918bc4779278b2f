"""Rates: the fits are right, and what they find is what the theory says, where it is tight."""

import numpy as np
import pytest

import vambrace as vb
from vambrace.lab import rates


def test_a_fit_finds_a_line_and_its_interval() -> None:
    rng = np.random.default_rng(1)
    x = [1.0, 2.0, 3.0, 4.0]
    samples = [5.0 + 3.0 * place + rng.normal(0, 0.5, 200) for place in x]
    line = rates.fit(x, samples)
    assert line.low < 3.0 < line.high
    assert line.high - line.low < 0.2
    assert line.explained > 0.999
    assert rates.fit(x, [np.array([2.0**place]) for place in x], np.log2).slope == pytest.approx(1.0)


@pytest.mark.parametrize("budget", [0.0, 1000.0])
def test_se_wr_grows_like_the_logarithm_of_the_horizon(budget: float) -> None:
    """The regret that the line alone gives is met within 3 % at every horizon from 10^9 to 10^15."""
    rows, line = rates.in_horizon(budget)
    for row in rows:
        assert row["regret"] == pytest.approx(row["expected"], rel=0.03)
        assert row["regret"] < row["bound"] / 3
    assert line.explained > 0.99


def test_se_wr_grows_linearly_in_the_budget_and_with_the_arms() -> None:
    slopes = {}
    for n_arms in (2, 6):
        rows, line = rates.in_budget(n_arms)
        assert all(row["regret"] == pytest.approx(row["expected"], rel=0.05) for row in rows)
        assert line.explained > 0.99
        slopes[n_arms] = line.slope / (n_arms - 1)
    assert slopes[2] == pytest.approx(slopes[6], rel=0.02)
    assert 3.0 < slopes[2] < 6.0, "three times the budget and a term that fades; the bound has six"


def test_a_burst_succeeds_up_to_the_gap_that_it_can_pay_for() -> None:
    horizon, budget = 10**10, 10.0**4.6
    gap = max(rates.burst_gaps(horizon, budget))
    for factor, lost in ((0.9, True), (1.6, False)):
        means = [0.5 + factor * gap / 2, 0.5 - factor * gap / 2]
        result = vb.simulate(
            vb.PEWR(), vb.Bernoulli(means), vb.PhaseBurst(budget=budget), horizon=horizon, replications=20, seed=1
        )
        assert ((result.pulls.argmax(axis=1) == 1) == lost).all()


def test_no_burst_is_possible_below_a_third() -> None:
    """Not at any horizon: 2 sqrt(lambda n_h) outgrows C = T^0.3 before C_h falls below it."""
    assert all(rates.burst_gaps(10**power, 10.0 ** (0.3 * power)) == [] for power in (9, 15, 60, 200))
    assert rates.burst_gaps(10**200, 10.0 ** (0.36 * 200))


def test_exponents_where_the_theory_is_tight() -> None:
    """Within 0.05 of max(1/2, 2 beta) for beta up to 1/4 and from 1/2 on, over six decades."""
    horizons = (10**9, 10**12, 10**15)
    for found in rates.pe_wr_exponents((0.0, 0.25, 0.5, 0.6), horizons):
        assert found.line.slope == pytest.approx(found.theory, abs=0.05), found.beta
        assert [row["horizon"] for row in found.rows] == list(horizons)
