"""The plan of KL-UCB-WR: where indices are level, against games, and its limits."""

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vambrace as vb
from vambrace.policies.kl_ucb_wr import Limits, exploration_level, index
from vambrace.theory.armour_planning import Group, _pulls_to, expected_pulls, expected_regret

GAMES = [  # means, horizon, budget
    ((0.9, 0.8, 0.7, 0.6, 0.5), 10**6, 1000),
    ((0.03, 0.02, 0.02, 0.01), 10**5, 100),
    ((0.5, 0.45, 0.45), 10**6, 300),
    ((0.9, 0.5), 10**8, 10**4),
]


@pytest.mark.parametrize(("means", "horizon", "budget"), GAMES)
def test_the_expected_regret_is_that_of_games(means: tuple[float, ...], horizon: int, budget: float) -> None:
    """Within 5 % of the mean of 40 games, without attack and under the worst of three attacks (seeds fixed)."""
    level = exploration_level(horizon, len(means) / horizon)
    options: dict[str, Any] = {"horizon": horizon, "replications": 40, "seed": 3, "checkpoints": 1}
    policy, arms = vb.KLUCBWR(budget=budget), vb.Bernoulli(means)

    def played(attack: vb.Adversary | None) -> float:
        return float(vb.simulate(policy, arms, attack, **options).pseudo_regret[:, -1].mean())

    size: dict[str, Any] = {"horizon": horizon, "budget": budget, "level": level}
    assert expected_regret(means, spent=0.0, **size) == pytest.approx(played(None), rel=0.05)
    attacks = (vb.Boost(budget=budget), vb.Conceal(budget=budget), vb.Mimic(budget=budget))
    assert expected_regret(means, spent=budget, **size) == pytest.approx(max(map(played, attacks)), rel=0.05)


@given(st.floats(0.0, 0.99), st.floats(0.0, 1e4), st.floats(2.0, 60.0), st.floats(1e-3, 1.0))
def test_an_index_falls_to_a_height_after_these_pulls(mean: float, share: float, level: float, part: float) -> None:
    height = mean + part * (1.0 - mean) * 0.999
    pulls = _pulls_to(height, mean, share, level)
    limits = Limits(level, share, 1)
    assert index(mean * pulls * (1 - 1e-6), pulls * (1 - 1e-6), limits) >= height - 1e-6  # type: ignore[arg-type]
    assert index(mean * pulls * (1 + 1e-6), pulls * (1 + 1e-6), limits) <= height + 1e-6  # type: ignore[arg-type]
    assert _pulls_to(mean, mean, share, level) == inf


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5), st.floats(0.0, 1e5), st.integers(5, 10**12))
def test_pulls_add_up_and_better_arms_get_more(means: list[float], budget: float, horizon: int) -> None:
    means = sorted(means, reverse=True)
    groups = [Group(mean, budget, 1) for mean in means]
    pulls = expected_pulls(groups, horizon, exploration_level(horizon, 0.01))
    assert sum(pulls) == pytest.approx(horizon, rel=1e-6)
    assert pulls == pytest.approx(sorted(pulls, reverse=True), rel=0.02)  # commit adds one per cent to all but one


def test_the_largest_budget_is_the_last_that_costs_no_more() -> None:
    game: dict[str, Any] = {"arms": 4, "rate": 0.3, "gap": 0.1, "horizon": 10**5}
    most = vb.plan(budget=0, loss=0.2, **game).armour.largest_budget
    assert most is not None
    allowed = 0.2 * vb.plan(budget=0, **game).armour.random_regret
    assert vb.plan(budget=most, **game).armour.attacked_regret <= allowed
    assert vb.plan(budget=most + 1, **game).armour.attacked_regret > allowed
    short = vb.plan(arms=4, rate=0.3, gap=0.01, budget=0, horizon=100, loss=0.1).armour
    assert short.largest_budget is None
    assert short.settled is None
    assert "this horizon carries nothing" in short.verdict


def test_a_loss_is_a_share() -> None:
    for loss in (0.0, -0.1, 1.5):
        with pytest.raises(vb.VambraceError, match="loss"):
            vb.plan(arms=4, rate=0.3, gap=0.01, budget=0, horizon=100, loss=loss)


@pytest.mark.parametrize("horizon", [10**13, 10**15])
@pytest.mark.parametrize("budget", [0, 10, 10**6, 1e18])
def test_the_longest_games_and_the_largest_budgets(horizon: int, budget: float) -> None:
    found = vb.plan(arms=4, rate=0.03, gap=0.01, budget=budget, horizon=horizon).armour
    assert 0 < found.quiet_regret <= found.attacked_regret <= 0.01 * horizon
    assert (found.most_regret is None) == (budget == 1e18)
