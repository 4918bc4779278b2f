"""Random flips: noise at a rate, until the budget is gone."""

import numpy as np
import pytest

import vambrace as vb


def test_rate_and_budget() -> None:
    env = vb.Bernoulli([0.5, 0.5])
    free = vb.simulate(vb.UCB1(), env, vb.RandomFlips(rate=0.2), horizon=50_000, seed=1)
    # 10,000 flips expected, standard deviation 89: five of them is a false alarm of one in a million
    assert abs(free.cost[0, -1] - 10_000) < 450
    limited = vb.simulate(vb.UCB1(), env, vb.RandomFlips(rate=0.2, budget=77), horizon=50_000, seed=1)
    assert limited.cost[0, -1] == 77.0


@pytest.mark.parametrize(("rate", "leader"), [(0.0, 0), (1.0, 1)])
def test_certain_flips_turn_the_world_over(rate: float, leader: int) -> None:
    result = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.1]), vb.RandomFlips(rate=rate), horizon=5_000, seed=1)
    assert int(np.argmax(result.pulls[0])) == leader
