"""Bernoulli, Beta and deterministic arms: what the conformance checks do not see."""

import numpy as np
import pytest

import vambrace as vb
from vambrace.sampling import stream


def test_beta_shapes_give_mean_and_variance() -> None:
    environment = vb.Beta([0.3], concentration=4)
    state = environment.init()
    rng = stream(1)
    draws = np.array([environment.draw(state, 0, rng) for _ in range(4_000)])
    assert draws.var() == pytest.approx(0.3 * 0.7 / 5, rel=0.15)


def test_deterministic_arms_pay_their_mean() -> None:
    environment = vb.Deterministic([0.3, 0.7])
    state = environment.init()
    assert environment.draw(state, 1, stream(1)) == 0.7
    assert environment.draw_total(state, 1, 10, stream(1)) == 7.0
    assert environment.outcomes(state, 0) == (0.3, 0.0, 1.0)


def test_environments_are_values() -> None:
    assert vb.Bernoulli([0.5, 0.25]) == vb.Bernoulli((0.5, 0.25))
    assert hash(vb.Bernoulli([0.5])) == hash(vb.Bernoulli(np.array([0.5]).tolist()))
    assert vb.Bernoulli([0, 1]).arm_means().tolist() == [0.0, 1.0]
