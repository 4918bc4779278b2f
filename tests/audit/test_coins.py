"""The test of a pair whose rewards are 0 or 1: its numbers, and what the search for the worst split relies on."""

from math import log

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from vambrace.audit import coins
from vambrace.audit.questions import DESIGNS, THREATS, Arm, Design, Question, Threat
from vambrace.kernels import compiled

LEVELS = np.log([0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-6])


def strengths(design: Design, largest: int) -> np.ndarray:
    """For all s, f, s', f' up to a number: minus the logarithm of the least level that rejects; SciPy, not our kernels.

    It is -1 where the winner's mean is not larger, or an arm has no events.
    """
    s, f, s2, f2 = np.ogrid[: largest + 1, : largest + 1, : largest + 1, : largest + 1]
    n, n2, m, both = s + f, s2 + f2, s + s2, s + f + s2 + f2
    with np.errstate(divide="ignore", invalid="ignore"):
        if design == "adaptive":
            value = special.betaln(s + 0.5, f + 0.5) + special.betaln(s2 + 0.5, f2 + 0.5) - 2 * np.log(np.pi)
            value = value - special.xlogy(m, m / both) - special.xlogy(both - m, (both - m) / both)
        else:
            ways = sum(special.binom(m, s + k) * special.binom(both - m, f - k) * (k <= f) for k in range(largest + 1))
            value = -np.log(ways / special.binom(both, n))
    return np.asarray(np.where((n > 0) & (n2 > 0) & (s * f2 > s2 * f), value, -1.0))


@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_rejected_stays_so_if_less_is_undone(design: Design) -> None:
    """Every pair of arms with at most 12 successes and 12 failures each, every threat, one event less on either arm."""
    found = strengths(design, 12)
    # which of s, f, s', f' change, and how, if one event of the winner or of the rival is undone
    changes: dict[Threat, list[tuple[tuple[int, int], ...]]] = {
        "alter": [((0, -1), (1, 1)), ((2, 1), (3, -1))],
        "inject": [((0, -1),), ((3, -1),)],
        "suppress": [((1, 1),), ((2, 1),)],
    }
    for steps in changes.values():
        for step in steps:
            undone, before = [slice(None)] * 4, [slice(None)] * 4
            for axis, change in step:
                undone[axis], before[axis] = (slice(1, None), slice(-1)) if change > 0 else (slice(-1), slice(1, None))
            more, less = found[tuple(undone)], found[tuple(before)]
            for level in LEVELS:
                assert np.all(less[more >= -level] >= -level - 1e-9)
            rejected = more > (0.0 if design == "adaptive" else -0.5)  # at any level at all
            assert rejected.sum() > 1000
            assert np.all(less[rejected] >= more[rejected] - 1e-9)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_pair_is_rejected_from_its_own_level_on(design: Design) -> None:
    """All logs with at most 8 successes and 8 failures, at levels just above and below what SciPy finds."""
    found, stands = strengths(design, 8), compiled(coins.rejects, {})
    tried = 0
    for s, f, s2, f2 in np.argwhere(found > 0.01).tolist():
        pair = coins.CoinPair(0, design == "adaptive", 0.0, float(s), float(s + f), float(s2), float(s2 + f2))
        assert stands(pair._replace(log_level=1e-8 - found[s, f, s2, f2]), 0.0, 0.0)
        assert not stands(pair._replace(log_level=-1e-8 - found[s, f, s2, f2]), 0.0, 0.0)
        tried += 1
    assert tried > 500


@pytest.mark.parametrize("n", [300, 10**4, 10**9])
def test_evidence_of_large_logs_has_all_its_digits(n: int) -> None:
    evidence = compiled(coins.log_evidence, {})
    for rate, rival_rate in ((0.5, 0.499), (0.02, 0.0197), (1.0, 0.9)):
        s, s2, n2 = int(n * rate), int(n * rival_rate), n // 3
        s2 //= 3
        with mpmath.workdps(40):
            p = mpmath.mpf(s + s2) / (n + n2)
            exact = sum(mpmath.log(mpmath.beta(a + 0.5, b - a + 0.5) / mpmath.pi) for a, b in ((s, n), (s2, n2)))
            exact -= (s + s2) * mpmath.log(p) + (n + n2 - s - s2) * mpmath.log(1 - p)
        assert evidence(float(s), float(n), float(s2), float(n2)) == pytest.approx(float(exact), rel=1e-9, abs=1e-7)


# ------------------------------------------------------------------------------------------------ intervals


@pytest.mark.parametrize("delta", [0.001, 0.05, 0.5])
def test_intervals_of_a_fixed_design_are_those_of_clopper_and_pearson(delta: float) -> None:
    question = Question(2, delta, "alter", "fixed", True)
    for s, n in ((0, 7), (7, 7), (1, 9), (300, 1000), (999_000, 1_000_000)):
        expected = stats.binomtest(s, n).proportion_ci(1 - delta, "exact")
        assert question.interval(Arm(n, s, s)) == pytest.approx((expected.low, expected.high), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("delta", [0.001, 0.05, 0.5])
def test_intervals_of_an_adaptive_design_are_the_rates_that_the_mixture_does_not_reject(delta: float) -> None:
    question, p = Question(2, delta, "alter", "adaptive", True), np.linspace(0.0, 1.0, 200_001)
    for s, n in ((0, 7), (7, 7), (1, 9), (300, 1000), (9_900, 10_000)):
        ratio = special.betaln(s + 0.5, n - s + 0.5) - log(np.pi) - special.xlogy(s, p) - special.xlog1py(n - s, -p)
        kept = p[ratio < -log(delta)]
        assert question.interval(Arm(n, s, s)) == pytest.approx((kept[0], kept[-1]), abs=1.1e-5)


# ------------------------------------------------------------------------------------------- the largest logs


@pytest.mark.parametrize("threat", THREATS)
def test_the_budget_of_a_billion_events_is_not_too_large(threat: Threat) -> None:
    """Every 1,999,993rd split of the budget is rejected, and the attack that is said to end the guarantee ends it."""
    question, stands = Question(3, 0.05, threat, "adaptive", True), compiled(coins.rejects, {})
    pair = question.pair(Arm(10**9, 6e8, 6e8), Arm(10**9, 3e8, 3e8))
    found = question.cheapest(pair)
    assert found.budget > 2**17
    splits = range(0, int(found.budget) + 1, 1_999_993)
    assert all(stands(pair, float(a), found.budget - a) for a in splits)
    assert stands(pair, found.budget, 0.0)
    assert not stands(pair, found.on_winner, found.on_rival)
    cost = found.on_winner + found.on_rival
    assert cost - found.budget <= 2 * np.ceil(cost / 2**17) + 2
