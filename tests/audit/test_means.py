"""The test of a pair whose rewards are not 0 or 1."""

from math import log, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest

import naive
from vambrace.audit import means
from vambrace.audit.certificate import certify_counts
from vambrace.audit.means import MeanArm, MeanPair, rejects
from vambrace.audit.questions import DESIGNS, THREATS, Arm, Design, Question, Threat, overturned_at
from vambrace.kernels import compiled, rare_kernel
from vambrace.statistics import lower_limit

PAIRS = [(float(row[0]), float(row[1])) for row in means.GRID]


def arm_of(rewards: np.ndarray) -> Arm:
    return Arm(len(rewards), float(rewards.sum()), float((rewards**2).sum()))


def test_each_factor_is_a_fair_bet() -> None:
    d = np.linspace(0.0, 1.0, 2001)
    for m, r, c, *_ in means.GRID:
        assert r * m < 1
        assert np.all(np.exp(r * (d - m) - c * (d - m) ** 2) <= (1 + r * (d - m)) * (1 + 1e-12))
    assert np.exp(means.GRID[:, 3]).sum() == pytest.approx(1.0)


def test_the_product_is_that_of_the_rows() -> None:
    rng, stands = np.random.default_rng(1), compiled(means.rejects, {})
    for _ in range(3):
        first, second = rng.beta(4, 2, 20), rng.beta(1, 3, 15)
        least = log(naive.least_product(naive.Rewards(first.tolist(), PAIRS), naive.Rewards(second.tolist(), PAIRS)))
        for level, expected in ((-least + 1e-6, True), (-least - 1e-6, False)):
            pair = Question(2, 0.5, "alter", "fixed", False).pair(arm_of(first), arm_of(second))
            assert stands(pair._replace(log_level=level), 0.0, 0.0) is expected


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("threat", THREATS)
def test_revenue_with_rare_purchases_is_certified_in_euros(threat: Threat, design: Design) -> None:
    """Means of 0.83 and 1.59 euros, up to 5,000, for 100,000 visitors each: z = 20.8. Empirical Bernstein cannot."""
    n, deviation = 100_000, 0.76 / 20.8 * sqrt(100_000 / 2)
    totals = [n * mean / 5000 for mean in (0.83, 1.59)]
    squares = [n * (mean**2 + deviation**2) / 5000**2 for mean in (0.83, 1.59)]
    found = certify_counts(
        [n, n], totals, ["A", "B"], squares=squares, binary=False, reward_range=(0.0, 5000.0), unit="€",
        threat=threat, design=design,
    )  # fmt: skip
    assert found.certified
    assert found.budget is not None
    assert found.winner_mean == pytest.approx(1.59)
    if threat == "alter":
        assert 10_000 < found.budget < 11_000
        assert "more than €10," in str(found)
        assert found.overturned_at == pytest.approx(76_000)
    bernstein = sqrt(2 * deviation**2 * log(80) / n) + 5000 * 7 * log(80) / (3 * (n - 1))
    assert 2 * bernstein > 0.76


# -------------------------------------------------------------------------------------- how often it is wrong

DELTA, FALSE_ALARM, RUNS = 0.05, 1e-6, 5000  # a rate of 1.5 DELTA would pass with probability 0.004


def laws(rng: np.random.Generator, name: str, size: tuple[int, ...]) -> np.ndarray:
    """Rewards in [0, 1], all of mean 0.02 or more."""
    if name == "revenue":  # few buy, and a few of these much
        return np.where(rng.random(size) < 0.1, np.minimum(rng.lognormal(-2.5, 1.5, size), 1.0), 0.0)
    if name == "ratings":
        return rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], size, p=[0.1, 0.05, 0.1, 0.3, 0.45])
    if name == "rare":
        return np.where(rng.random(size) < 0.02, 1.0, 0.001)
    return rng.random(size)


@rare_kernel
def ever_rejected(template: MeanPair, every: int, first: Any, second: Any) -> int:
    """How many pairs, one per row, are rejected in favour of the first arm at any look; `every` is between looks."""
    count = 0
    for i in range(first.shape[0]):
        s, q, s2, q2 = 0.0, 0.0, 0.0, 0.0
        for t in range(first.shape[1]):
            x, y = first[i, t], 1.0 - second[i, t]
            s, q, s2, q2 = s + x, q + x * x, s2 + y, q2 + y * y
            if (t + 1) % every == 0 and s + s2 > t + 1.0:
                n = t + 1.0
                pair = MeanPair(template.threat, template.log_level, MeanArm(n, s, q), MeanArm(n, s2, q2))
                if rejects(pair, 0.0, 0.0):
                    count += 1
                    break
    return count


@pytest.mark.parametrize("law", ["revenue", "ratings", "rare", "uniform"])
def test_equal_arms_are_seldom_told_apart(law: str) -> None:
    rng, program = np.random.default_rng(7), compiled(ever_rejected, {})
    pair = Question(2, DELTA, "alter", "adaptive", False).pair(Arm(1, 0.0, 0.0), Arm(1, 0.0, 0.0))
    for n, every, runs in ((300, 20, RUNS), (30, 1, RUNS)):
        wrong = program(pair, every, laws(rng, law, (runs, n)), laws(rng, law, (runs, n)))
        assert lower_limit(wrong, runs, FALSE_ALARM) <= DELTA, wrong / runs


