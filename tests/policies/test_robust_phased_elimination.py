"""Robust phased elimination pulls the same arms as its oracle, and leaps."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples
from tables import Table, pulls_of_engine, pulls_of_learner, tables
from vambrace.protocols import Game

PARAMETERS = st.fixed_dictionaries(
    {"truncation": st.sampled_from([None, 0.01, 0.3, 0.5, 1.0]), "delta": st.sampled_from([None, 0.5, 0.999])}
)


@examples(60)
@given(PARAMETERS, tables(most_rounds=600))
def test_same_arms_as_the_oracle(options: dict[str, Any], table: Table) -> None:
    policy = vb.RobustPhasedElimination(**options)
    rounds, n_arms = table.shape
    oracle = naive.RobustPhasedElimination(n_arms, rounds, **options)
    expected = naive.play(oracle, table.tolist())
    event(f"{n_arms - len(oracle.active)} dropped")
    assert pulls_of_engine(policy, table, interpret=False) == expected
    assert pulls_of_engine(policy, table, interpret=True) == expected
    assert pulls_of_learner(policy, table) == expected


@pytest.mark.parametrize("truncation", [None, 0.3, 0.75])
def test_same_arms_over_many_rounds(truncation: float | None) -> None:
    table = (np.random.default_rng(11).random((8001, 4)) < [0.9, 0.85, 0.5, 0.1]).astype(float)
    oracle = naive.RobustPhasedElimination(4, 8001, truncation=truncation)
    expected = naive.play(oracle, table.tolist())
    assert len(oracle.active) < 4, "this table should make the policy drop an arm"
    policy = vb.RobustPhasedElimination(truncation=truncation)
    assert pulls_of_engine(policy, table, interpret=False) == expected


@pytest.mark.parametrize("truncation", [None, 0.6])
@pytest.mark.parametrize("attack", [None, vb.Conceal(budget=60.0, stop_when_dropped=True)], ids=str)
def test_leaps_end_where_rounds_do(truncation: float | None, attack: vb.Adversary | None) -> None:
    """On deterministic arms whose sums are exact, every number agrees."""
    policy, environment = vb.RobustPhasedElimination(truncation=truncation), vb.Deterministic([0.75, 0.5, 0.328125])
    options: dict[str, Any] = {"horizon": 12_345, "checkpoints": 37, "interpret": True}
    rounds, leap = (vb.simulate(policy, environment, attack, engine=engine, **options) for engine in ("rounds", "leap"))
    for measure in ("pseudo_regret", "realized_regret", "observed_regret", "cost", "pulls"):
        assert np.array_equal(getattr(rounds, measure), getattr(leap, measure)), measure


def test_it_keeps_the_best_arm_under_an_attack_that_fools_elimination_without_armour() -> None:
    """T = 10^10, where a phase reckons with an attack of sqrt(T) / (K log2 T) = 1,505."""
    environment, attack = vb.Bernoulli([0.9, 0.6]), vb.Conceal(budget=1500)
    options: dict[str, Any] = {"horizon": 10**10, "replications": 10, "seed": 1, "engine": "leap", "interpret": True}
    armoured = vb.simulate(vb.RobustPhasedElimination(), environment, attack, **options)
    trusting = vb.simulate(vb.SE(), environment, attack, **options)
    assert (armoured.pulls.argmax(axis=1) == 0).all()
    assert (trusting.pulls.argmax(axis=1) == 1).all()


@pytest.mark.parametrize(("n_arms", "horizon"), [(2, 10**6), (3, 10**9), (8, 5_000)])
def test_the_budget_that_a_phase_reckons_with(n_arms: int, horizon: int) -> None:
    """C_h = min(sqrt(T) / (K log2 T), K sqrt(K) 2^(log2 T - h)); the second binds only in phases beyond the horizon."""
    state = vb.RobustPhasedElimination().init(Game(n_arms, horizon))
    assert state.cap == pytest.approx(math.sqrt(horizon) / (n_arms * math.log2(horizon)))
    assert state.first_guess == pytest.approx(n_arms**1.5 * horizon)
    assert state.rule.budget == pytest.approx(min(state.cap, state.first_guess))
