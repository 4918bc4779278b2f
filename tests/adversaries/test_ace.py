"""ACE: needs no mean, but rewards below zero."""

import numpy as np

import vambrace as vb

ENV = vb.Bernoulli([(95 - 5 * k) / 100 for k in range(10)])


def run(bounded: bool) -> vb.Result:
    return vb.simulate(
        vb.UCB1(),
        ENV,
        vb.ACE(),
        horizon=10**6,
        replications=10,
        seed=1,
        bounded=bounded,
        checkpoints=[10**3, 10**4, 10**5],
        realized=False,
    )


def test_unbounded_the_target_wins_at_a_small_cost() -> None:
    """About 1,050 for a share of .998. The cost doubles with each decade; sqrt(T) would mean a factor of 3.2."""
    result = run(bounded=False)
    assert result.pulls[:, 9].mean() > 0.99 * 10**6
    cost = result.cost.mean(axis=0)
    assert cost[-1] < 2_000
    assert (cost[1:] / cost[:-1] < 2.7).all()


def test_clipped_it_fails() -> None:
    """A share of about .02, at a cost that is linear in time."""
    result = run(bounded=True)
    assert result.pulls[:, 9].mean() < 0.1 * 10**6
    assert np.median(result.cost[:, -1] / result.cost[:, -2]) > 5
