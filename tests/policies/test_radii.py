"""The three radii: kl bounds, and stretches in which nothing can fall."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from vambrace.policies.radii import KL, PAPER, TIGHT, Rule, kl, kl_upper, narrowest, quiet_sweeps, separated


@given(st.floats(0, 1), st.floats(1e-6, 20))
def test_kl_upper_is_the_oracles(mean: float, level: float) -> None:
    assert kl_upper(mean, level) == pytest.approx(naive.kl_upper(mean, level), abs=1e-9)


@given(st.floats(0, 1), st.floats(0, 1))
def test_kl_is_the_oracles(p: float, q: float) -> None:
    assert kl(p, q) == pytest.approx(naive.kl(p, q), rel=1e-12, abs=1e-300)


rules = st.builds(
    lambda radius, log_term, budget: Rule(radius, log_term + 0.7, log_term, 2 * log_term, budget),
    st.sampled_from([PAPER, TIGHT, KL]),
    st.floats(0.5, 30),
    st.sampled_from([0.0, 0.5, 3.0, 50.0]),
)


@given(rules, st.integers(1, 500), st.floats(0, 1), st.floats(0, 1), st.data())
def test_nothing_can_fall_in_quiet_sweeps(rule: Rule, count: int, high: float, low: float, data: Any) -> None:
    """Whatever rewards in [0, 1] come, no pair separates before the bound; the extreme ones are tried at each sweep."""
    high, low = max(high, low) * count, min(high, low) * count
    assume(not separated(rule, high, count, low, count))
    quiet = quiet_sweeps(rule, high, low, count)
    for ahead in {1, 2, 3, quiet // 2, quiet - 1, quiet, data.draw(st.integers(0, min(quiet, 10**6)))}:
        if 0 < ahead <= min(quiet, 10**9):
            assert not separated(rule, high + ahead, count + ahead, low, count + ahead)
            gain, loss = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
            assert not separated(rule, high + gain * ahead, count + ahead, low + loss * ahead, count + ahead)


@given(rules, st.integers(1, 500), st.floats(0, 1), st.floats(0, 1))
def test_the_bound_is_not_idle(rule: Rule, count: int, high: float, low: float) -> None:
    """For the best case of a drop it is within a factor of what is possible: four times as many sweeps do drop."""
    high, low = max(high, low) * count, min(high, low) * count
    assume(not separated(rule, high, count, low, count))
    quiet = quiet_sweeps(rule, high, low, count)
    later = 100 * (count + quiet + 10 * rule.budget + 10 * rule.log_single)
    assert separated(rule, high + later, int(count + later), low, int(count + later))


@given(rules, st.lists(st.integers(1, 400), min_size=2, max_size=5))
def test_no_pair_needs_less_than_the_narrowest_width(rule: Rule, counts: list[int]) -> None:
    """Means that differ by a little less separate no pair; by ten times as much, they do at the two largest counts."""
    *_, second, most = sorted(counts)
    width = narrowest(rule, most, second)
    for i, count in enumerate(counts):
        for other in counts[:i] + counts[i + 1 :]:
            assert not separated(rule, (1 - 1e-9) * width * count, count, 0.0, other)
    assert rule.radius == KL or separated(rule, 10 * width * most, most, 0.0, second)


@given(
    st.floats(0.5, 30), st.sampled_from([0.0, 0.5, 3.0, 50.0]), st.integers(1, 4000), st.integers(1, 4000), st.data()
)
def test_the_kl_rule_is_the_oracles(log_term: float, budget: float, high_count: int, low_count: int, data: Any) -> None:
    rule = Rule(KL, log_term, 0.0, 0.0, budget)
    high = data.draw(st.integers(0, high_count))
    low = data.draw(st.integers(0, low_count))
    ours = separated(rule, float(high), high_count, float(low), low_count)
    assert ours == naive.beats_kl(high / high_count, high_count, low / low_count, low_count, log_term, budget)
