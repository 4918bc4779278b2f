"""Certificates against brute force over all splits, SciPy's intervals and simulated attacks."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import naive
from vambrace.audit import limits, splits
from vambrace.audit.certificate import Certificate, certify_counts
from vambrace.audit.limits import DESIGNS, THREATS, Arm, Design, Threat
from vambrace.errors import InvalidParameter
from vambrace.kernels import compiled
from vambrace.statistics import lower_limit

FALSE_ALARM = 1e-3  # of each statistical test
SETTINGS = list(itertools.product(THREATS, DESIGNS, (True, False)))


def logs(seed: int, size: int, largest: int, *, binary: bool) -> list[tuple[list[int], list[float], float]]:
    """Small logs whose means differ much, so that many winners are certified: events, totals, delta."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        n_arms = int(rng.integers(2, 5))
        events = rng.integers(1, largest + 1, n_arms)
        rates = rng.choice([0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0], n_arms)
        totals = rng.binomial(events, rates).astype(float)
        if not binary:
            totals = np.minimum(totals + np.round(rng.random(n_arms), 2), events)
        delta = float(rng.choice([0.01, 0.2, 0.7, 0.999]))
        found.append((events.tolist(), totals.tolist(), delta))
    return found


def budget_of(found: Certificate) -> int | float:
    assert found.budget is not None
    return found.budget


def compare(log: naive.Log) -> int:
    """The number of rivals that were ruled out, all of them with the budget of brute force."""
    options: dict[str, Any] = {"threat": log.threat, "design": log.design, "binary": log.binary}
    found = certify_counts(log.events, log.totals, delta=log.delta, **options)
    winner = log.winner()
    assert found.winner == f"arm {winner}"
    assert found.events == sum(log.events)
    rivals = [k for k in range(len(log.events)) if k != winner]
    budgets = [log.budget(k) for k in rivals]
    assert [rival.label for rival in found.rivals] == [f"arm {k}" for k in rivals]
    known = [None if budget < 0 else budget for budget in budgets]
    assert [rival.budget for rival in found.rivals] == known, log
    assert found.certified == (min(budgets) >= 0)
    assert found.budget == (min(budgets) if found.certified else None)
    for budget in range(max(budgets) + 2):
        may_win = [k for k, largest in zip(rivals, budgets, strict=True) if largest < budget]
        assert found.not_ruled_out(budget) == (found.winner, *(f"arm {k}" for k in may_win))
    return sum(budget >= 0 for budget in budgets)


@pytest.mark.parametrize(("threat", "design", "binary"), [each for each in SETTINGS if each[2] or each[0] != "alter"])
def test_budgets_are_those_of_brute_force(threat: Threat, design: Design, binary: bool) -> None:
    ruled_out = 0
    for events, totals, delta in logs(1, 500, 12, binary=binary) + logs(2, 170, 36, binary=binary):
        ruled_out += compare(naive.Log(events, totals, delta, threat, design, binary))
    assert ruled_out > (20 if design == "adaptive" else 200)


@pytest.mark.parametrize("design", DESIGNS)
def test_real_budgets_are_those_of_a_fine_grid(design: Design) -> None:
    certified = 0
    for events, totals, delta in logs(3, 70, 60, binary=False):
        log = naive.Log(events, totals, delta, "alter", design, False)
        found = certify_counts(events, totals, delta=delta, design=design, binary=False)
        for rival in found.rivals:
            k = int(rival.label.removeprefix("arm "))
            if not log.separated(k, 0.0, 0.0):
                assert rival.budget is None
                assert rival.label in found.not_ruled_out(0)
                continue
            assert rival.budget is not None
            certified += 1
            shares = np.linspace(0.0, 1.0, 51)
            assert all(log.separated(k, share * rival.budget, (1 - share) * rival.budget) for share in shares)
            more = rival.budget + 0.02
            assert not all(log.separated(k, share * more, (1 - share) * more) for share in shares)
    assert certified > 20


