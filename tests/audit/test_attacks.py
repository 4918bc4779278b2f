"""The search for the cheapest attack against trying every split, and every clean log."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive
from vambrace.audit import attacks, coins
from vambrace.audit.attacks import EVENTS, Scale
from vambrace.audit.certificate import certify_counts
from vambrace.audit.questions import DESIGNS, THREATS, Arm, Design, Question, Threat
from vambrace.kernels import compiled, kernel

SETTINGS = list(itertools.product(THREATS, DESIGNS))
DELTAS = (0.0137, 0.2111, 0.7043, 0.9971)  # no p value of a small log is exactly one of these


def logs(seed: int, size: int, largest: int) -> list[dict[str, Any]]:
    """Logs of 0/1 rewards whose rates differ much, so that many winners are certified: events, totals, delta."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        n_arms = int(rng.integers(2, 5))
        events = rng.integers(1, largest + 1, n_arms)
        totals = rng.binomial(events, rng.choice([0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0], n_arms))
        found.append({"events": events.tolist(), "totals": totals.tolist(), "delta": float(rng.choice(DELTAS))})
    return found


def compare(log: naive.Log) -> int:
    """The number of rivals that were ruled out, all of them with the budget of brute force."""
    options: dict[str, Any] = {"threat": log.threat, "design": log.design, "delta": log.delta}
    found = certify_counts(log.events, log.totals, **options)
    rivals = [k for k in range(len(log.events)) if k != log.winner()]
    budgets = [log.budget(k) for k in rivals]
    assert found.winner == f"arm {log.winner()}"
    assert [rival.label for rival in found.rivals] == [f"arm {k}" for k in rivals]
    assert [rival.budget for rival in found.rivals] == [None if each < 0 else each for each in budgets], log
    assert [rival.overturned_at for rival in found.rivals] == [log.looks_best_at(k) for k in rivals], log
    assert found.budget == (min(budgets) if min(budgets) >= 0 else None)
    assert found.certified == (min(budgets) >= 0)
    first = next((rival.attack for rival in found.rivals if rival.budget == found.budget), None)
    assert found.cheapest == (first if found.certified else None)
    for rival, k in zip(found.rivals, rivals, strict=True):
        if rival.attack is not None and rival.budget is not None:
            check_attack(log, k, rival.attack, int(rival.budget) + 1)
    return sum(each >= 0 for each in budgets)


def check_attack(log: naive.Log, rival: int, attack: Any, cost: int) -> None:
    """The attack costs what it should, ends the guarantee, and one event less on one arm alone would not."""
    assert attack.on_winner + attack.on_rival == cost
    s, n, s2, n2 = (*pair_of(log, log.winner()), *pair_of(log, rival))

    def stands(a: int, b: int) -> bool:
        first, second = naive.undone(log.threat, s, n, a), naive.undone(log.threat, n2 - s2, n2, b)
        return first is not None and second is not None and log.rejects(*first, second[1] - second[0], second[1])

    assert not stands(attack.on_winner, attack.on_rival)
    assert stands(attack.only_winner - 1, 0)
    assert not stands(attack.only_winner, 0)
    assert stands(0, attack.only_rival - 1)
    assert not stands(0, attack.only_rival)


def pair_of(log: naive.Log, k: int) -> tuple[int, int]:
    return log.totals[k], log.events[k]


@pytest.mark.parametrize(("threat", "design"), SETTINGS)
def test_budgets_are_those_of_every_split(threat: Threat, design: Design) -> None:
    ruled_out = 0
    for log in logs(1, 300, 12) + logs(2, 60, 40):
        ruled_out += compare(naive.Log(**log, threat=threat, design=design))
    assert ruled_out > 80


@pytest.mark.slow  # 10 to 25 seconds each
@pytest.mark.parametrize(("threat", "design"), SETTINGS)
def test_twenty_thousand_budgets_are_those_of_every_split(threat: Threat, design: Design) -> None:
    for log in logs(3, 16_000, 14) + logs(4, 4_000, 40):
        compare(naive.Log(**log, threat=threat, design=design))


@pytest.mark.parametrize(("threat", "design"), SETTINGS)
def test_no_clean_log_within_the_budget_is_worse_than_the_worst_split(threat: Threat, design: Design) -> None:
    """Also those before an attack that was partly of no use: altered the wrong way, or not spent at all."""
    tried = 0
    for each in logs(5, 250, 16):
        log = naive.Log(**each, threat=threat, design=design)
        for rival in range(len(log.events)):
            budget = min(log.budget(rival), 4) if rival != log.winner() else -1
            for clean in log.clean_logs(rival, budget) if budget > 0 else ():
                tried += 1
                assert log.rejects(*clean), (log, rival, clean)
    assert tried > 500