@pytest.mark.parametrize("law", ["revenue", "ratings", "rare", "uniform"])
def test_each_mean_is_above_its_lower_limit(law: str) -> None:
    """And above that of 1 - X, by symmetry; both ends together are wrong with probability DELTA."""
    rng, question = np.random.default_rng(8), Question(2, DELTA, "alter", "adaptive", False)
    mean = laws(rng, law, (2_000_000,)).mean()  # its own error is far below the width of an interval
    missed = 0
    for rewards in laws(rng, law, (300, 200)):
        low, high = question.interval(arm_of(rewards))
        assert 0.0 <= low < rewards.mean() < high <= 1.0
        missed += not low <= mean <= high
    assert lower_limit(missed, 300, FALSE_ALARM) <= DELTA


# ----------------------------------------------------------------------------------------- against real attacks


def harmed(rng: np.random.Generator, threat: Threat, rows: np.ndarray, cost: float, greedy: bool) -> np.ndarray:
    """The genuine rows of a winner whose logged rows these are, if an attack of this cost was undone."""
    if threat == "inject":
        order = np.argsort(-rows) if greedy else rng.permutation(len(rows))
        return np.delete(rows, order[: min(int(cost), len(rows) - 1)])
    if threat == "suppress":
        return np.append(rows, np.zeros(int(cost)) if greedy else rng.choice([0.0, 0.1, 0.5, 1.0], int(cost)))
    rows, order = rows.copy(), rng.permutation(len(rows))
    if greedy:  # the largest first, or the smallest, or all a bit
        order = order[np.argsort(rows[order] * rng.choice([-1, 1]))]
    for k in order:
        change = min(cost, rows[k] if greedy or rng.random() < 0.7 else 1.0 - rows[k], rng.choice([0.1, 1.0]))
        rows[k] += -change if change <= rows[k] and (greedy or rng.random() < 0.9) else min(change, 1.0 - rows[k])
        cost -= change
    return rows


@pytest.mark.parametrize("threat", THREATS)
def test_every_log_before_an_attack_within_the_budget_is_rejected(threat: Threat) -> None:
    """Real attacks, row by row: random and greedy alterations, rows that were injected, rows that are missing."""
    rng, stands, tried, greatest = np.random.default_rng(9), compiled(means.rejects, {}), 0, 0.0
    question = Question(2, 0.2, threat, "fixed", False)
    for _ in range(18):
        sizes = rng.integers(20, 150, 2)
        first, second = rng.beta(5, 1, sizes[0]), rng.beta(1, 6, sizes[1])
        if rng.random() < 0.5:  # many rewards at the ends
            first, second = np.where(rng.random(sizes[0]) < 0.6, 1.0, first), np.where(second < 0.1, 0.0, second)
        budget = question.cheapest(question.pair(arm_of(first), arm_of(second))).budget
        greatest = max(greatest, budget)
        for _ in range(60 if budget >= 0 else 0):
            cost = rng.choice([0.0, 1.0, rng.random()]) * budget
            cost = float(np.floor(cost)) if question.whole else cost
            greedy = rng.random() < 0.6
            clean = harmed(rng, threat, first, cost, greedy)
            rival = 1.0 - harmed(rng, threat, 1.0 - second, budget - cost, greedy)
            tried += 1
            assert stands(question.pair(arm_of(clean), arm_of(rival)), 0.0, 0.0), (budget, cost)
    assert tried > 500
    assert greatest > 10


@pytest.mark.parametrize("threat", ["inject", "suppress"])
def test_the_events_after_which_another_arm_would_look_best(threat: Threat) -> None:
    """Never more than the fewest rows that do it, the largest of the winner and the smallest of the rival."""
    rng, question = np.random.default_rng(10), Question(2, 0.05, threat, "fixed", False)
    for _ in range(40):
        first, second = np.sort(rng.beta(3, 1, rng.integers(5, 20))), np.sort(rng.beta(1, 3, rng.integers(5, 20)))
        if first.mean() <= second.mean():
            continue
        cost, behind = 0, False
        while not behind:
            cost += 1
            for a in range(cost + 1):
                b = cost - a
                if threat == "inject":
                    left, right = first[: max(len(first) - a, 0)], second[b:]
                else:
                    left, right = np.append(first, np.zeros(a)), np.append(second, np.ones(b))
                behind = behind or len(left) == 0 or len(right) == 0 or left.mean() <= right.mean()
        found = overturned_at(question, arm_of(first), arm_of(second))
        assert found == cost if threat == "suppress" else 1 <= found <= cost
    alter = question._replace(threat="alter")
    assert overturned_at(alter, Arm(100, 80.0, 70.0), Arm(50, 10.0, 5.0)) == pytest.approx((80 * 50 - 10 * 100) / 100)
    assert overturned_at(alter, Arm(50, 40.0, 30.0), Arm(100, 20.0, 5.0)) == pytest.approx((40 * 100 - 20 * 50) / 100)


def test_the_bound_behind_every_factor_with_many_digits() -> None:
    """exp(h(d)) <= 1 + r d for all d >= -m, with equality at the left end; and the losses bound what they should."""
    with mpmath.workdps(40):
        for m, r, c, _, *losses in means.GRID.tolist():
            c_exact = (-mpmath.log1p(-r * mpmath.mpf(m)) - mpmath.mpf(r) * m) / mpmath.mpf(m) ** 2 if m else r * r / 2
            assert float(c_exact) == pytest.approx(c, rel=1e-11)
            d = [mpmath.mpf(k) / 64 - m for k in range(65)]
            h = [r * x - c_exact * x**2 for x in d]
            assert all(value <= mpmath.log1p(r * x) + mpmath.mpf(10) ** -30 for value, x in zip(h, d, strict=True))
            slope = max(abs(r - 2 * c_exact * x) for x in d)
            assert float(slope) <= losses[0] * (1 + 1e-11)
            assert float(max(h)) <= losses[1] * (1 + 1e-11)
            assert -float(min(h)) == pytest.approx(losses[2], rel=1e-9, abs=1e-14)
