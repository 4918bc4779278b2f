"""Arms that open and close: every policy that allows it pulls the same arms as its oracle, live and in the engine.

The tables are what a policy observes, so that an attack is just another table.
"""

from typing import Any

import numpy as np
import pytest

import naive
import vambrace as vb
from effort import repeated
from tables import Table, pulls_of_engine, uniforms
from vambrace import registry
from vambrace.errors import NotApplicable
from vambrace.policies.elimination import NEVER
from vambrace.protocols import Answer, Game, Round
from vambrace.sampling import gamma_width, quick_beta_draw, stream, uniform

N_ARMS, ROUNDS, SCHEDULES = 5, 700, repeated(5, quick=2)
Windows = list[list[tuple[int, int]]]

POLICIES: list[vb.Policy] = [
    vb.UCB1(),
    vb.KLUCB(),
    vb.UCBWR(budget=3),
    vb.CWOFUL(budget=2),
    vb.MedianOfMeansUCB(variance=0.0003, groups=4),
    vb.TrimmedMeanUCB(),
    vb.KLUCBWR(budget=3),
    vb.KLUCBWR(budget=0, commit=0.3, delta=0.5),
    vb.SE(delta=0.9),
    vb.SEWR(budget=1, delta=0.9, radius="tight"),
    vb.SEWR(budget=1, delta=0.9, radius="kl"),
    vb.SEWRStop(budget=1, delta=0.9, stop="multiplicative", radius="tight"),
    vb.EpsilonGreedy(),
    vb.Thompson(),
    vb.EXP3(),
    vb.EXP3IX(),
    vb.EXP3P(),
    vb.EXP3PlusPlus(scale=0.01),
    vb.TsallisINF(),
    vb.TsallisINF(estimator="rv"),
]
FREE_OF_SIZE = {"ucb1", "kl-ucb", "median-of-means-ucb", "trimmed-mean-ucb"}
FREE_OF_SIZE |= {"kl-ucb-wr", "epsilon-greedy", "thompson", "tsallis-inf"}
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=repr)


def random_windows(seed: int) -> Windows:
    """Each arm is open and closed in turn, and one arm, a mediocre one, always open."""
    coins, windows = np.random.default_rng(seed), []
    for arm in range(N_ARMS):
        t, own = 1 + int(coins.integers(0, 2)) * int(coins.geometric(0.01)), []
        while t <= ROUNDS:
            end = t + int(coins.geometric(0.01))
            own.append((t, min(end, ROUNDS + 1)))
            t = end + int(coins.geometric(0.02))
        windows.append(own or [(ROUNDS, ROUNDS + 1)])
        if arm == 2:
            windows[arm] = [(1, ROUNDS + 1)]
    return windows


