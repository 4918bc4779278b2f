"""KL-UCB-WR pulls the same arms as its oracle, leaps with the same law, and keeps what its theorem says."""

from dataclasses import dataclass
from math import ceil, e, exp, log, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples, repeated
from tables import Table, pulls_of_engine, pulls_of_learner, tables
from vambrace.errors import InvalidParameter
from vambrace.policies.kl_ucb_wr import State, exploration_level
from vambrace.protocols import Game
from vambrace.testing import check_policy

OPTIONS: list[dict[str, Any]] = [
    {"budget": budget, "delta": delta, "commit": commit}
    for budget in (None, 0.0, 0.5, 3.0, 17.0, 1000.0)
    for delta in (None, 0.01, 0.9)
    for commit in (0.0, 0.02, 0.3)
]


@dataclass(frozen=True, kw_only=True)
class Endless(vb.KLUCBWR):
    """The same policy, which is not told the horizon."""

    name = "endless"

    def init(self, game: Game) -> State:
        return super().init(Game(game.n_arms))


@pytest.mark.parametrize("endless", [False, True])
@examples(60)
@given(options=st.sampled_from(OPTIONS), table=tables())
def test_same_arms_as_the_oracle(endless: bool, options: dict[str, Any], table: Table) -> None:
    rounds, n_arms = table.shape
    policy = (Endless if endless else vb.KLUCBWR)(**options)
    expected = naive.play(naive.KLUCBWR(n_arms, None if endless else rounds, **options), table.tolist())
    assert pulls_of_engine(policy, table, interpret=False) == expected
    assert pulls_of_engine(policy, table, interpret=True) == expected
    assert pulls_of_learner(policy, table) == expected


@pytest.mark.parametrize("endless", [False, pytest.param(True, marks=pytest.mark.slow)])  # 3 s each
@pytest.mark.parametrize(
    "kind", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("coins", "alike", "floats")), "wild"]
)
def test_same_arms_over_many_rounds(kind: str, endless: bool) -> None:
    """Long enough for stretches, for arms that tie all the way, and for rewards outside [0, 1]."""
    rng = np.random.default_rng(11)
    rounds, means = 2001, np.array([0.85, 0.9, 0.5, 0.1])
    table = (rng.random((rounds, 4)) < means).astype(float)
    if kind == "floats":
        table = np.clip(rng.normal(means, 0.3, (rounds, 4)), 0.0, 1.0)
    elif kind == "alike":
        table[:] = 0.3
    elif kind == "wild":
        table[rng.integers(0, rounds, 300), rng.integers(0, 4, 300)] = rng.normal(0, 5, 300)
    for options in OPTIONS[:: repeated(5, quick=22)]:
        policy = (Endless if endless else vb.KLUCBWR)(**options)
        expected = naive.play(naive.KLUCBWR(4, None if endless else rounds, **options), table.tolist())
        assert pulls_of_engine(policy, table, interpret=False) == expected, options


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])  # of the options; all take 8 s
@pytest.mark.parametrize("horizon", [400, None])
def test_late_and_lost_answers(horizon: int | None, every: int) -> None:
    """Open decisions count only among arms of which nothing is known; now and then everything is answered."""
    rng = np.random.default_rng(12)
    for options in OPTIONS[::every]:
        learner = vb.KLUCBWR(**options).learner(n_arms=4, horizon=horizon, seed=0)
        oracle = naive.KLUCBWR(4, horizon, **options)
        waiting: list[vb.Decision] = []
        for t in range(400):
            waiting.append(learner.ask())
            assert waiting[-1].arm == oracle.ask()
            patience = 0.1 if t % 50 < 25 else 1.0
            rng.shuffle(waiting)
            while waiting and rng.random() < patience:
                decision = waiting.pop()
                if rng.random() < 0.1:
                    continue  # lost: it stays open for ever
                reward = float(rng.random() < [0.3, 0.9, 0.8, 0.5][decision.arm])
                learner.tell(decision, reward)
                oracle.tell(decision.arm, reward)


def test_nothing_known_is_spread() -> None:
    """Before any answer, and while the budget covers everything, decisions go round."""
    learner = vb.KLUCBWR(budget=10).learner(n_arms=3, horizon=1_000)
    asked = [learner.ask() for _ in range(9)]
    assert [decision.arm for decision in asked] == [0, 1, 2] * 3
    for decision in asked:
        learner.tell(decision, 0.0)
    assert sorted(learner.ask().arm for _ in range(6)) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    "options", [{"budget": 0}, {"budget": 3, "delta": 0.5, "commit": 0}, {"commit": 0.99}], ids=str
)
def test_other_parameters_conform(options: dict[str, Any]) -> None:
    check_policy(vb.KLUCBWR(**options))


@pytest.mark.parametrize("delta", [1.0, 0.5, 0.05, 1e-9, 1e-15])
@pytest.mark.parametrize("horizon", [1, 2, 10, 10**5, 10**9, 10**15])
def test_the_level_is_the_least_that_the_event_allows(horizon: int, delta: float) -> None:
    """e ceil(f ln T) exp(-f) <= delta for f, and for no smaller number above 1.

    A mutant without the factor ceil(f ln T) gives 1 - ln(delta) and fails here.
    """

    def chance(f: float) -> float:
        return e * max(1, ceil(f * log(horizon))) * exp(-f)

    level = exploration_level(horizon, delta)
    assert chance(level) <= delta * (1 + 1e-12)
    for smaller in np.linspace(1.0, nextafter(level, 0.0) - 1e-9, 1000):
        assert chance(smaller) > delta or smaller >= level


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"budget": -1}, "budget"),
        ({"budget": float("nan")}, "budget"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"commit": 1.0}, "commit"),
        ({"commit": -0.1}, "commit"),
    ],
)
def test_bad_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        vb.KLUCBWR(**given)
