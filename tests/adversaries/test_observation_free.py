"""The observation-free attack: a hundred scripted rounds decide fifty thousand."""

import numpy as np
import pytest

import vambrace as vb
from vambrace.protocols import Game, Round
from vambrace.sampling import stream

ENV = vb.Bernoulli([0.9, 0.8])


def share_of_best(policy: vb.Policy, attack: vb.Adversary | None) -> float:
    result = vb.simulate(policy, ENV, attack, horizon=50_000, replications=20, seed=1, realized=False)
    return float(result.pulls[:, 0].mean()) / 50_000


def test_the_script() -> None:
    attack = vb.ObservationFree(target=1, zero_rounds=2, target_rounds=1)
    state = attack.init(Game(3, 10, np.array([0.5, 0.5, 0.5])))
    for t, expected in ((1, [0, 0, 0]), (2, [0, 0, 0]), (3, [0, 1, 0]), (4, [0.5, 0.5, 0.5])):
        rewards = np.array([0.5, 0.5, 0.5])
        attack.corrupt(state, Round.prompt(t, 3), rewards, stream(1))
        assert rewards.tolist() == expected


@pytest.mark.parametrize("policy", [vb.UCB1(alpha=1.0), vb.Thompson()], ids=lambda policy: policy.name)
def test_the_published_budgets_starve_the_best_arm(policy: vb.Policy) -> None:
    """From .98 (UCB1) and .998 (Thompson) to .0004: only the pulls of the script itself are left."""
    assert share_of_best(policy, None) > 0.97
    assert share_of_best(policy, vb.ObservationFree()) < 0.001


def test_the_usual_radius_needs_a_longer_script() -> None:
    """alpha = 2 loses .002 of the pulls to the published script, and everything to one of three times its length."""
    policy = vb.UCB1(alpha=2.0)
    clean = share_of_best(policy, None)
    assert share_of_best(policy, vb.ObservationFree()) > clean - 0.01
    assert share_of_best(policy, vb.ObservationFree(zero_rounds=102, target_rounds=198)) < 0.002


def test_the_cost_is_a_constant() -> None:
    result = vb.simulate(vb.UCB1(), ENV, vb.ObservationFree(), horizon=50_000, seed=1, checkpoints=[100])
    assert result.cost[0, 0] == result.cost[0, 1] <= 100


def test_a_budget_is_split_as_published() -> None:
    """34 to 66, whatever the budget, but not beyond the horizon; with no limit the published rounds themselves."""
    means = np.array([0.9, 0.8])
    assert vb.ObservationFree(budget=300).init(Game(len(means), 10_000, means))[1:] == (102, 300)
    assert vb.ObservationFree().init(Game(len(means), 10_000, means))[1:] == (34, 100)
    assert vb.ObservationFree(budget=300, target_rounds=5).init(Game(len(means), 10_000, means))[1:] == (102, 107)
    assert vb.ObservationFree(budget=1e17).init(Game(len(means), 10_000, means))[1:] == (3_400, 10_000)
    assert vb.ObservationFree(budget=25.9).init(Game(len(means), 10_000, means))[1:] == (8, 25), (
        "never more rounds than the budget pays"
    )
    result = vb.simulate(vb.UCB1(), ENV, vb.ObservationFree(budget=500), horizon=50_000, seed=1)
    assert 250 < result.cost[0, -1] <= 500
