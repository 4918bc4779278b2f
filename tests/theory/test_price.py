"""The price of armour as functions: the steps of the proofs, by hand and by brute force."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import vambrace as vb
from vambrace import theory
from vambrace.errors import InvalidParameter
from vambrace.policies.kl_ucb_wr import exploration_level
from vambrace.theory import price

MEANS = (0.9, 0.8, 0.7, 0.6, 0.5)


@given(st.floats(1e-3, 1.0), st.floats(0.0, 1e6), st.integers(100, 10**12))
def test_an_arm_is_not_chosen_beyond_the_pulls_behind_the_bound(gap: float, budget: float, horizon: int) -> None:
    """n gap <= b + sqrt(2 n f) holds up to the cost over the gap, and not beyond."""
    level = exploration_level(horizon, 2 / horizon)
    bound = theory.kl_ucb_wr([gap], horizon=horizon, budget=budget, spent=0, commit=0)
    pulls = (bound.value - gap) / gap
    assert pulls * gap == pytest.approx(budget + math.sqrt(2 * pulls * level))
    further = 1.01 * pulls
    assert further * gap > budget + math.sqrt(2 * further * level)


def test_by_hand() -> None:
    """b = 150 on the arm with gap 0.5, commit 0.1."""
    f = exploration_level(10_000, 0.01)
    bound = theory.kl_ucb_wr([0.5], horizon=10_000, budget=100, spent=50, delta=0.01, commit=0.1)
    assert bound.value == pytest.approx(1.1 * (150 + 2 * f + math.sqrt((2 * f) ** 2 + 300 * 2 * f)) + 0.5)
    assert bound.explicit
    assert theory.kl_ucb_wr([0.0, 0.5], horizon=10_000, budget=100).value > 0
    assert theory.kl_ucb_wr([0.0], horizon=10_000, budget=100).value == 0


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=5), st.floats(0.0, 1e4), st.floats(0.0, 1e4), st.data())
def test_no_split_is_worse_than_the_worst(gaps: list[float], budget: float, spent: float, data: st.DataObject) -> None:
    gaps = sorted(gaps)
    shares = price._worst_split(gaps, budget, spent)
    assert sum(shares) == pytest.approx(len(gaps) * budget + spent)
    assert all(share >= budget * (1 - 1e-12) - 1e-12 for share in shares)
    weights = np.array([data.draw(st.floats(0.0, 1.0)) for _ in gaps]) + 1e-9
    others = budget + spent * weights / weights.sum()
    level = 20.0
    worst = sum(price._cost(gap, share, level) for gap, share in zip(gaps, shares, strict=True))
    assert sum(price._cost(gap, share, level) for gap, share in zip(gaps, others, strict=True)) <= worst * (1 + 1e-9)


@given(st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=6), st.integers(100, 10**9), st.floats(0, 1e5))
def test_the_gap_free_bound_covers_every_gap(gaps: list[float], horizon: int, budget: float) -> None:
    """The worst split of T rounds among arms, each of which is pulled at most as often as Theorem A allows."""
    n_arms = len(gaps) + 1
    free = theory.kl_ucb_wr_gap_free(n_arms, horizon=horizon, budget=budget)
    level, left, regret = exploration_level(horizon, min(1, n_arms / horizon)), float(horizon), 0.0
    shares = price._worst_split(sorted(gaps), budget, budget)
    for gap, share in sorted(zip(sorted(gaps), shares, strict=True), reverse=True):
        pulls = min(left, 1.02 * price._cost(gap, share, level) / gap + 1)
        left, regret = left - pulls, regret + gap * pulls
    assert regret <= free.value * (1 + 1e-9)


@pytest.mark.parametrize(
    ("budget", "chance", "factor"), [(0, 0.3, 1.5), (20, 0.05, 1.0), (20, 0.5, 1.4), (300, 0.2, 1.2)]
)
def test_the_pulls_until_the_budget_ends(budget: int, chance: float, factor: float) -> None:
    """Never above the exact expectation, which is the sum of P(Bin(n, p) <= B) over n < M, and close to it."""
    pulls = math.ceil(factor * (budget + 1) / chance)
    exact = binom.cdf(budget, np.arange(pulls), chance).sum()
    found = float(price._until(budget, np.array(chance), np.array(float(pulls))))
    assert found <= exact * (1 + 1e-12)
    if budget > 0:
        assert found >= 0.9 * exact


def test_both_sides_meet_as_the_game_grows() -> None:
    """Regret over (K - 1) B: the price in the game, what is measured, and the guarantee, without attack and with it."""
    widths = []
    for horizon, budget in ((10**8, 10**4), (10**12, 10**6), (10**15, 10**8)):
        for means, spent in ((MEANS, 0.0), (MEANS[:2], budget)):
            size: dict[str, Any] = {"horizon": horizon, "budget": budget}
            free = theory.kl_ucb_wr_gap_free(len(means), **size).value + 25
            low = theory.least_regret(means, regret=free, spent=spent, **size).value
            high = theory.kl_ucb_wr([means[0] - mean for mean in means[1:]], spent=spent, **size).value
            attack = vb.Boost(budget=spent, depth=0.5) if spent else None
            policy, env = vb.KLUCBWR(budget=budget), vb.Bernoulli(means)
            game = vb.simulate(policy, env, attack, horizon=horizon, replications=20, seed=1)
            assert low < game.pseudo_regret[:, -1].mean() < high
            assert game.pseudo_regret[:, -1].max() < high
        widths.append(high / low)
    assert all(later < earlier for earlier, later in pairwise(widths))
    assert widths[-1] < 1.04


def test_the_price_has_limits() -> None:
    assert theory.price_of_armour(5, budget=1000).value == 4000
    size: dict[str, Any] = {"horizon": 10**6, "budget": 100, "regret": 1000.0}
    assert theory.least_regret([1.0, 0.5], **size).value == 0  # a perfect arm cannot be beaten
    assert theory.least_regret([0.5, 0.5], **size).value == 0
    assert theory.least_regret([0.9, 0.8], horizon=10**6, budget=100, regret=10**6).value == 0
    more = theory.least_regret([0.9, 0.8], spent=100, **size).value
    assert theory.least_regret([0.9, 0.8], **size).value < more < 200
    quiet, attacked = (theory.least_regret([0.9, 0.8, 0.7], spent=spent, **size).value for spent in (0, 100))
    assert attacked == quiet  # with three arms an attack proves nothing more


@pytest.mark.parametrize(("budget", "spent"), [(3, 0), (3, 2), (20, 20), (60, 10)])
def test_the_least_pulls_by_exact_sums(budget: int, spent: int) -> None:
    """Never above the best of the sums over n < M of P(A <= B) - P(A' > C) - R / (e (T - n)), on a grid of e and M."""
    gap, room, horizon, regret = 0.2, 0.3, 10**6, 200.0
    exact = 0.0
    for raised in np.geomspace(1e-3, room, 60):
        seen = gap + raised
        shown = seen * (spent + 1) / (budget + spent + 2) if spent else 0.0
        n = np.arange(int(4 * (budget + spent + 2) / seen))
        terms = binom.cdf(budget, n, seen - shown) - regret / (raised * (horizon - n))
        terms -= binom.sf(spent, n, shown) if spent else 0.0
        exact = max(exact, np.cumsum(terms).max())
    found = price._least_pulls(gap, room, horizon, budget, regret, spent)
    assert 0.5 * exact < found < exact * (1 + 1e-2)  # the grids differ


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.kl_ucb_wr([2.0], horizon=100, budget=1), "gaps"),
        (lambda: theory.kl_ucb_wr([0.1], horizon=100, budget=1, spent=2), "spent"),
        (lambda: theory.price_of_armour(1, budget=1), "n_arms"),
        (lambda: theory.kl_ucb_wr([0.1], horizon=100, budget=1, commit=-3), "commit"),
        (lambda: theory.prices(3, horizon=100, budget=1, best_mean=0.5), "best_mean"),
        (lambda: theory.prices(2, horizon=100, budget=1, gaps=[0.1], best_mean=1.2), "best_mean"),
        (lambda: theory.least_regret([0.5, 0.4], horizon=100, budget=1, regret=-1), "regret"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        call()


def random_schedule(seed: int, n_arms: int, horizon: int) -> dict[int, list[tuple[int, int | None]]]:
    """Arms open and close at random; one arm, drawn too, is always open."""
    coins, found = np.random.default_rng(seed), dict[int, list[tuple[int, int | None]]]()
    always = int(coins.integers(0, n_arms))
    for arm in range(n_arms):
        t, windows = (
            1 + int(coins.integers(0, 2)) * int(coins.integers(1, horizon // 2)),
            list[tuple[int, int | None]](),
        )
        while t <= horizon:
            end = t + int(coins.integers(1, horizon // 3))
            windows.append((t, end))
            t = end + int(coins.integers(1, horizon // 3))
        if arm != always:
            found[arm] = windows
    return found


SPENT = 40.0
CHURN_ATTACKS = [vb.Conceal(budget=SPENT), vb.Mimic(budget=SPENT, depth=2.0), vb.Boost(budget=SPENT)]


@pytest.mark.parametrize(
    "attack", [CHURN_ATTACKS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in CHURN_ATTACKS[1:])]
)  # 2 s each
def test_kl_ucb_wr_keeps_its_bound_when_arms_come_and_go(attack: vb.Adversary) -> None:
    """Each of the 180 games fails with probability 2 K delta = 1.2e-7 at most: false alarm once in 40,000 runs."""
    means, horizon, delta = [0.9, 0.75, 0.6, 0.5, 0.4, 0.2], 20_000, 1e-8
    policy, weak, unarmoured = vb.KLUCBWR(budget=SPENT, delta=delta, commit=0.1), vb.KLUCB(), 0
    for seed in range(30):
        arms_open = random_schedule(seed, len(means), horizon)
        bound = theory.kl_ucb_wr_changing_arms(
            means, arms_open, horizon=horizon, budget=SPENT, delta=delta, commit=0.1
        ).value
        game: dict[str, Any] = {"horizon": horizon, "arms_open": arms_open, "seed": seed, "checkpoints": 1}
        found = vb.simulate(policy, vb.Bernoulli(means), attack, replications=2, interpret=False, **game)
        assert found.pseudo_regret.max() <= bound
        assert found.cost.max() <= SPENT
        if attack.name == "conceal" and seed < 5:
            bad = vb.simulate(weak, vb.Bernoulli(means), attack, interpret=False, **game)
            unarmoured += bad.pseudo_regret.max() > bound
    assert unarmoured > 0 or attack.name != "conceal", "a policy without armour does not keep it"


def test_the_bound_for_changing_arms_is_that_of_theorem_a_if_they_do_not_change() -> None:
    same: dict[str, Any] = {"horizon": 10_000, "budget": 50, "spent": 0}
    level = exploration_level(10_000, 3 / 10_000)

    def n_pulls(gap: float) -> float:
        """(1 + commit) N(gap), N the larger root of N gap = b + sqrt(2 N f)."""
        root = (math.sqrt(2 * level) + math.sqrt(2 * level + 4 * gap * 50)) / (2 * gap)
        return 1.02 * root * root

    changing = theory.kl_ucb_wr_changing_arms([0.9, 0.8, 0.5], {}, **same)
    assert changing.value == pytest.approx(theory.kl_ucb_wr([0.1, 0.4], **same).value)
    later = theory.kl_ucb_wr_changing_arms([0.9, 0.8, 0.5], {0: [(10, None)]}, **same)
    n_wide, n_narrow = 1 + n_pulls(0.4), 1 + n_pulls(0.3)  # with the gap 0.3 before the best arm comes
    assert later.value == pytest.approx(0.1 * (1 + n_pulls(0.1)) + 0.1 * n_wide + 0.3 * n_narrow)
