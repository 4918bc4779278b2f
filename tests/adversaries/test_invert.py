"""Invert: one minus the reward, for all arms, before anyone has chosen."""

import numpy as np

import vambrace as vb
from vambrace.protocols import Game, Round
from vambrace.sampling import stream


def test_every_arm_is_inverted() -> None:
    attack = vb.Invert()
    rewards = np.array([0.0, 0.25, 1.0])
    attack.corrupt(attack.init(Game(len(rewards), 10, rewards)), Round.prompt(1, 3), rewards, stream(1))
    assert rewards.tolist() == [1.0, 0.75, 0.0]


def test_the_cost_of_a_round_is_the_largest_change() -> None:
    result = vb.simulate(vb.UCB1(), vb.Deterministic([0.75, 0.5]), vb.Invert(), horizon=10, interpret=True)
    assert result.cost[0, -1] == 10 * 0.5  # 0.75 -> 0.25 is the larger change
