"""A script plays as its twin, game by game; the attacks that it contains are equal to it; it can be replayed."""

import dataclasses
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from tables import Table, TableEnvironment, TableState, tables, uniforms
from vambrace import registry
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.protocols import Game
from vambrace.testing import check_adversary

ENVIRONMENT = vb.Bernoulli([0.8, 0.9, 0.7])
MEANS = np.array(ENVIRONMENT.means)
SCRIPTS: dict[str, dict[str, Any]] = {
    "hard": {"modes": "-+0"},
    "levels": {"modes": "-+-", "levels": [0.3, 0.95, 0.0]},
    "caps": {"modes": "--+", "caps": [7.25, inf, 3.5]},
    "windows": {"modes": "+-0", "first": [1, 40, 1], "last": [30, 90, 5]},
    "everything": {"modes": "-0+", "levels": [0.2, 0.5, 0.9], "caps": [9.0, 1.0, 4.0], "last": [80, 80, 200]},
}


def ucb1(n_arms: int, horizon: int) -> Any:
    return naive.UCB1(n_arms, horizon)


def sewr(n_arms: int, horizon: int) -> Any:
    return naive.SEWR(n_arms, horizon, budget=3.0, delta=0.5, radius="tight")


def pewr(n_arms: int, horizon: int) -> Any:
    return naive.PEWR(n_arms, horizon, delta=0.9)


VICTIMS: list[Any] = [(vb.SEWR(budget=3.0, delta=0.5, radius="tight"), sewr), (vb.PEWR(delta=0.9), pewr)]


