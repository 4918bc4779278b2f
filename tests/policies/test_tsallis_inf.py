"""Tsallis-INF is good in both worlds, and its normaliser is found from anywhere."""

import dataclasses
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vambrace as vb
from vambrace.kernels import kernel
from vambrace.policies.tsallis_inf import _normalise
from vambrace.protocols import Floats, Integers
from vambrace.sampling import Stream, uniform

DECADES = [10**3, 10**4, 10**5, 10**6]
K = 4


class ShiftingState(NamedTuple):
    clock: Integers  # draws so far, the round in which this turn ends, and whether it is a poor one
    gap: float
    fading: bool


@kernel
def draw(state: ShiftingState, arm: int, rng: Stream) -> float:
    clock = state.clock
    t = clock[0] // K + 1  # where realised regret is asked for, the engine draws every arm once a round
    clock[0] += 1
    if t > clock[1]:
        clock[1], clock[2] = 8 * t // 5, 1 - clock[2]
    gap = min(1.0, state.gap / sqrt(t)) if state.fading else state.gap
    best = gap if clock[2] == 1 else 1.0
    return 1.0 if uniform(rng) < (best if arm == 0 else best - gap) else 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shifting(vb.Environment):
    """Arm 0 is the best by `gap`, but all arms pay much and little by turns that grow by a factor of 1.6.

    So do Zimmert and Seldin (2021) fool policies that trust means. `fading`: the gap is gap / sqrt(t), always about as
    small as can be noticed.
    """

    name = "shifting"
    gap: float
    fading: bool
    draw = staticmethod(draw)

    def arm_means(self) -> Floats:
        return np.array([1.0] + (K - 1) * [1.0 - self.gap])

    def init(self) -> ShiftingState:
        return ShiftingState(np.zeros(3, dtype=np.int64), self.gap, self.fading)


def realised_regret(policy: vb.Policy, environment: vb.Environment) -> Any:
    """Mean over 20 replications after each decade."""
    options: dict[str, Any] = {"horizon": DECADES[-1], "checkpoints": DECADES, "seed": 3}
    return vb.simulate(policy, environment, replications=20, realized=True, **options).realized_regret.mean(axis=0)


@pytest.mark.parametrize("estimator", ["iw", pytest.param("rv", marks=pytest.mark.slow)])  # 2 s each
def test_the_regret_is_logarithmic_in_a_stochastic_world(estimator: Literal["iw", "rv"]) -> None:
    """ "iw" 105, 168, 232 and "rv" 62, 92, 122 (standard errors 4 to 10): the same again in each decade.

    Growth as sqrt(T) would multiply the increment by 3.2.
    """
    options: dict[str, Any] = {"horizon": DECADES[-1], "checkpoints": DECADES, "seed": 3, "replications": 20}
    policy = vb.TsallisINF(estimator=estimator)
    regret = vb.simulate(policy, vb.Bernoulli([0.6] + (K - 1) * [0.4]), **options).pseudo_regret.mean(axis=0)
    increments = np.diff(regret)
    assert (increments > 10).all()
    assert 0.5 < increments[2] / increments[1] < 1.6
    assert regret[3] < 300


@pytest.mark.slow  # 1.5 s
def test_it_stays_logarithmic_where_means_shift_and_ucb1_is_fooled() -> None:
    """108, 176, 239 (standard errors 5 to 8) and of UCB1 520, 4,100, 40,000."""
    world = Shifting(gap=0.2, fading=False)
    regret = realised_regret(vb.TsallisINF(), world)
    increments = np.diff(regret)
    assert 0.4 < increments[2] / increments[1] < 1.7
    assert realised_regret(vb.UCB1(), world)[3] > 50 * regret[3]


@pytest.mark.slow  # 2 s each
@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_the_regret_grows_like_the_root_of_time_where_the_gap_fades(estimator: Literal["iw", "rv"]) -> None:
    """ "iw" 107, 348, 1,099 and "rv" 84, 270, 972 (standard errors 5 to 8 percent): times sqrt(10) in each decade.

    A constant increment would make the last ratio 1.4, linear growth 10; the bound is 4 sqrt(K T) + 1.
    """
    regret = realised_regret(vb.TsallisINF(estimator=estimator), Shifting(gap=1.0, fading=True))
    assert ((regret[1:] / regret[:-1] > 2.3) & (regret[1:] / regret[:-1] < 4.3)).all()
    assert (regret < 4 * np.sqrt(K * np.array(DECADES)) + 1).all()


@given(
    losses=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8),
    start=st.floats(-1e12, 1e12),
    t=st.integers(1, 10**12),
)
def test_the_normaliser_is_found_from_anywhere(losses: list[float], start: float, t: int) -> None:
    rate = 2.0 / sqrt(t)
    table, weights = np.array(losses), np.zeros(len(losses))
    x = _normalise(table, weights, start, rate)
    assert x < table.min()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(weights, 4.0 / (rate * (table - x)) ** 2, rtol=1e-9)
    # only a common constant is taken off
    np.testing.assert_allclose(table - table.min(), np.array(losses) - min(losses), rtol=1e-12, atol=1e-6)


def test_newton_is_kept_from_the_pole() -> None:
    """From the lower end of the enclosure the first step would lead beyond the lowest loss."""
    losses = np.array([0.0] + 9_999 * [150.0])
    weights = np.zeros(10_000)
    x = _normalise(losses, weights, -1e9, 2.0)
    assert -100.0 <= x <= -1.0
    np.testing.assert_allclose(weights, 1.0 / (losses - x) ** 2, rtol=1e-9)
