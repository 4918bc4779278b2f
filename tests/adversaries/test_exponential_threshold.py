"""The exponential threshold: fewer pulls of other arms than Jun et al.'s constant margin allows, and less cost."""

import numpy as np

import vambrace as vb

ENV = vb.Bernoulli([0.9, 0.5, 0.25])


def run(attack: vb.Adversary, bounded: bool, horizon: int = 10**6) -> vb.Result:
    return vb.simulate(vb.UCB1(), ENV, attack, horizon=horizon, replications=20, seed=1, bounded=bounded)


def test_it_costs_less_than_jun() -> None:
    """At T = 10^6 about 60 against 2,400."""
    jun, exponential = run(vb.JunUCB(), False), run(vb.ExponentialThreshold(), False)
    assert exponential.cost[:, -1].mean() < 0.2 * jun.cost[:, -1].mean()
    assert exponential.pulls[:, 2].min() >= 10**6 - 20


def test_other_arms_are_hardly_visited_again() -> None:
    """Pulls of other arms go like ln ln T: no more than a few over three decades."""
    early, late = (run(vb.ExponentialThreshold(), False, horizon=T).pulls[:, :2].sum(axis=1) for T in (10**3, 10**6))
    assert (late - early).max() <= 4


def test_clipped_it_returns_zeros() -> None:
    result = vb.simulate(
        vb.UCB1(),
        vb.Deterministic([0.75, 0.5, 0.25]),
        vb.ExponentialThreshold(),
        horizon=3_000,
        checkpoints=[3],
        interpret=True,
    )
    first_sweep, total = result.cost[0]
    assert first_sweep == 0.0  # the target comes last
    assert total == 0.75 * (result.pulls[0, 0] - 1) + 0.5 * (result.pulls[0, 1] - 1)
    assert np.argmax(result.pulls[0]) == 2