@pytest.mark.parametrize(("threat", "design"), SETTINGS)
def test_larger_logs_have_no_better_split(threat: Threat, design: Design) -> None:
    """Nothing is taken for convex or monotone: each split of the budget, and one of the next, with the fast test."""
    rng, stands = np.random.default_rng(6), compiled(coins.rejects, {})
    certified = 0
    for _ in range(25):
        n, n2 = (int(each) for each in np.exp(rng.uniform(4, 9, 2)))
        winner = Arm(n, float(rng.binomial(n, rng.choice([0.1, 0.5, 0.99]))), 0.0)
        rival = Arm(n2, float(rng.binomial(n2, winner.mean * rng.choice([0.2, 0.6, 0.9]))), 0.0)
        question = Question(3, 0.05, threat, design, True)
        pair: Any = question.pair(winner, rival)
        found = question.cheapest(pair)
        if found.budget < 0:
            continue
        certified += 1
        step = max(int(found.budget) // 300, 1)
        assert all(stands(pair, float(a), found.budget - a) for a in range(0, int(found.budget) + 1, step))
        assert not stands(pair, found.on_winner, found.on_rival)
        assert found.on_winner + found.on_rival == found.budget + 1
    assert certified > 10


def test_a_split_that_is_much_cheaper_than_one_arm_alone_is_counted_in_single_events() -> None:
    """One arm alone would need 332,809 events here, more than there are steps."""
    question, stands = Question(2, 0.05, "suppress", "fixed", True), compiled(coins.rejects, {})
    pair: Any = question.pair(Arm(1000, 1000.0, 0.0), Arm(1000, 0.0, 0.0))
    found = question.cheapest(pair)
    assert found.only_winner > EVENTS.most
    assert all(stands(pair, float(a), found.budget - a) for a in range(int(found.budget) + 1))
    assert any(not stands(pair, float(a), found.budget + 1 - a) for a in range(int(found.budget) + 2))
    assert not stands(pair, found.on_winner, found.on_rival)


@pytest.mark.parametrize(("threat", "design"), SETTINGS)
def test_large_budgets_in_steps_are_below_the_exact_ones_by_less_than_two_steps(threat: Threat, design: Design) -> None:
    program, stands = compiled(attacks.cheapest_attack, {"rejects": coins.rejects}), compiled(coins.rejects, {})
    for winner, rival in (
        (Arm(4000, 3000.0, 0.0), Arm(5000, 1000.0, 0.0)),
        (Arm(900, 90.0, 0.0), Arm(9000, 90.0, 0.0)),
    ):
        pair = Question(2, 0.05, threat, design, True).pair(winner, rival)
        exact = program(pair, EVENTS)
        for most in (16.0, 100.0):
            first = np.ceil(min(exact.only_winner, exact.only_rival) / most)
            step = np.ceil((exact.budget + first) / most)  # no step is larger
            rough = program(pair, Scale(1.0, True, most))
            assert exact.budget - 2 * step < rough.budget <= exact.budget
            assert not stands(pair, rough.on_winner, rough.on_rival)
            assert rough.on_winner + rough.on_rival <= rough.budget + 2 * step


class Corners(NamedTuple):
    """A made-up pair that stands until an attack reaches one of two splits, or a cost on one arm alone."""

    first: float
    with_first: float
    second: float
    with_second: float
    only_winner: float
    only_rival: float


@kernel
def stays_within(pair: Corners, a: float, b: float) -> bool:
    reached = (a >= pair.first and b >= pair.with_first) or (a >= pair.second and b >= pair.with_second)
    return not (reached or a >= pair.only_winner or b >= pair.only_rival)


@pytest.mark.parametrize("whole", [True, False])
def test_a_sharp_corner_between_two_steps_is_not_missed(whole: bool) -> None:
    rng = np.random.default_rng(11)
    program = compiled(attacks.cheapest_attack, {"rejects": stays_within})
    for _ in range(400):
        a, a2, b, b2 = (rng.integers(1, 900, 4) if whole else rng.uniform(0.01, 900, 4)).tolist()
        pair = Corners(float(a), float(b), float(a2), float(b2), 1000.0, 1000.0)
        exact = min(a + b, a2 + b2, 1000.0)
        scale = Scale(1.0, True, float(rng.choice([20, 2000]))) if whole else Scale(2.0**-10, False, 64.0)
        found, step = program(pair, scale), max(np.ceil(1000 / scale.most), 1.0) if whole else 1000 / 64 + 0.01
        assert exact - (1.0 if scale.most == 2000 else 2 * step) <= found.budget <= exact - (1.0 if whole else 0.0)
        assert not stays_within(pair, found.on_winner, found.on_rival)


@pytest.mark.parametrize(("threat", "design"), SETTINGS)
def test_the_compiled_form_is_the_interpreted_one(threat: Threat, design: Design) -> None:
    from vambrace.kernels import interpreted

    pair = Question(2, 0.05, threat, design, True).pair(Arm(90, 70.0, 70.0), Arm(120, 20.0, 20.0))
    slots = {"rejects": coins.rejects}
    compiled_one = compiled(attacks.cheapest_attack, slots)(pair, EVENTS)
    assert interpreted(attacks.cheapest_attack, slots)(pair, EVENTS) == pytest.approx(compiled_one)


def test_how_many_more_events_are_needed() -> None:
    found = certify_counts([1000, 1000, 1000], [300, 330, 200], design="fixed")
    assert not found.certified
    assert found.more_events is not None
    factor = 1 + found.more_events / 3000
    grown = [round(1000 * factor)] * 3, [round(each * factor) for each in (300, 330, 200)]
    assert certify_counts(*grown, design="fixed").certified
    less = 1 + 0.85 * found.more_events / 3000
    shrunk = [round(1000 * less)] * 3, [round(each * less) for each in (300, 330, 200)]
    assert not certify_counts(*shrunk, design="fixed").certified
    assert certify_counts([10, 10], [3, 3]).more_events is None  # a tie stays one
    assert certify_counts([10**9, 10**9], [5 * 10**8 + 1, 5 * 10**8]).more_events is None
