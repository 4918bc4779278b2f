"""The exponential-weights family: equal to the oracle, sound numbers after any number of rounds, right when delayed."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples
from tables import Table, pulls_of_engine, pulls_of_learner, tables, uniforms
from vambrace.kernels import Slot, compiled, kernel
from vambrace.live.knowledge import LIVE
from vambrace.policies.exponential import MOST_CHANGES, make_weights, raise_score
from vambrace.protocols import Answer, Floats, Game, Round
from vambrace.sampling import Stream, stream
from vambrace.testing import check_policy

DEFAULTS = [vb.EXP3(), vb.EXP3IX(), vb.EXP3P(), vb.EXP3PlusPlus(), vb.TsallisINF()]
OTHERS = [vb.EXP3(gamma=0.3), vb.EXP3P(delta=0.2), vb.EXP3PlusPlus(scale=0.01), vb.TsallisINF(estimator="rv")]
each_policy = pytest.mark.parametrize("policy", DEFAULTS + OTHERS, ids=repr)


def oracle_of(policy: Any, n_arms: int, horizon: int, *key: int) -> Any:
    options = {name: getattr(policy, name) for name in policy.__dataclass_fields__}
    return getattr(naive, type(policy).__name__)(n_arms, horizon, uniforms=uniforms(*key), **options)


def probabilities(policy: vb.Policy, state: Any) -> Floats:
    """What the next arm is drawn with."""
    if hasattr(state, "mixed"):
        return np.array(state.mixed)
    if hasattr(state, "normaliser"):
        return np.array(state.weights)
    exploration, values = 0.0 if isinstance(policy, vb.EXP3IX) else state.exploration, state.weights.values
    return np.asarray((1.0 - exploration) * values / state.weights.total + exploration / len(values))


@pytest.mark.parametrize("policy", [*OTHERS[:2], *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS[2:])])
def test_other_parameters_conform(policy: vb.Policy) -> None:
    check_policy(policy)


@each_policy
@pytest.mark.parametrize(("n_arms", "rounds"), [(1, 1), (1, 40), (2, 64), (5, 5), (4, 900)])
def test_step_by_step(policy: vb.Policy, n_arms: int, rounds: int) -> None:
    table = (np.random.default_rng(3).random((rounds, n_arms)) < np.linspace(0.95, 0.05, n_arms)).astype(float)
    oracle = oracle_of(policy, n_arms, rounds, 7, LIVE)
    learner = policy.learner(n_arms=n_arms, horizon=rounds, seed=7)
    for t, row in enumerate(table):
        decision, law = learner.ask(), oracle.probabilities
        assert decision.arm == oracle.ask()
        assert decision.probability == pytest.approx(law[decision.arm], rel=1e-9)
        if t >= n_arms:  # before that EXP3++ has not drawn anything
            np.testing.assert_allclose(probabilities(policy, learner._core.state), law, rtol=1e-9, atol=1e-19)
        learner.tell(decision, row[decision.arm])
        oracle.tell(decision.arm, row[decision.arm])


@each_policy
@examples(25)
@given(table=tables(), seed=st.integers(0, 99))
def test_same_arms_as_the_oracle(policy: vb.Policy, table: Table, seed: int) -> None:
    """Rewards outside [0, 1], which only the engine lets through, must act as if clipped."""
    rounds, n_arms = table.shape
    unbounded = table + np.random.default_rng(seed).choice([0.0, 0.0, 1.5, -40.0], table.shape)
    clipped = np.clip(unbounded, 0.0, 1.0)
    expected = naive.play(oracle_of(policy, n_arms, rounds, 0, 0, 0), clipped.tolist())
    assert pulls_of_engine(policy, unbounded, interpret=False) == expected
    assert pulls_of_engine(policy, unbounded, interpret=True) == expected
    live = naive.play(oracle_of(policy, n_arms, rounds, 0, LIVE), clipped.tolist())
    assert pulls_of_learner(policy, clipped) == live


@each_policy
def test_same_arms_over_many_rounds(policy: vb.Policy) -> None:
    """Past several renewals of the running sum, with a change of fortune half way."""
    table = np.random.default_rng(11).random((4001, 4)) < [0.9, 0.85, 0.5, 0.1]
    table[2000:] = table[2000:, ::-1]
    expected = naive.play(oracle_of(policy, 4, 4001, 0, 0, 0), table.astype(float).tolist())
    assert len(set(expected[-500:])) > 1
    assert pulls_of_engine(policy, table.astype(float), interpret=False) == expected


# --------------------------------------------------------------------------------------- many rounds

select, update = Slot("select"), Slot("update")


@kernel
def go_on(state: Any, rewards: Floats, first: int, last: int, pending: Round, rng: Stream) -> Any:
    """Rounds `first` to `last`; row t modulo their number of `rewards` is round t's."""
    for t in range(first, last):
        arm, probability, tag = select(state, pending, rng)
        state = update(state, Answer(arm, rewards[t % len(rewards), arm], probability, tag))
    return state


