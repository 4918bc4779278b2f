"""Jun et al. on UCB: the target gets everything for a cost that grows like ln T."""

from functools import cache

import numpy as np
import pytest

import vambrace as vb

ENV = vb.Bernoulli([0.9, 0.5, 0.25])
DECADES = [10**4, 10**5, 10**6]


@cache
def attacked(bounded: bool, horizon: int = 10**7) -> vb.Result:
    return vb.simulate(
        vb.UCB1(),
        ENV,
        vb.JunUCB(),
        horizon=horizon,
        replications=20,
        seed=1,
        bounded=bounded,
        checkpoints=DECADES,
        realized=False,
    )


def test_the_cost_grows_like_the_logarithm() -> None:
    """Per decade about 870, 1,040, 870; growth like sqrt(T) would make each increment 3.2 times the one before."""
    increments = np.diff(attacked(True).cost.mean(axis=0))
    assert increments.max() < 1.5 * increments.min()


def test_unbounded_it_is_no_dearer() -> None:
    """A first reward far below zero keeps an arm away for long, so that the cost comes in jumps, but not in more."""
    assert (attacked(False).cost.mean(axis=0) < 1.05 * attacked(True).cost.mean(axis=0)).all()


@pytest.mark.parametrize("bounded", [True, False])
def test_the_target_gets_nearly_every_pull(bounded: bool) -> None:
    assert attacked(bounded, 10**6).pulls[:, 2].min() > 0.99 * 10**6


def test_without_attack_its_share_vanishes() -> None:
    early, late = (vb.simulate(vb.UCB1(), ENV, horizon=T, replications=4, seed=1) for T in (10**4, 10**6))
    assert late.pulls[:, 2].mean() / 10**6 < 0.1 * early.pulls[:, 2].mean() / 10**4
    assert late.pulls[:, 2].max() < 0.001 * 10**6


def test_a_wider_margin_leaves_fewer_pulls_to_others() -> None:
    """They go like 1 / margin^2: nine times as many, but for the 2 beta that comes on top of either margin."""
    wide, narrow = (
        vb.simulate(vb.UCB1(), ENV, vb.JunUCB(margin=m), horizon=10**6, replications=5, seed=1).pulls[:, 0].mean()
        for m in (0.3, 0.1)
    )
    assert 4 < narrow / wide < 10