def compare(how: dict[str, Any], victim: Any, table: Table, budget: float) -> None:
    """The same arms, pull by pull, and the same cost; the engine's attack draws from the stream (0, 0, 2)."""
    policy, make_oracle = victim
    state = TableState(table, np.full(len(table), -1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    script = vb.Script(budget=budget, **how)
    result = vb.simulate(policy, TableEnvironment(state), script, horizon=len(table), checkpoints=1, interpret=True)
    oracle, rows = make_oracle(table.shape[1], len(table)), table.tolist()
    options = {name: value for name, value in how.items() if name != "modes"}
    twin = naive.Script(table.mean(axis=0).tolist(), oracle, how["modes"], uniforms(0, 0, 2), **options)
    record = naive.game(oracle, lambda t, arm: rows[t][arm], twin, budget, True, len(table))
    assert state.arms.tolist() == record.arms
    assert result.cost[0, -1] == pytest.approx(float(record.cost), abs=1e-9)


@pytest.mark.parametrize("dropping", [False, True])
@pytest.mark.parametrize("budget", [11.3, inf])
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_same_games_as_the_twin(name: str, budget: float, dropping: bool) -> None:
    rng = np.random.default_rng(11)
    coins = (rng.random((600, 3)) < [0.9, 0.7, 0.3]).astype(float)
    blurred = np.clip(rng.normal([0.8, 0.85, 0.4], 0.15, (400, 3)), 0.0, 1.0)
    for victim in VICTIMS if dropping else [(vb.UCB1(), ucb1)]:
        for table in (coins, blurred):
            compare(SCRIPTS[name] | ({"stop_when_dropped": True} if dropping else {}), victim, table, budget)


@given(table=tables(most_rounds=60, most_arms=4), data=st.data())
def test_small_games(table: Table, data: st.DataObject) -> None:
    n_arms = table.shape[1]
    how: dict[str, Any] = {"modes": "".join(data.draw(st.sampled_from("-0+")) for _ in range(n_arms))}
    for name, values in (("levels", (0.0, 0.4, 1.0)), ("caps", (0.0, 2.5, inf)), ("last", (0, 9, 50))):
        if data.draw(st.booleans()):
            how[name] = [data.draw(st.sampled_from(values)) for _ in range(n_arms)]
    compare(how, (vb.UCB1(), ucb1), table, data.draw(st.sampled_from([6.5, inf])))


@pytest.mark.parametrize(
    ("fixed", "script"),
    [
        (vb.Conceal(), vb.Script(modes="0-")),
        (vb.Conceal(arm=2), vb.Script(modes="00-")),
        (vb.Conceal(stop_when_dropped=True), vb.Script(modes="0-0", stop_when_dropped=True)),
        (vb.Mimic(depth=1.5), vb.Script(modes="0-0", levels=[0.9 - 1.5 * (0.9 - 0.8)])),
        (vb.Mimic(arm=0, depth=3.0), vb.Script(modes="-00", levels=[0.8 - 3.0 * (0.8 - 0.7)])),
        (vb.Boost(depth=0.7), vb.Script(modes="+00", levels=[0.8 + 0.7 * (0.9 - 0.8)])),
        (vb.EliminationRush(stop_when_dropped=True), vb.Script(modes="+-0", stop_when_dropped=True)),
        (vb.EliminationRush(), vb.Script(modes="+-0")),
    ],
    ids=lambda attack: spec_of(attack),
)
def test_the_attacks_that_it_contains(fixed: vb.Adversary, script: vb.Script) -> None:
    """The same games, round by round and with leaps."""
    for engine in ("rounds", "leap"):
        results = [
            vb.simulate(
                vb.SEWR(budget=20),
                ENVIRONMENT,
                dataclasses.replace(attack, budget=70.0),  # type: ignore[type-var]
                horizon=4_000,
                replications=3,
                seed=3,
                engine=engine,
            )
            for attack in (fixed, script)
        ]
        np.testing.assert_array_equal(results[0].pulls, results[1].pulls)
        np.testing.assert_array_equal(results[0].cost, results[1].cost)
        assert results[0].cost[:, -1].min() > 0


@given(st.data())
def test_no_cap_is_exceeded(data: st.DataObject) -> None:
    """What arms with rewards that are not whole cost, against the sum of the caps, and nothing in the closed window."""
    caps = [data.draw(st.sampled_from([0.0, 0.35, 4.7])) for _ in range(2)]
    result = vb.simulate(
        vb.UCB1(), vb.Beta([0.7, 0.4]), vb.Script(modes="-+", caps=caps), horizon=200, seed=data.draw(st.integers(0, 9))
    )
    assert result.cost[0, -1] <= sum(caps) + 1e-12
    closed = vb.Script(modes="-+", first=[150], last=[160])
    cost = vb.simulate(vb.UCB1(), vb.Beta([0.7, 0.4]), closed, horizon=200, checkpoints=[149, 160]).cost[0]
    assert cost[0] == 0.0 < cost[1] == cost[2]


@pytest.mark.parametrize("how", [*SCRIPTS.values(), {"modes": "-+", "stop_when_dropped": True}], ids=str)
def test_conforms(how: dict[str, Any]) -> None:
    check_adversary(vb.Script(**how))


def test_another_script_of_the_same_shape_needs_no_new_program() -> None:
    shapes = [vb.Script(modes="-0+", caps=[3.0]), vb.Script(modes="+", last=[7], levels=[0.2])]
    assert shapes[0].alter is shapes[1].alter
    assert shapes[0].init(Game(3, 9, MEANS))._fields == shapes[1].init(Game(3, 9, MEANS))._fields


def test_only_scripts_with_one_rule_leap() -> None:
    for how, leaps in (({"modes": "-+"}, True), ({"modes": "-", "caps": [9.0]}, False)):
        result = vb.simulate(vb.SE(), ENVIRONMENT, vb.Script(**how), horizon=500)
        assert (result.engine == "leap") == leaps


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            "script:modes=--00+,caps=60/60/inf/inf/inf,first=1/1/1/1/1,last=50000/50000/1/1/1000000000000000",
            "show 0 on arms 0 and 1 until 60 is spent on each, in rounds 1 to 50,000; show 1 on arm 4, from round 1 on",
        ),
        ("script:modes=-,levels=0.75", "show 0 on arm 0 just often enough that it seems to pay 0.75"),
        ("script:modes=+-,first=9", "show 1 on arm 0, from round 9 on; show 0 on arm 1, from round 9 on"),
        ("script:modes=00", "change nothing"),
        (
            "script:modes=-+,stop_when_dropped=true",
            "show 0 on arm 0; show 1 on arm 1, until the policy has dropped every arm that shows 0",
        ),
    ],
)
def test_words_and_spec(spec: str, words: str) -> None:
    script = registry.adversary(spec)
    assert isinstance(script, vb.Script)
    assert (script.words, spec_of(script)) == (words, spec)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"modes": ""}, r"modes: expected a sign -, 0 or \+ for each arm"),
        ({"modes": "-x"}, r"modes: expected a sign -, 0 or \+ for each arm"),
        ({"modes": "+", "stop_when_dropped": True}, "modes: expected a sign - with stop_when_dropped"),
        ({"modes": "-", "levels": [1.5]}, r"levels\[0\]: expected a number in"),
        ({"modes": "-", "caps": [-1]}, r"caps\[0\]: expected a number in"),
        ({"modes": "-", "first": [1.5]}, r"first\[0\]: expected a whole number"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        vb.Script(**wrong)


def test_a_script_for_other_arms() -> None:
    with pytest.raises(InvalidParameter, match=r"modes: expected at most 3 signs, one for each arm, got '-000'"):
        vb.simulate(vb.UCB1(), ENVIRONMENT, vb.Script(modes="-000"), horizon=9)
    with pytest.raises(InvalidParameter, match=r"caps: expected one value, or one for each of 3 arms, got 2"):
        vb.simulate(vb.UCB1(), ENVIRONMENT, vb.Script(modes="-", caps=[1, 2]), horizon=9)