def test_the_real_budget_where_it_is_known() -> None:
    # mirror images: by convexity half of the budget goes to each arm, and the limits meet at one half
    budget = budget_of(certify_counts([100, 100], [90, 10], design="fixed", binary=False))
    mean, level = 0.9 - budget / 200, math.log(0.05 / 4)
    divergence = mean * math.log(2 * mean) + (1 - mean) * math.log(2 * (1 - mean))
    assert -100 * divergence == pytest.approx(level, abs=1e-8)
    assert -100 * divergence < level  # it still stands there


def brute_cost(criterion: limits.Criterion, winner: Arm, rival: Arm, last: int) -> float:
    """The least whole cost, one look at each cost of the winner: nothing is taken for convex."""
    limit, least = compiled(limits.lower_limit, {}), compiled(limits.least_whole_cost, {})
    return min(a + least(criterion, rival, 1.0 - limit(criterion, winner, float(a))) for a in range(last + 1))


@pytest.mark.parametrize(("threat", "design", "exact"), SETTINGS)
def test_the_search_misses_no_split_of_larger_logs(threat: Threat, design: Design, exact: bool) -> None:
    rng = np.random.default_rng(4)
    attack = compiled(splits.cheapest_attack, {})
    for _ in range(60):
        criterion = limits.make_criterion(
            int(rng.integers(2, 6)), float(rng.choice([0.01, 0.9])), threat, design, exact=exact
        )
        n_w, n_j = (float(round(n)) for n in np.exp(rng.uniform(math.log(20), math.log(1500), 2)))
        s_w, z_j = round(n_w * rng.choice([1.0, 0.95, 0.7, 0.4])), round(n_j * rng.choice([1.0, 0.99, 0.9, 0.75]))
        winner, rival = Arm(float(s_w), n_w), Arm(float(z_j), n_j)
        cost = attack(criterion, winner, rival, True)
        assert cost == (brute_cost(criterion, winner, rival, int(cost)) if cost else 0.0), (winner, rival, criterion)


@pytest.mark.parametrize(("threat", "design", "exact"), SETTINGS)
def test_undoing_more_never_helps_the_winner(threat: Threat, design: Design, exact: bool) -> None:
    criterion = limits.make_criterion(2, 0.999, threat, design, exact=exact)  # the boldest levels that there are
    limit = compiled(limits.lower_limit, {})
    for n in (1, 2, 3, 4, 5, 7, 10, 20, 50, 100):
        for successes in range(n + 1):
            for part in (0.0,) if exact else (0.0, 0.01, 0.5, 0.99):
                arm = Arm(max(successes - part, 0.0), float(n))
                limits_ = [limit(criterion, arm, float(cost)) for cost in range(n + 1)]
                assert all(later <= earlier for earlier, later in itertools.pairwise(limits_)), (arm, limits_)


