"""Certificates: the figures that are known, error rates under attack, and what they say."""

import itertools
import json
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

from vambrace.audit.certificate import Certificate, certify_counts
from vambrace.audit.questions import DESIGNS, THREATS, Design, Threat
from vambrace.errors import InvalidParameter
from vambrace.statistics import lower_limit

FALSE_ALARM = 1e-3  # of each statistical test
SETTINGS = list(itertools.product(THREATS, DESIGNS, (True, False)))


def budget_of(found: Certificate) -> int | float:
    assert found.budget is not None
    return found.budget


@pytest.mark.parametrize(
    ("events", "totals", "design", "budget"),
    [
        (50_000, [600, 1000], "fixed", 327),
        (50_000, [600, 1000], "adaptive", 177),
        (10_000, [200, 400], "fixed", 154),
        (10_000, [200, 400], "adaptive", 72),
    ],
)
def test_figures_that_are_known(events: int, totals: list[int], design: Design, budget: int) -> None:
    found = certify_counts([events, events], totals, design=design)
    assert found.budget == budget
    assert found.overturned_at == totals[1] - totals[0]
    assert found.share_of_winner == pytest.approx(budget / totals[1])
    assert found.share_of_events == pytest.approx(budget / (2 * events))


@pytest.mark.parametrize(("threat", "design", "binary"), SETTINGS)
def test_more_evidence_and_more_risk_raise_the_budget(threat: Threat, design: Design, binary: bool) -> None:
    events, totals = np.array([900, 1000, 700]), np.array([500, 900, 200])

    def budget(scale: int, delta: float) -> float:
        options: dict[str, Any] = {"threat": threat, "design": design, "binary": binary}
        return budget_of(certify_counts((scale * events).tolist(), (scale * totals).tolist(), delta=delta, **options))

    assert 0 < budget(1, 0.001) < budget(1, 0.05) < budget(1, 0.5)
    for scale in (2, 10, 1000) if binary else (2,):
        assert budget(scale, 0.05) > scale * budget(1, 0.05)  # chance matters less in a larger log


@pytest.mark.parametrize("threat", THREATS)
def test_ten_million_events_are_no_obstacle(threat: Threat) -> None:
    for design in DESIGNS:
        found = certify_counts([10**7] * 3, [6e6, 3e6, 1e6], threat=threat, design=design)
        # without chance: (0.6 - 0.3) n altered; 1 / 0.7 as many injected; n / 0.45 * 0.6 ... chance takes little
        plain = {"alter": 3e6, "inject": 3e6 / 0.7, "suppress": 1e7 * ((math.sqrt(0.6) + math.sqrt(0.7)) ** 2 - 2)}
        assert 0.98 * plain[threat] < budget_of(found) < plain[threat]
        assert found.overturned_at == math.ceil(plain[threat])


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
        found = certify_counts([20, 20], [3, 9], threat=threat, design="fixed")
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


def test_a_p_value_at_the_level_is_not_certified() -> None:
    """3 of 3 against 0 of 3: Fisher's p value is 1 / 20, and rounding must not decide."""
    assert not certify_counts([3, 3], [3, 0], delta=1 / 20, design="fixed").certified
    assert certify_counts([3, 3], [3, 0], delta=1 / 19.99, design="fixed").certified
    # the same against two rivals, each at half of delta
    assert not certify_counts([3, 3, 3], [3, 0, 0], delta=1 / 10.01, design="fixed").certified
    assert certify_counts([3, 3, 3], [3, 0, 0], delta=1 / 9.99, design="fixed").certified


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


@pytest.mark.parametrize(("threat", "design"), list(itertools.product(THREATS, DESIGNS)))
def test_every_number_that_is_said_is_one_of_the_certificate(threat: Threat, design: Design) -> None:
    for totals in ([400, 900, 120], [400, 420, 120]):
        found = certify_counts([2000, 3000, 1500], [*totals], ["A", "B", "C"], threat=threat, design=design)
        known = {found.events, found.overturned_at, found.more_events, found.budget}
        if found.cheapest is not None and found.budget is not None:
            known |= {found.budget + 1, *(v for k, v in vars(found.cheapest).items() if k != "rival")}
        shares = [100 * share for share in (found.share_of_winner, found.share_of_events) if share is not None]
        said = re.findall(r"\d[\d,.]*\d|\d", " ".join(found.sentences()))
        assert said
        for number in (float(each.replace(",", "")) for each in said):
            assert number in known or any(abs(number - share) <= max(0.5, 0.05 * share) for share in shares), number
