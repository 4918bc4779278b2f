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
    assert share_of_best(policy, vb.ObservationFree(zero_rounds=34, target_rounds=66)) > clean - 0.01
    assert share_of_best(policy, vb.ObservationFree(zero_rounds=102, target_rounds=198)) < 0.002


def test_the_cost_is_a_constant() -> None:
    result = vb.simulate(vb.UCB1(), ENV, vb.ObservationFree(), horizon=50_000, seed=1, checkpoints=[170])
    assert result.cost[0, 0] == result.cost[0, 1] <= 170


def test_a_budget_is_split_by_the_targets_mean() -> None:
    """As 1 - mean to mean, but not beyond the horizon; with no limit by the paper's formula, 2 * 15 zeros at 10^4."""
    means = np.array([0.9, 0.8])
    assert vb.ObservationFree(budget=300).init(Game(len(means), 10_000, means))[1:] == (60, 300)
    assert vb.ObservationFree().init(Game(len(means), 10_000, means))[1:] == (30, 150)
    assert vb.ObservationFree(target=0).init(Game(len(means), 10_000, means))[1:] == (24, 240)
    assert vb.ObservationFree(budget=300, target_rounds=5).init(Game(len(means), 10_000, means))[1:] == (60, 65)
    assert vb.ObservationFree(budget=1e17).init(Game(len(means), 10_000, means))[1:] == (2_000, 10_000)
    assert vb.ObservationFree(budget=25.9).init(Game(len(means), 10_000, means))[1:] == (5, 25), (
        "never more rounds than the budget pays"
    )
    assert vb.ObservationFree(budget=100).init(Game(len(means), 10_000, means))[1:] == (30, 100), "zeros come first"
    worthless = Game(2, 10_000, np.array([0.9, 0.0]))
    assert vb.ObservationFree().init(worthless)[1:] == (10_000, 10_000)
    result = vb.simulate(vb.UCB1(), ENV, vb.ObservationFree(budget=500), horizon=50_000, seed=1)
    assert 250 < result.cost[0, -1] <= 500


def test_470_rounds_for_five_arms() -> None:
    """Xu et al.'s formula for a target of mean 0.5: 235 rounds of each kind. A split of 34 to 66 gives 5,371."""
    env, attack = vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5]), vb.ObservationFree()
    assert attack.init(Game(5, 10**5, env.arm_means()))[1:] == (235, 470)
    result = vb.simulate(vb.UCB1(alpha=1), env, attack, horizon=10**5, replications=20, seed=0)
    assert result.pseudo_regret[:, -1].min() > 39_900