def state_after(policy: vb.Policy, rewards: Any, rounds: int) -> Any:
    table = np.atleast_2d(np.array(rewards, dtype=float))
    pending = Round.prompt(1, table.shape[1])
    run = compiled(go_on, {"select": policy.select, "update": policy.update, "ARMS_CHANGE": False})
    return run(policy.init(Game(table.shape[1], rounds)), table, 0, rounds, pending, stream(1))


def numbers(state: Any) -> list[float]:
    """Everything in a state, however nested."""
    if isinstance(state, tuple):
        return [number for each in state for number in numbers(each)]
    return [float(number) for number in np.ravel(state)]


ZEROS, ONES, ONE = [0.0] * 6, [1.0] * 6, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def check_extremes(policy: vb.Policy, rounds: int) -> None:
    for rewards in (ZEROS, ONES, ONE):
        state = state_after(policy, rewards, rounds)
        chances = probabilities(policy, state)
        assert np.isfinite(numbers(state)).all()
        assert abs(chances.sum() - 1.0) < 1e-9
        assert (chances > 0.0).all()
        if rewards is ONE:
            assert chances[2] > (0.7 if policy == vb.EXP3(gamma=0.3) else 0.98)


@each_policy
def test_extreme_rewards(policy: vb.Policy) -> None:
    check_extremes(policy, 10**6)


@pytest.mark.slow
@each_policy
def test_extreme_rewards_for_very_long(policy: vb.Policy) -> None:
    check_extremes(policy, 10**8)


@pytest.mark.parametrize("policy", [vb.EXP3(), vb.EXP3(gamma=0.3), vb.EXP3IX()], ids=repr)
def test_the_running_sum_does_not_drift(policy: vb.Policy) -> None:
    """After a million rounds in which the best arm changes ten times: the same as a softmax of the scores."""
    blocks = np.zeros((200_000, 6))
    blocks[:100_000, 1] = blocks[100_000:, 4] = 1.0
    weights = state_after(policy, blocks, 10**6).weights
    fresh = np.exp(weights.rate * (weights.scores - weights.scores.max()))
    np.testing.assert_allclose(weights.values / weights.total, fresh / fresh.sum(), rtol=1e-9, atol=1e-19)
    assert weights.total == pytest.approx(weights.values.sum(), rel=1e-12, abs=0)


@pytest.mark.parametrize(("amount", "raised"), [(-0.5, 3), (0.9, 3), (0.9, 1), (1e-6, 3)])
def test_the_sum_is_renewed_before_rounding_shows(amount: float, raised: int) -> None:
    """A total that falls by decades, one that rises, one that would overflow, one that stays."""
    weights, most = make_weights(3, 1.0), 0
    for _ in range(2 * MOST_CHANGES + 5):
        for arm in range(raised):
            weights = raise_score(weights, arm, amount)
            most = max(most, weights.changes)
            assert weights.total == pytest.approx(weights.values.sum(), rel=1e-12, abs=0)
    assert 0 < most < MOST_CHANGES
    fresh = np.exp(weights.scores - weights.scores.max())
    np.testing.assert_allclose(weights.values / weights.total, fresh / fresh.sum(), rtol=1e-9, atol=1e-19)


