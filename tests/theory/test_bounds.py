"""Bounds as functions: the numbers, the steps of their proofs, and what they must not be confused with."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vambrace as vb
from vambrace import theory
from vambrace.errors import InvalidParameter, UnknownName

positive_gaps = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=8)


def test_se_wr_by_hand() -> None:
    """K = 3, T = 10^4, delta = 0.1, C = 7: L = ln(2 * 3 * 10^4 / 0.1) = ln 600,000."""
    bound = theory.se_wr([0.5, 0.25], horizon=10_000, budget=7, delta=0.1)
    level = math.log(600_000)
    assert bound.value == pytest.approx(36 * level * 2 + 36 * level * 4 + 2 * 42 + 3)
    assert bound.explicit
    assert theory.se_wr([0.5], horizon=100, budget=0).value == pytest.approx(36 * math.log(2 * 100**2) / 0.5 + 2)


@given(st.floats(1e-3, 1.0), st.floats(0.0, 1e6), st.integers(2, 10**12))
def test_an_arm_is_gone_at_the_number_of_pulls_behind_the_bound(gap: float, budget: float, horizon: int) -> None:
    """Erratum E1: with 36 and 6 elimination is certain, and with the tight radius at 9 and 3."""
    for radius, width, share, factor in (("paper", 36.0, 6.0, 4.0), ("tight", 9.0, 3.0, 2.0)):
        bound = theory.se_wr([gap], horizon=horizon, budget=budget, radius=radius)
        pulls = (bound.value - 2) / gap  # K = 2
        level = math.log(2 * horizon**2) if radius == "paper" else math.log(horizon**2)
        assert pulls == pytest.approx(width * level / gap**2 + share * budget / gap)
        assert factor * (math.sqrt(level / pulls) + budget / pulls) <= 5 / 6 * gap * (1 + 1e-9)


@given(positive_gaps, st.integers(100, 10**9), st.floats(0, 1e5))
def test_gap_free_bounds_are_never_better_than_the_gap_dependent_one_allows(
    gaps: list[float], horizon: int, budget: float
) -> None:
    """Whatever the gaps: min(gap-dependent, T times the largest gap below e + ...) is at most the gap-free bound."""
    n_arms = len(gaps) + 1
    level = math.log(2 * horizon**2)
    for free in (
        theory.se_wr_additive(n_arms, horizon=horizon, budget=budget),
        theory.se_wr_multiplicative(n_arms, horizon=horizon, budget=budget),
    ):
        cost = [36 * level / gap + 6 * budget for gap in gaps]
        # the worst split of T rounds among arms that are each pulled at most cost / gap times
        left, regret = float(horizon), float(n_arms)
        for gap, most in sorted(zip(gaps, cost, strict=True), reverse=True):
            pulls = min(left, most / gap)
            left, regret = left - pulls, regret + gap * pulls
        assert regret <= free.value * (1 + 1e-12)


@pytest.mark.parametrize(("n_arms", "budget", "expected"), [(10, 100, 400), (4, 2.9, 2), (5, 7, 7), (11, 3, 12)])
def test_concealment(n_arms: int, budget: float, expected: float) -> None:
    bound = theory.concealment(n_arms, horizon=10**6, budget=budget)
    assert (bound.value, bound.explicit, bound.kind) == (expected, True, "lower")


def test_concealment_needs_arms_and_rounds() -> None:
    """E14: K >= 4, and enough rounds to hide in."""
    assert theory.concealment(3, horizon=10**6, budget=100).value == 0
    assert theory.concealment(10, horizon=499, budget=100).value == 0
    assert theory.concealment(10, horizon=500, budget=100).value == 400
    assert "does not apply" in theory.concealment(10, horizon=499, budget=100).holds


def test_concealment_with_small_rewards_counts_pulls_exactly() -> None:
    """floor(C/e): 0.3 / 0.1 is three pulls to a reader and two to floats, and the reward of 0.1 is a bit more."""
    assert theory.concealment(4, horizon=10**6, budget=0.3, reward=0.1).value == pytest.approx(0.2)
    assert theory.concealment(4, horizon=10**6, budget=0.5, reward=0.25).value == 0.5


def test_lai_robbins_has_the_true_constant() -> None:
    """E13: at most the sum of 1 / (2 gap), and the sum of gap / kl for Bernoulli arms."""
    means = [0.9, 0.8, 0.1]
    expected = sum(
        (0.9 - p) / (p * math.log(p / 0.9) + (1 - p) * math.log((1 - p) / 0.1)) for p in (0.8, 0.1)
    ) * math.log(1000)
    assert theory.distribution_dependent(means, horizon=1000).value == pytest.approx(expected)
    assert expected <= math.log(1000) * (1 / (2 * 0.1) + 1 / (2 * 0.8))


def test_orders_are_marked_as_such() -> None:
    for policy in ("se-wr-stop", "pe-wr", "ms-se-wr"):
        promised = [b for b in theory.bounds(policy, gaps=[0.1] * 3, horizon=10**6, budget=50) if b.kind == "upper"]
        assert len(promised) == 2
        assert not any(bound.explicit for bound in promised)
        assert all("order" in bound.holds for bound in promised)


def test_pe_wr_by_hand() -> None:
    """K = 4, T = 10^4, delta = 0.1, C = 7: the caps cost sqrt(T) ln T as printed and sqrt(K T) ln T as repaired."""
    root, log_t = math.sqrt(4 * 10**4 * math.log(4 * math.log(10**4) / 0.1)), math.log(10**4)
    printed = root + 100 * log_t + 4 * 7 * log_t + 4 * 49
    corrected = root + 200 * log_t + 4 * 7 * log_t + 49
    found = [theory.pe_wr(4, horizon=10**4, budget=7, delta=0.1, corrected=c).value for c in (False, True)]
    assert found == pytest.approx([printed, corrected])


def test_masters_as_the_erratum_has_them() -> None:
    """E2: CORRAL linear in C at sqrt(T), EXP3.P sqrt(C) at T^(2/3)."""
    corral, exp3p = (
        {c: theory.ms_se_wr(4, horizon=10**6, budget=c, master=m).value for c in (10, 40)} for m in ("corral", "exp3p")
    )
    assert corral[40] == 4 * corral[10] == pytest.approx(160_000)
    assert exp3p[40] == pytest.approx(2 * exp3p[10])
    assert theory.ms_se_wr(4, horizon=10**6, budget=0).value > 0, "C is read as max(C, 1) (E15)"


def test_se_promises_nothing_against_an_attacker() -> None:
    assert [b.kind for b in theory.bounds("se", gaps=[0.1], horizon=1000, budget=1)] == ["lower"] * 3
    assert theory.bounds("se", gaps=[0.1], horizon=1000)[0].value == theory.se_wr([0.1], horizon=1000, budget=0).value


def test_an_arm_as_good_as_the_best_costs_nothing_and_is_counted() -> None:
    """K = 3, T = 1000, delta = 0.1, C = 7: the level is ln(2 K T / delta) with all three arms."""
    bound = theory.se_wr([0.0, 0.5], horizon=1000, budget=7, delta=0.1)
    assert bound.value == pytest.approx(36 * math.log(2 * 3 * 1000 / 0.1) / 0.5 + 6 * 7 + 3)
    (first, *_) = theory.promises(vb.SEWR(budget=7, delta=0.1), [0.0, 0.5], horizon=1000, budget=7)
    assert first == bound


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        (vb.SEWR(budget=50), ["SE-WR, gap-dependent", "SE-WR, gap-free, additive", "SE-WR, gap-free, multiplicative"]),
        (vb.SEWR(budget=50, radius="tight"), ["SE-WR, gap-dependent, radius tight"]),
        (vb.SEWR(budget=50, radius="kl"), []),
        (vb.SEWR(budget=49), []),
        (vb.SE(), []),
        (vb.SEWRStop(budget=50, stop="multiplicative"), ["SE-WR-Stop, multiplicative"]),
        (vb.PEWR(), ["PE-WR as printed", "PE-WR with correct book-keeping"]),
        (vb.MSSEWR(master="exp3p"), ["MS-SE-WR, EXP3.P"]),
        (vb.UCB1(), []),
    ],
)
def test_a_policy_has_the_bounds_of_its_parameters(policy: vb.Policy, names: list[str]) -> None:
    found = theory.promises(policy, [0.1, 0.2], horizon=10**6, budget=50)
    assert [bound.name for bound in found] == names


@pytest.mark.parametrize(
    ("spec", "policies"),
    [
        ("se-wr", [vb.SEWR(budget=50), vb.SEWR(budget=50, radius="tight")]),
        ("se-wr:radius=tight", [vb.SEWR(budget=50, radius="tight")]),
        ("se-wr:budget=60,delta=0.2", [vb.SEWR(budget=60, delta=0.2)]),
        ("ms-se-wr:master=exp3p", [vb.MSSEWR(master="exp3p")]),
        ("ucb1", []),
    ],
)
def test_a_spec_says_which_policy_is_meant(spec: str, policies: list[vb.Policy]) -> None:
    instance: dict[str, Any] = {"horizon": 10**6, "budget": 50.0}
    promised = [bound for policy in policies for bound in theory.promises(policy, [0.1, 0.2], **instance)]
    found = theory.bounds(spec, gaps=[0.1, 0.2], **instance)
    assert [bound for bound in found if bound.kind == "upper"] == promised
    assert [bound.name for bound in found[len(promised) :]] == [
        "concealment",
        "minimax",
        "price of armour, nobody attacks",
    ]


def test_without_a_budget_the_attacker_spends_what_the_policy_is_given() -> None:
    promised = theory.se_wr([0.1], horizon=10**5, budget=30)
    assert theory.bounds("se-wr:budget=30", gaps=[0.1], horizon=10**5)[0] == promised
    assert theory.bounds(vb.SEWR(budget=30), gaps=[0.1], horizon=10**5)[0] == promised
    assert [b.kind for b in theory.bounds("se-wr:budget=30", gaps=[0.1], horizon=10**5, budget=31)] == ["lower"] * 3
    assert theory.bounds("pe-wr", gaps=[0.1], horizon=10**5) == theory.bounds(
        "pe-wr", gaps=[0.1], horizon=10**5, budget=0
    )


def test_the_catalogue_passes_on_what_it_is_told() -> None:
    found = theory.bounds("se-wr", gaps=[0.1, 0.3], horizon=10**5, budget=20, delta=0.01, best_mean=0.9)
    names = [bound.name for bound in found]
    assert names[0] == "SE-WR, gap-dependent"
    assert names[-1] == "Lai and Robbins"
    assert found[0] == theory.se_wr([0.1, 0.3], horizon=10**5, budget=20, delta=0.01)
    assert found[-1].value == pytest.approx(theory.distribution_dependent([0.9, 0.8, 0.6], horizon=10**5).value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gaps": []}, "gaps: expected the gaps"),
        ({"gaps": [-0.1]}, r"gaps\[0\]: expected a number in \[0, 1\], got -0.1"),
        ({"gaps": "0.1"}, "gaps: expected the gaps"),
        ({"horizon": 1}, "horizon: expected at least one round"),
        ({"budget": -1}, "budget: expected"),
        ({"delta": 2}, "delta: expected"),
        ({"best_mean": 0.05}, "best_mean: expected a number in"),
    ],
)
def test_bad_instances(changed: dict[str, Any], message: str) -> None:
    instance: dict[str, Any] = {"gaps": [0.1], "horizon": 100, "budget": 1}
    with pytest.raises(InvalidParameter, match=message):
        theory.bounds("se-wr", **(instance | changed))


def test_unknown_policies() -> None:
    with pytest.raises(UnknownName, match="did you mean 'se-wr'"):
        theory.bounds("se_wr", gaps=[0.1], horizon=100)


# ------------------------------------------------------------------------------------------------------------ exponents


def test_crossings_are_the_ones_of_the_figure() -> None:
    assert theory.crossing("corral", "exp3p") == (Fraction(1, 3), Fraction(5, 6))
    assert theory.crossing("exp3p", "additive") == (Fraction(4, 9), Fraction(8, 9))
    assert theory.crossing("additive", "corral") == (Fraction(1, 2), Fraction(1))
    with pytest.raises(InvalidParameter, match="two different kinds"):
        theory.crossing("corral", "corral")


@pytest.mark.parametrize("kind", ["additive", "corral", "exp3p"])
def test_exponents_are_those_of_the_bounds(kind: str) -> None:
    """The slope of ln bound in ln T at C = T^beta, at horizons where logarithms no longer matter."""
    for beta in np.linspace(0, 0.48, 7):
        values = []
        for power in (200, 220):
            horizon = 10**power
            budget = 10.0 ** (power * beta)
            if kind == "additive":
                value = math.sqrt(2.0) * 10.0 ** (power / 2) + 2 * budget + budget**2
            else:
                value = theory.ms_se_wr(2, horizon=horizon, budget=budget, master=kind).value
            values.append(math.log10(value))
        assert (values[1] - values[0]) / 20 == pytest.approx(theory.exponent(kind, float(beta)), abs=0.02)


def test_exponents_are_at_most_one() -> None:
    assert theory.exponent("corral", 0.9) == 1


def test_least_powers() -> None:
    assert theory.least_power(2 / 3, form="additive") == pytest.approx(1.5)
    assert theory.least_power(2 / 3, form="multiplicative") == pytest.approx(0.5)
    with pytest.raises(InvalidParameter, match="alpha: expected"):
        theory.least_power(0.4, form="additive")


def test_lai_robbins_keeps_its_digits_at_tiny_gaps() -> None:
    """Where gap / kl is 2 q (1 - q) / gap to all digits."""
    for gap in (1e-4, 1e-6, 1e-8, 1e-12):
        value = theory.bounds("se-wr", gaps=[gap], horizon=10**6, best_mean=0.5)[-1].value
        assert value == pytest.approx(math.log(10**6) * 0.5 / gap, rel=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.se_wr([0.1], horizon=100, budget=1, radius="kl"),
        lambda: theory.se_wr([-0.1], horizon=100, budget=1),
        lambda: theory.se_wr([0.1], horizon=100, budget=-1),
        lambda: theory.se_wr([0.1], horizon=100, budget=1, delta=5),
        lambda: theory.se_wr_stop(2, horizon=100, budget=1, stop="addtive"),
        lambda: theory.ms_se_wr(2, horizon=100, budget=1, master="corrall"),
        lambda: theory.pe_wr(2, horizon=1, budget=1),
        lambda: theory.concealment(8, horizon=100, budget=3, reward=3),
        lambda: theory.minimax(-4, horizon=100, budget=3),
        lambda: theory.crossing("additive", "additive"),
    ],
)
def test_every_function_checks_what_it_is_told(call: Any) -> None:
    with pytest.raises((InvalidParameter, UnknownName), match=r"expected|unknown"):
        call()