@settings(max_examples=300)
@given(st.integers(1, 10**7), st.floats(0, 1), st.floats(1e-12, 0.99), st.integers(2, 50), st.sampled_from(DESIGNS))
def test_exact_intervals_are_those_of_scipy(n: int, share: float, delta: float, n_arms: int, design: Design) -> None:
    successes = round(share * n)
    found = certify_counts([n] * n_arms, [successes] * n_arms, delta=delta, design=design)
    tail = delta / (2 * n_arms) * (6 / (math.pi * n) ** 2 if design == "adaptive" else 1.0)
    low = stats.beta.ppf(tail, successes, n - successes + 1) if successes else 0.0
    high = 1 - stats.beta.ppf(tail, n - successes, successes + 1) if successes < n else 1.0
    for got in ((found.winner_low, found.winner_high), (found.rivals[0].low, found.rivals[0].high)):
        assert got == pytest.approx((low, high), rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("threat", THREATS)
def test_the_compiled_form_is_the_interpreted_one(threat: Threat, binary: bool) -> None:
    criterion = limits.make_criterion(2, 0.05, threat, "fixed", exact=binary)
    arguments = (criterion, Arm(70.0, 90.0), Arm(100.0, 120.0), binary or threat != "alter")
    assert splits.cheapest_attack(*arguments) == pytest.approx(compiled(splits.cheapest_attack, {})(*arguments), 1e-12)


@pytest.mark.parametrize(("threat", "design", "binary"), SETTINGS)
def test_more_evidence_and_more_risk_raise_the_budget(threat: Threat, design: Design, binary: bool) -> None:
    events, totals = np.array([900, 1000, 700]), np.array([500, 900, 200])

    def budget(scale: int, delta: float) -> float:
        options: dict[str, Any] = {"threat": threat, "design": design, "binary": binary}
        return budget_of(certify_counts((scale * events).tolist(), (scale * totals).tolist(), delta=delta, **options))

    assert 0 < budget(1, 0.001) < budget(1, 0.05) < budget(1, 0.5)
    for scale in (2, 10, 1000):
        assert budget(scale, 0.05) > scale * budget(1, 0.05)  # the radii shrink besides


def test_ten_million_events_are_no_obstacle() -> None:
    for threat, design, binary in SETTINGS:
        found = certify_counts([10**7] * 3, [6e6, 3e6, 1e6], threat=threat, design=design, binary=binary)
        # without radii: (0.6 - 0.3) n altered; 1 / 0.7 as many injected; n / 0.45 * 0.6 ... the radii take little
        plain = {"alter": 3e6, "inject": 3e6 / 0.7, "suppress": 1e7 * ((math.sqrt(0.6) + math.sqrt(0.7)) ** 2 - 2)}
        assert 0.98 * plain[threat] < budget_of(found) < plain[threat]


# ------------------------------------------------------------------------------------------------- coverage


def attacked(rng: np.random.Generator, totals: list[int], events: list[int], budget: int) -> list[int]:
    """The totals after so many rewards were altered in favour of the second arm, in a random split."""
    from_first = min(int(rng.integers(budget + 1)), totals[0])
    return [totals[0] - from_first, min(totals[1] + budget - from_first, events[1])]


@pytest.mark.parametrize("design", DESIGNS)
def test_an_attack_within_the_budget_certifies_no_wrong_arm(design: Design) -> None:
    delta, budget, runs, wrong, misled = 0.3, 15 if design == "fixed" else 32, 3000, 0, 0
    rng = np.random.default_rng(5)
    for _ in range(runs):
        events = [60, 60]
        totals = attacked(rng, rng.binomial(events, [0.501, 0.5]).tolist(), events, budget)
        found = certify_counts(events, totals, delta=delta, design=design)
        misled += found.certified and found.winner == "arm 1"
        wrong += found.certified and found.winner == "arm 1" and budget_of(found) >= budget
    assert lower_limit(wrong, runs, FALSE_ALARM) <= delta
    assert misled > runs / 2  # the attack would have succeeded, had it been ignored


@pytest.mark.parametrize("threat", ["inject", "suppress"])
def test_a_fixed_design_stays_honest_where_the_attack_changes_the_size_of_the_log(threat: Threat) -> None:
    """Exactly: every genuine log of 20 events an arm, and every attack of at most 8 by one who has seen it all.

    Most harmful are successes added to the second arm and failures added to the first, or the reverse taken away.
    """
    n, budget, delta = 20, 8, 0.3
    wrong, misled = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    attacks = [(first, second) for first in range(budget + 1) for second in range(budget + 1 - first)]
    for won, (first, second) in itertools.product(itertools.product(range(n + 1), repeat=2), attacks):
        if threat == "inject":
            events, totals = [n + first, n + second], [won[0], won[1] + second]
        else:
            events, totals = [n - first, n - second], [won[0] - first, won[1]]
        if totals[0] < 0 or not totals[0] / events[0] < totals[1] / events[1] <= 1:
            continue
        found = certify_counts(events, totals, delta=delta, threat=threat, design="fixed")
        misled[won] = max(misled[won], found.certified)
        wrong[won] = max(wrong[won], found.certified and budget_of(found) >= budget)
    chances = [stats.binom.pmf(np.arange(n + 1), n, mean) for mean in np.linspace(0.02, 0.98, 49)]
    for k, best in enumerate(chances):
        assert max(best @ wrong @ other for other in chances[: k + 1]) <= delta
    assert max(chance @ misled @ chance for chance in chances) > delta  # had the attack been ignored


def ucb1_log(rng: np.random.Generator, means: list[float], horizon: int, budget: int) -> list[Any]:
    """Events and totals after each round of UCB1; the first rewards that speak for the first arm are altered."""
    events, totals, history = [0, 0], [0, 0], []
    for t in range(horizon):
        index = [
            totals[k] / events[k] + math.sqrt(2 * math.log(t) / events[k]) if events[k] else math.inf for k in (0, 1)
        ]
        arm = index.index(max(index))
        reward = int(rng.random() < means[arm])
        if budget and reward == 1 - arm:
            reward, budget = arm, budget - 1
        events[arm] += 1
        totals[arm] += reward
        history.append((events.copy(), totals.copy()))
    return history


def test_peeking_at_a_bandit_after_every_event_certifies_no_wrong_arm() -> None:
    delta, budget, runs, wrong, misled = 0.3, 25, 120, 0, 0
    rng = np.random.default_rng(6)
    for _ in range(runs):
        found = [
            certify_counts(events, totals, delta=delta)
            for events, totals in ucb1_log(rng, [0.51, 0.5], 300, budget)
            if min(events) > 0 and totals[1] * events[0] > totals[0] * events[1]
        ]
        misled += any(each.certified for each in found)
        wrong += any(each.certified and budget_of(each) >= budget for each in found)
    assert lower_limit(wrong, runs, FALSE_ALARM) <= delta
    assert misled > runs / 2


# -------------------------------------------------------------------------------------------- what it says


def sentence(events: list[int], totals: list[float], **options: Any) -> str:
    return str(certify_counts(events, totals, ["A", "B", "C"][: len(events)], **options))


def test_one_plain_sentence() -> None:
    events, totals = [50_000, 40_000, 8_204], [5_000.0, 6_000.0, 100.0]
    found = certify_counts(events, totals, ["A", "B", "C"])
    fakes = budget_of(found) + 1
    assert str(found) == f"B beats every other arm unless at least {fakes:,} of the 98,204 events were altered."
    assert fakes > 800
    assert "98,204 events were injected." in sentence(events, totals, threat="inject")
    assert "events were suppressed beside the 98,204 that are known." in sentence(events, totals, threat="suppress")
    real = certify_counts(events, totals, ["A", "B", "C"], binary=False)
    said = "B beats every other arm unless the rewards of the 98,204 events were altered by more than "
    assert str(real).startswith(said)
    assert str(real).endswith(" in total.")
    total = float(str(real).removeprefix(said).removesuffix(" in total.").replace(",", ""))
    assert budget_of(real) - 0.01 < total <= budget_of(real)


def test_a_single_event_may_overturn_a_certificate() -> None:
    assert sentence([20, 20], [2, 12]) == "No arm is certified: even without fake events B is not separated from A."
    ending: dict[Threat, str] = {
        "alter": "1 of the 40 events was altered.",
        "inject": "1 of the 40 events was injected.",
    }
    ending["suppress"] = "1 event was suppressed beside the 40 that are known."
    for threat, end in ending.items():
        found = certify_counts([20, 20], [3, 14], threat=threat, design="fixed")
        assert (found.certified, found.budget) == (True, 0)
        assert str(found) == f"arm 1 beats every other arm unless at least {end}"
        assert found.not_ruled_out(0) == ("arm 1",)
        assert found.not_ruled_out(0.9) == ("arm 1",)
        assert found.not_ruled_out(1) == ("arm 1", "arm 0")


def test_what_is_not_certified() -> None:
    said = "No arm is certified: even without fake events B is not separated from A, C."
    assert sentence([100, 100, 100], [50, 53, 51]) == said
    assert sentence([100, 100, 100], [50, 53, 51], threat="inject") == said
    assert sentence([100, 100, 100], [50, 53, 51], threat="suppress") == said.replace(
        "without fake events", "if no event was suppressed"
    )
    assert sentence([100, 200, 100], [50, 100, 0]) == "No arm is certified: A and B share the largest mean."
    assert sentence([3, 3, 3], [1, 1, 1]) == "No arm is certified: A, B and C share the largest mean."
    found = certify_counts([1000, 1000, 1000], [500, 510, 10])
    assert (found.winner, found.certified, found.budget) == ("arm 1", False, None)
    assert [rival.budget is None for rival in found.rivals] == [True, False]
    assert json.loads(json.dumps(found.to_dict()))["budget"] is None


def test_a_tie_of_the_limits_is_not_certified() -> None:
    # 6 of 6 and 0 of 6 at level 1 / 64: both limits are one half
    found = certify_counts([6, 6], [6, 0], delta=1 / 16, design="fixed")
    assert found.winner_low == pytest.approx(0.5)
    assert not found.certified
    assert certify_counts([6, 6], [6, 0], delta=1 / 15.9, design="fixed").certified


def test_an_arm_whose_events_may_all_be_made_up_may_have_any_mean() -> None:
    found = certify_counts([5, 100_000], [5, 0], threat="inject")
    assert (found.certified, found.budget) == (True, 4)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("threat", THREATS)
def test_the_steps_are_where_the_set_changes(threat: Threat, binary: bool) -> None:
    found = certify_counts(
        [900, 1000, 700, 300, 700], [830, 900, 200, 50, 200], threat=threat, binary=binary, design="fixed"
    )
    steps = found.ruled_out_steps()
    assert steps[0][0] == 0
    assert [budget for budget, _ in steps] == sorted({budget for budget, _ in steps})
    for budget, labels in steps:
        assert found.not_ruled_out(budget) == labels
    for (budget, labels), (_, before) in zip(steps[1:], steps, strict=False):
        assert set(before) < set(labels)
        assert found.not_ruled_out(budget - (1 if binary or threat != "alter" else 2e-9)) == before
    assert set(steps[-1][1]) == {found.winner, *(rival.label for rival in found.rivals)}
    joined: set[str] = set()
    for (budget, labels), (same, joining) in zip(steps, found.joining(), strict=True):
        joined |= {*joining}
        assert (budget, {*labels}) == (same, joined)
    assert len(steps[-1][1]) == 5


def test_the_closest_rivals_are_those_that_bind() -> None:
    found = certify_counts([9000, 9000, 40, 9000], [8000, 4000, 1, 100], ["w", "big", "small", "hopeless"])
    assert [rival.label for rival in sorted(found.rivals, key=lambda rival: rival.budget or 0)] == [
        "small",
        "big",
        "hopeless",
    ]
    assert [[rival.label for rival in found.closest(n)] for n in (2, 3, 9)] == [
        ["small"],
        ["big", "small"],
        ["big", "small", "hopeless"],
    ]


@pytest.mark.parametrize("binary", [True, False])
def test_a_certificate_is_ready_for_json(binary: bool) -> None:
    found = certify_counts([900, 1000], [100, 900], ["A", "B"], binary=binary)
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert read["winner"] == "B"
    assert read["budget"] == found.budget == read["rivals"][0]["budget"]
    assert read["verdict"] == str(found)
    assert read["steps"][0] == {"budget": 0, "joining": ["B"]}
    assert [step["joining"] for step in read["steps"]] == [["B"], ["A"]]


def test_an_impossible_budget_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"expected .+, got "):
        certify_counts([9, 8], [1, 8]).not_ruled_out(-1)