def test_weights_too_small_to_matter_stay_positive() -> None:
    weights = make_weights(2, 1.0)
    for _ in range(3000):
        weights = raise_score(weights, 0, -1.0)
    assert 0.0 < weights.values[0] / weights.total < 1e-19


# ------------------------------------------------------------------------------------ delayed answers


def scores_of(state: Any) -> Floats:
    for name in ("scores", "gains", "losses"):
        if hasattr(state, name):
            return np.array(getattr(state, name))
    return np.array(state.weights.scores)


def spread(policy: vb.Policy, state: Any, baseline: float) -> Floats:
    """EXP3.P's bonuses, or the baselines of Tsallis-INF, of all arms in the present state."""
    present = probabilities(policy, state)
    if hasattr(state, "bonus"):
        return np.asarray(state.bonus / present)
    return np.where(present >= 16.0 / (state.answered + 1), baseline, 0.0)


# What a reward of 0.25 adds to the scores of the other arms and to its own arm's, drawn with probability p.
LATE: list[tuple[vb.Policy, float, Callable[[float, Any], float]]] = [
    (vb.EXP3(), 0.0, lambda p, state: 0.25 / p),
    (vb.EXP3IX(), 0.0, lambda p, state: -0.75 / (p + state.exploration)),
    (vb.EXP3P(), 0.0, lambda p, state: (0.25 + state.bonus) / p),
    (vb.EXP3PlusPlus(), 0.0, lambda p, state: -0.75 / p),
    (vb.TsallisINF(), 0.0, lambda p, state: 0.75 / p),
    (vb.TsallisINF(estimator="rv"), 0.5, lambda p, state: 0.75 / p),
]


@pytest.mark.parametrize(
    ("policy", "baseline", "own"), LATE, ids=lambda each: repr(each) if isinstance(each, vb.Policy) else ""
)
def test_a_late_answer_counts_with_the_probability_of_its_own_draw(
    policy: vb.Policy, baseline: float, own: Callable[[float, Any], float]
) -> None:
    """The answer to the fourth decision comes after 40 others; arm 2 is the best by then, and likelier."""
    learner = policy.learner(n_arms=3, horizon=300, seed=5)
    for _ in range(3):
        learner.tell(learner.ask(), 0.5)
    late = learner.ask()
    for _ in range(40):
        decision = learner.ask()
        learner.tell(decision, float(decision.arm == 2))
    before = copy.deepcopy(learner._core.state)
    learner.tell(late, 0.25)
    expected = spread(policy, before, baseline)
    assert late.arm != 2
    assert late.probability is not None
    assert probabilities(policy, before)[late.arm] < 0.8 * late.probability
    expected[late.arm] = own(late.probability, before)
    np.testing.assert_allclose(scores_of(learner._core.state) - scores_of(before), expected, rtol=1e-9)


# ------------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        (vb.EXP3, {"gamma": 0}, r"gamma: expected a number in \(0, 1\], got 0"),
        (vb.EXP3, {"gamma": 1.5}, r"gamma: expected a number in \(0, 1\], got 1.5"),
        (vb.EXP3P, {"delta": 1}, r"delta: expected a number in \(0, 1\), got 1"),
        (vb.EXP3PlusPlus, {"scale": 0}, r"scale: expected a number in \(0, inf\], got 0"),
        (vb.TsallisINF, {"estimator": 2}, "estimator: expected one of iw, rv, got 2"),
        (vb.TsallisINF, {"estimator": "vr"}, "estimator"),
    ],
)
def test_senseless_parameters(policy: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(vb.VambraceError, match=message):
        policy(**options)
