"""Jun et al. on epsilon-greedy: the target gets everything for a cost that grows like ln T."""

import numpy as np
import pytest

import vambrace as vb

ENV = vb.Bernoulli([0.9, 0.5, 0.25])
DECADES = [10**4, 10**5, 10**6]


@pytest.mark.parametrize("bounded", [True, False])
def test_the_cost_grows_like_the_logarithm(bounded: bool) -> None:
    """Per decade 11 to 19; growth like sqrt(T) would make each increment 3.2 times the one before."""
    attacked = vb.simulate(
        vb.EpsilonGreedy(scale=10.0),
        ENV,
        vb.JunEpsilonGreedy(),
        horizon=10**7,
        replications=10,
        seed=1,
        bounded=bounded,
        checkpoints=DECADES,
        realized=False,
    )
    increments = np.diff(attacked.cost.mean(axis=0))
    assert (increments[1:] < 1.6 * increments[:-1]).all()
    assert attacked.pulls[:, 2].min() > 0.999 * 10**7


def test_without_attack_the_target_is_pulled_by_exploration_only() -> None:
    clean = vb.simulate(vb.EpsilonGreedy(scale=10.0), ENV, horizon=10**6, replications=4, seed=1)
    assert clean.pulls[:, 2].max() < 0.001 * 10**6


def test_clipped_a_target_that_paid_nothing_yet_cannot_be_made_to_lead() -> None:
    """With epsilon = 1/t the target has few pulls, all zeros with some luck: others cannot be pushed below zero.

    The learner then follows another arm, at a cost in every round, until exploration finds the target's first one.
    """
    free, clipped = (
        vb.simulate(
            vb.EpsilonGreedy(scale=1 / 3), ENV, vb.JunEpsilonGreedy(), horizon=10**6, replications=20, seed=1, bounded=b
        )
        for b in (False, True)
    )
    assert free.pulls[:, 2].min() > 0.999 * 10**6
    assert free.cost.max() < 50
    assert clipped.pulls[:, 2].min() < 0.001 * 10**6
    assert clipped.cost.max() > 0.5 * 10**6


@pytest.mark.parametrize("bounded", [True, False])
def test_with_ten_arms_and_the_default_exploration(bounded: bool) -> None:
    """Ten arms explore ten times as often: the target soon pays its first one, and then gets 95 %, clipped or not."""
    means = [(95 - 5 * arm) / 100 for arm in range(10)]
    attacked = vb.simulate(
        vb.EpsilonGreedy(),
        vb.Bernoulli(means),
        vb.JunEpsilonGreedy(),
        horizon=10**6,
        replications=40,
        seed=1,
        bounded=bounded,
    )
    assert attacked.pulls[:, 9].min() > 0.95 * 10**6
