"""Swap: every arm but the target loses its lead over it and a margin."""

import numpy as np

import vambrace as vb
from vambrace import registry
from vambrace.protocols import Game

MEANS = np.array([0.9, 0.5, 0.25])


def test_shifts() -> None:
    assert vb.Swap(margin=0.125).init(Game(len(MEANS), 10, MEANS)).tolist() == [0.775, 0.375, 0.0]
    assert vb.Swap(target=1, margin=0.125).init(Game(len(MEANS), 10, MEANS)).tolist() == [0.525, 0.0, 0.0]


def test_liu_and_shroffs_name_is_understood() -> None:
    """One attack with two names; `vambrace list` shows one."""
    assert registry.adversary("oracle-constant:margin=0.2") == vb.Swap(margin=0.2)
    assert "oracle-constant" not in registry.known("adversary")


def test_the_target_wins_and_the_cost_follows_the_regret() -> None:
    """Theorem 3: the cost is of the order of the regret that the victim would have anyway, here logarithmic."""
    env = vb.Bernoulli(MEANS.tolist())
    result = vb.simulate(vb.UCB1(), env, vb.Swap(), horizon=10**6, bounded=False, seed=1, checkpoints=[10**5])
    assert result.pulls[0, 2] > 0.99 * 10**6
    early, late = result.cost[0]
    assert late < 1.5 * early


def test_clipped_to_the_unit_interval_zeros_cannot_be_lowered() -> None:
    env = vb.Bernoulli(MEANS.tolist())
    clipped = vb.simulate(vb.UCB1(), env, vb.Swap(), horizon=10**5, seed=1)
    free = vb.simulate(vb.UCB1(), env, vb.Swap(), horizon=10**5, seed=1, bounded=False)
    assert clipped.pulls[0, 2] < free.pulls[0, 2]
