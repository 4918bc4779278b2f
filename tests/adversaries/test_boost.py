"""Boost raises the runner-up, as its twin does, and costs an armoured policy what it spends."""

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
    attack, rng = vb.Boost(arm=arm, depth=depth), stream(5)
    twin = naive.Boost(means, arm, depth, uniforms(5))
    state = attack.init(Game(len(means), 100, np.array(means)))
    for t in range(1, 60):
        pulled, reward = t % len(means), [0.0, 0.4, 1.0][t % 3]
        seen, state = attack.alter(state, Round.prompt(t, len(means)), pulled, reward, None, rng)
        assert seen == twin.alter(t, pulled, reward)


@pytest.mark.slow  # 3 s
def test_what_is_spent_adds_to_the_regret() -> None:
    """Theorem A and B: C more, up to a few per cent, on the arm of one's choice (40 games, seeds fixed)."""
    policy, env = vb.KLUCBWR(budget=1000), vb.Bernoulli([0.9, 0.8, 0.7])
    options = {"horizon": 10**6, "replications": 40, "seed": 3, "checkpoints": 1}
    clean = vb.simulate(policy, env, **options).pseudo_regret[:, -1].mean()  # type: ignore[arg-type]
    for arm in (None, 2):
        attack = vb.Boost(budget=1000, arm=arm)
        result = vb.simulate(policy, env, attack, **options)  # type: ignore[arg-type]
        assert result.pseudo_regret[:, -1].mean() - clean == pytest.approx(1000, rel=0.15)
        assert (result.cost[:, -1] == 1000).all()


def test_nothing_to_raise() -> None:
    assert vb.Boost().init(Game(2, 10, np.array([0.5, 0.5]))).chance == 0.0
    assert vb.Boost(arm=0).init(Game(2, 10, np.array([0.5, 0.1]))).chance == 0.0
