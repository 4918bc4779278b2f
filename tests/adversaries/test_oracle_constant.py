"""The oracle attack by constants: Swap's rule under the name of Liu & Shroff."""

import numpy as np

import vambrace as vb

ENV = vb.Bernoulli([0.9, 0.5, 0.25])


def test_it_is_swap() -> None:
    one, other = (
        vb.simulate(vb.UCB1(), ENV, attack, horizon=5_000, seed=1, bounded=False)
        for attack in (vb.Swap(margin=0.2), vb.OracleConstant(margin=0.2))
    )
    assert np.array_equal(one.cost, other.cost)
    assert vb.OracleConstant() != vb.Swap()


def test_the_target_wins_at_sublinear_cost() -> None:
    result = vb.simulate(
        vb.UCB1(), ENV, vb.OracleConstant(), horizon=10**6, replications=10, seed=1, bounded=False, checkpoints=[10**5]
    )
    assert result.pulls[:, 2].min() > 0.98 * 10**6
    assert (result.cost[:, 1] < 2 * result.cost[:, 0]).all()
