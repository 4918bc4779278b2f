"""Garcelon et al.: other arms pay a fraction of what the target surely pays, clipped or not."""

import numpy as np

import vambrace as vb

ENV = vb.Bernoulli([0.9, 0.5, 0.25])


def test_the_target_wins_at_sublinear_cost() -> None:
    """About 550 more for each decade; the same clipped, since what it returns lies in [0, 1]."""
    bounded, free = (
        vb.simulate(
            vb.UCB1(),
            ENV,
            vb.Garcelon(),
            horizon=10**6,
            replications=10,
            seed=1,
            bounded=b,
            checkpoints=[10**3, 10**4, 10**5],
            realized=False,
        )
        for b in (True, False)
    )
    assert bounded.pulls[:, 2].min() > 0.99 * 10**6
    cost = bounded.cost.mean(axis=0)
    assert cost[-1] < 2 * cost[-2]
    assert np.array_equal(bounded.cost, free.cost)


def test_low_rewards_are_raised() -> None:
    """The reward is replaced, so that every pull of another arm costs, also where it paid nothing."""
    env = vb.Deterministic([0.0, 0.75])
    result = vb.simulate(vb.UCB1(), env, vb.Garcelon(target=1), horizon=2_000, checkpoints=2, interpret=True)
    assert 0 < result.cost[0, -1] < 0.375 * result.pulls[0, 0]
