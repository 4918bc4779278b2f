"""EXP3++: the gap term is there, and it is what makes the exploration shrink."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace.protocols import Answer, Game, Round
from vambrace.sampling import stream

K = 4


def state_of(scale: float, per_arm: int) -> Any:
    """After `per_arm` answers of each arm, all of probability one: arm 0 always pays one and the others never."""
    policy = vb.EXP3PlusPlus(scale=scale)
    state = policy.init(Game(K, 2 * K * per_arm))._replace(answered=K * per_arm - 1, unanswered=0)
    state.counts[:] = per_arm
    state.counts[0] -= 1
    state.totals[1:], state.means[1:], state.scores[1:] = per_arm, 1.0, -per_arm
    state.inverse_roots[:] = 1.0 / np.sqrt(state.counts)
    return policy.update(state, Answer(0, 1.0, 1.0, 0))


def xi(scale: float, per_arm: int) -> float:
    """Of arms 1, 2, 3, by hand."""
    t = K * per_arm + 1
    width = sqrt(3 * log(t * K ** (1 / 3)) / (2 * per_arm))
    gap = (1 - width) - (0 + width)
    return scale * log(t) / (t * gap * gap)


def most(per_arm: int) -> float:
    """The exploration of an arm without xi; here it is eta as well."""
    return 0.5 * sqrt(log(K) / (K * (K * per_arm + 1)))


def test_with_256_the_gap_does_not_show_at_short_horizons() -> None:
    """t = 8,001."""
    assert xi(256.0, 2000) > 10 * most(2000)
    followed, without = (state_of(scale, 2000) for scale in (256.0, np.inf))
    np.testing.assert_array_equal(followed.mixed, without.mixed)
    np.testing.assert_allclose(followed.explored, most(2000), rtol=1e-12)


@pytest.mark.parametrize(("scale", "per_arm"), [(0.1, 10**4), (256.0, 10**12)])
def test_with_a_small_scale_or_at_large_horizons_it_shows_arm_by_arm(scale: float, per_arm: int) -> None:
    """The best arm is explored as ever, the others by xi, and without xi they would be drawn much more often."""
    state, without = state_of(scale, per_arm), state_of(np.inf, per_arm)
    assert xi(scale, per_arm) < 0.05 * most(per_arm)
    np.testing.assert_allclose(without.explored, most(per_arm), rtol=1e-12)
    np.testing.assert_allclose(state.explored, [most(per_arm)] + 3 * [xi(scale, per_arm)], rtol=1e-9)
    weight = np.exp(-per_arm * most(per_arm))
    share = (1 - state.explored.sum()) * weight / (1 + 3 * weight)
    np.testing.assert_allclose(state.mixed[1:], state.explored[1:] + share, rtol=1e-9)
    assert state.mixed.sum() == pytest.approx(1.0, abs=1e-12)
    assert state.mixed[1] < 0.05 * without.mixed[1]


def test_an_arm_asked_but_never_answered_does_not_stop_it() -> None:
    learner = vb.EXP3PlusPlus().learner(n_arms=3, horizon=500, seed=0)
    assert [learner.ask().arm for _ in range(3)] == [0, 1, 2]
    for _ in range(400):
        decision = learner.ask()
        if decision.arm != 1:
            learner.tell(decision, 1.0)
    assert learner._core.state.unanswered == 1
    assert learner._core.state.mixed.sum() == pytest.approx(1.0, abs=1e-12)


def test_the_first_sweep_draws_nothing() -> None:
    policy, rng = vb.EXP3PlusPlus(), stream(1)
    state, pending = policy.init(Game(2, 10)), Round.prompt(1, 2)
    for arm in (0, 1):
        assert policy.select(state, pending, rng) == (arm, 1.0, 0)
        state = policy.update(state, Answer(arm, 0.0, 1.0, 0))
    np.testing.assert_array_equal(rng, stream(1))
    assert policy.select(state, pending, rng)[1] < 1.0
