"""Mimic thins the best arms to a mean that lies `depth` gaps lower, as its twin does, and no other arm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from tables import uniforms
from vambrace.protocols import Game, Round
from vambrace.sampling import stream

means_of_arms = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=5)


@given(means_of_arms, st.sampled_from([0.3, 1.0, 1.2, 4.0]), st.data())
def test_the_same_rewards_as_the_twin(means: list[float], depth: float, data: st.DataObject) -> None:
    arm = data.draw(st.none() | st.integers(0, len(means) - 1))
    attack, rng = vb.Mimic(arm=arm, depth=depth), stream(5)
    twin = naive.Mimic(means, arm, depth, uniforms(5))
    state = attack.init(Game(len(means), 100, np.array(means)))
    for t in range(1, 60):
        pulled, reward = t % len(means), [0.0, 0.4, 1.0][t % 3]
        seen, state = attack.alter(state, Round.prompt(t, len(means)), pulled, reward, None, rng)
        assert seen == twin.alter(t, pulled, reward)


def test_the_arm_looks_like_a_worse_one() -> None:
    """Observed mean of the hidden arm: 0.9 - 1.5 * 0.1; within 5 standard errors (false alarm 6e-7, seed fixed)."""
    result = vb.simulate(
        vb.KLUCBWR(budget=10**6), vb.Bernoulli([0.9, 0.8]), vb.Mimic(depth=1.5), horizon=200_000, seed=1, checkpoints=1
    )
    pulls = result.pulls[0, 0]
    thinned = result.cost[0, -1] / pulls
    assert thinned == pytest.approx(0.15, abs=5 * 0.36 / np.sqrt(pulls))


def test_every_best_arm_is_hidden_and_equal_arms_are_left_alone() -> None:
    tied = vb.Mimic(depth=1.0).init(Game(4, 10, np.array([0.5, 0.8, 0.8, 0.2])))
    assert tied.chances.tolist() == pytest.approx([0.0, 0.375, 0.375, 0.0])
    assert vb.Mimic().init(Game(2, 10, np.array([0.5, 0.5]))).chances.tolist() == [0.0, 0.0]


@pytest.mark.slow  # 4 s
def test_it_costs_a_patient_policy_less_to_be_hidden_from_than_conceal() -> None:
    """SPEC: Mimic breaks PE-WR as printed where Conceal with the same budget does not."""
    env, options = vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5]), {"horizon": 100_000, "replications": 20, "seed": 1}
    mimic, conceal = (
        vb.simulate(vb.PEWR(), env, attack, **options).pseudo_regret[:, -1].mean()  # type: ignore[arg-type]
        for attack in (vb.Mimic(budget=400, depth=1.2), vb.Conceal(budget=400))
    )
    assert mimic > 5_000 > conceal