def observed(seed: int, attacked: bool) -> Table:
    """Coins of five arms; with an attack the two best ones look bad in the first half."""
    table = (np.random.default_rng(seed).random((ROUNDS, N_ARMS)) < [0.9, 0.2, 0.5, 0.8, 0.4]).astype(float)
    if attacked:
        table[: ROUNDS // 2, [0, 3]] = 0.0
    return table


def oracle_of(policy: Any, *key: int) -> Any:
    options = {name: getattr(policy, name) for name in policy.__dataclass_fields__}
    rng = stream(*key)
    if isinstance(policy, vb.Thompson):
        options["beta"] = lambda a, b: quick_beta_draw(a, gamma_width(a), b, gamma_width(b), rng)
        options["uniforms"] = iter(lambda: uniform(rng), None)
    elif policy.randomized:
        options["uniforms"] = uniforms(*key)
    return getattr(naive, type(policy).__name__)(N_ARMS, ROUNDS, **options)


def test_the_policies_here_are_all_that_can() -> None:
    assert {policy.name for policy in POLICIES} == {*registry.with_changing_arms()}


@each_policy
@pytest.mark.parametrize("attacked", [False, True])
def test_same_arms_as_the_oracle(policy: vb.Policy, attacked: bool) -> None:
    for seed in range(SCHEDULES):
        windows, table = random_windows(seed), observed(seed, attacked)
        expected = naive.play_with_changes(oracle_of(policy, 0, 0, 0), table.tolist(), windows)
        closed = [t for t, arm in enumerate(expected, start=1) if not any(a <= t < b for a, b in windows[arm])]
        assert not closed, "the oracle itself"
        given = dict(enumerate(windows))
        assert pulls_of_engine(policy, table, interpret=True, arms_open=given) == expected


@pytest.mark.parametrize(
    "policy",
    [
        vb.KLUCBWR(budget=3),
        vb.EXP3P(),
        *(
            pytest.param(each, marks=pytest.mark.slow) for each in (vb.UCB1(), vb.Thompson(), vb.TsallisINF())
        ),  # 4 s each
    ],
    ids=repr,
)
def test_same_arms_compiled(policy: vb.Policy) -> None:
    windows, table = random_windows(0), observed(0, True)
    pulls = [
        pulls_of_engine(policy, table, interpret=each, arms_open=dict(enumerate(windows))) for each in (True, False)
    ]
    assert pulls[0] == pulls[1]


@each_policy
def test_a_state_that_gets_more_arms_goes_on_as_if_they_had_been_closed(policy: vb.Policy) -> None:
    """Exactly so if no constant of the policy depends on the number of arms."""
    opens, horizon = 150, ROUNDS
    table = observed(1, False)
    narrow, wide, n_arms = policy.init(Game(3, horizon)), policy.init(Game(N_ARMS, horizon)), 3
    assert policy.open_arm is not None
    assert policy.close_arm is not None
    for arm in (3, 4):
        wide = policy.close_arm(wide, arm)
    available, streams = np.array([True, True, True, False, False]), (stream(5), stream(5))
    arms: list[list[int]] = [[], []]
    for t in range(1, 400):
        if t == opens:
            narrow, n_arms = policy.widen(narrow, Game(N_ARMS, horizon)), N_ARMS
        if t == opens + 50:
            narrow, wide = policy.open_arm(narrow, 3), policy.open_arm(wide, 3)
            available[3] = True
        states = []
        for which, state in enumerate((narrow, wide)):
            size = n_arms if which == 0 else N_ARMS
            round = Round(t, 0, np.zeros(size, dtype=np.int64), available[:size])
            arm, probability, tag = policy.select(state, round, streams[which])
            assert available[arm]
            arms[which].append(int(arm))
            states.append(policy.update(state, Answer(int(arm), float(table[t, arm]), probability, tag)))
        narrow, wide = states
    assert 3 in arms[0], "a new arm is played"
    assert 4 not in arms[0], "one that was never opened is not"
    if policy.name in FREE_OF_SIZE and getattr(policy, "delta", 0.5) is not None:  # None is K / T
        assert arms[0] == arms[1]


def test_an_arm_that_was_dropped_because_of_a_closed_arm_comes_back() -> None:
    policy = vb.SEWR(budget=0, delta=0.9, radius="tight")
    state, closed = policy.init(Game(3, 1000)), np.ones(3, dtype=np.bool_)

    def play(state: Any, rounds: int) -> Any:
        for t in range(rounds):
            arm, *_ = policy.select(state, Round(t + 1, 0, np.zeros(3, dtype=np.int64), closed), stream(0))
            state = policy.update(state, Answer(int(arm), (1.0, 0.5, 0.0)[arm], 1.0, 0))
        return state

    state = play(state, 500)
    assert state.arms.dropped.tolist() == [False, True, True]
    state = policy.close_arm(state, 0)
    assert 1 in state.arms.active[: state.arms.n_active], "it is the best open arm now"
    state = play(state, 100)
    assert state.arms.active[: state.arms.n_active].tolist() == [1], "and beats arm 2"
    state = policy.open_arm(state, 0)
    assert state.arms.active[: state.arms.n_active].tolist() == [0]
    assert state.last_test == NEVER


def test_a_new_arm_is_drawn_with_probability_one_over_the_open_arms() -> None:
    policies: list[vb.Policy] = [vb.EXP3(), vb.EXP3IX(), vb.EXP3P(), vb.TsallisINF()]
    for policy in policies:
        assert policy.open_arm is not None
        assert policy.close_arm is not None
        state = policy.close_arm(policy.init(Game(3, 1000)), 2)
        available = np.array([True, True, False])
        for t in range(1, 300):
            round = Round(t, 0, np.zeros(3, dtype=np.int64), available)
            arm, probability, tag = policy.select(state, round, stream(1, t))
            state = policy.update(state, Answer(int(arm), float(arm == 0), probability, tag))
        state, available[2] = policy.open_arm(state, 2), True
        chances = {}
        for t in range(200):
            arm, chance, _ = policy.select(state, Round(300, 0, np.zeros(3, dtype=np.int64), available), stream(2, t))
            chances[int(arm)] = chance
        # Tsallis-INF's loss is set before the weights are brought to the sum one, which shifts them a little
        assert chances[2] == pytest.approx(1 / 3, abs=0.09 if isinstance(policy, vb.TsallisINF) else 1e-9)
        assert chances[0] > chances.get(1, 0.0)


def test_a_policy_whose_arms_cannot_change_names_those_that_can() -> None:
    with pytest.raises(NotApplicable, match=r"kl-ucb-wr, .*ucb1\), got pe-wr"):
        vb.PEWR().widen(None, Game(3, 100))
    with pytest.raises(NotApplicable, match="got moss"):
        vb.simulate(vb.MOSS(), vb.Bernoulli([0.9, 0.5]), horizon=100, arms_open={1: [(50, None)]})
