"""Best-arm corruption: Conceal without knowing the arm, which pays for rounds in which it changes nothing."""

import numpy as np
import pytest

import vambrace as vb

ENV = vb.Bernoulli([(95 - 5 * k) / 100 for k in range(10)])


def test_every_round_costs() -> None:
    env = vb.Deterministic([0.75, 0.5, 0.5])
    result = vb.simulate(vb.UCB1(), env, vb.BestArmCorruption(), horizon=1_000, interpret=True)
    assert result.cost[0, -1] == 750.0
    assert result.pulls[0, 0] < 100


@pytest.mark.parametrize("budget", [100, 1000])
def test_the_same_budget_does_less_harm_than_conceal(budget: float) -> None:
    """UCB1 forgives a hundred bad rounds; Conceal bites only when the arm is pulled, and so for ever (5,960 to 970)."""
    clean, strong, medium = (
        vb.simulate(vb.UCB1(), ENV, attack, horizon=10**5, replications=10, seed=2).pseudo_regret[:, -1]
        for attack in (None, vb.Conceal(budget=budget), vb.BestArmCorruption(budget=budget))
    )
    assert strong.mean() > 4 * clean.mean()
    assert medium.mean() < 1.2 * clean.mean()


@pytest.mark.slow  # 3 s
def test_elimination_too() -> None:
    strong, medium = (
        vb.simulate(vb.SE(), ENV, attack, horizon=10**5, replications=4, seed=2)
        for attack in (vb.Conceal(budget=300), vb.BestArmCorruption(budget=300))
    )
    assert np.all(strong.pulls[:, 0] < medium.pulls[:, 0])


def test_two_best_arms_are_both_hidden() -> None:
    """UCB1 then never learns which arms are good: it loses twenty times what it loses alone."""
    env = vb.Bernoulli([0.9, 0.9, 0.5])
    alone, attacked = (
        vb.simulate(vb.UCB1(), env, attack, horizon=10**4, replications=5, seed=2).pseudo_regret[:, -1].mean()
        for attack in (None, vb.BestArmCorruption())
    )
    assert attacked > 0.9 * 0.4 * 10**4 > 20 * alone
