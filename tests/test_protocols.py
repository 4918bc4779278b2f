"""Mistakes in kernels of one's own: each is one sentence, with the line."""

import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import vambrace as vb
from vambrace.errors import InvalidParameter, KernelMistake, UnknownName
from vambrace.protocols import Answer, Game, Round

ARMS = vb.Bernoulli([0.9, 0.5])


class State(NamedTuple):
    counts: Any


@vb.kernel
def first_arm(state: State, round: Round, rng: Any) -> tuple[int, float, int]:
    return 0, 1.0, 0


@vb.kernel
def count(state: State, answer: Answer) -> State:
    state.counts[answer.arm] += 1
    return state


class Base(vb.Policy):
    name, reference = "mine", "tests"
    select, update = staticmethod(first_arm), staticmethod(count)

    def init(self, game: Game) -> State:
        return State(np.zeros(game.n_arms, dtype=np.int64))


def line_of(function: Any, text: str) -> int:
    """The line of this file on which a text stands within a function."""
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    first: int = function.__code__.co_firstlineno
    return next(number for number in range(first, len(lines)) if text in lines[number - 1])


def test_a_correct_one_plays() -> None:
    assert vb.simulate(Base(), ARMS, horizon=50, interpret=False).pulls.tolist() == [[50, 0]]


# --------------------------------------------------------------------------- compiled: what Numba says in a sentence


@vb.kernel
def float_arm(state: State, round: Round, rng: Any) -> tuple[int, float, int]:
    return round.t / 2, 1.0, 0  # type: ignore[return-value]


@vb.kernel
def allocating(state: State, answer: Answer) -> State:
    fresh = np.zeros(3)
    state.counts[answer.arm] += int(fresh[0])
    return state


@vb.kernel
def misspelt(state: State, answer: Answer) -> State:
    state.counts[answer.arms] += 1  # type: ignore[attr-defined]
    return state


def not_marked(x: int) -> int:
    return x + 1


@vb.kernel
def calls_plain_python(state: State, answer: Answer) -> State:
    state.counts[answer.arm] += not_marked(1)
    return state


@pytest.mark.parametrize(
    ("kernels", "line", "sentence"),
    [
        ({"select": float_arm}, "@vb.kernel", "arm and tag whole numbers, got (0.5, 1.0, 0)"),
        ({"update": allocating}, "np.zeros(3)", "creates an array"),
        ({"update": misspelt}, "answer.arms", "no attribute 'arms'"),
        ({"update": calls_plain_python}, "not_marked(1)", "'not_marked' is no number, NamedTuple or @kernel function"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_kernel_that_cannot_be_compiled_is_one_sentence(kernels: dict[str, Any], line: str, sentence: str) -> None:
    made = type("Mine", (Base,), {name: staticmethod(function) for name, function in kernels.items()})
    with pytest.raises(KernelMistake) as caught:
        vb.simulate(made(), ARMS, horizon=50, interpret=False)
    message, function = str(caught.value), next(iter(kernels.values()))
    assert sentence in message
    assert f"test_protocols.py, line {line_of(function, line)}" in message
    assert len(message) < 200
    assert "\n" not in message


# --------------------------------------------------------------------------------------------- when a class is made


def test_a_misspelt_optional_kernel_is_an_error() -> None:
    with pytest.raises(UnknownName, match="unknown kernel of Mine 'quite'; did you mean 'quiet'"):
        type("Mine", (Base,), {"quite": staticmethod(vb.kernel(lambda_free))})


def lambda_free(state: State) -> int:
    return 0


def test_a_lambda_is_no_kernel() -> None:
    with pytest.raises(InvalidParameter, match=r"made with def, got a lambda \(test_protocols.py, line"):
        vb.kernel(lambda state: 0)
    with pytest.raises(InvalidParameter, match="expected a function made with def, got 3"):
        vb.kernel(3)  # type: ignore[type-var]


def old_select(state: Any, pending: Any, rng: Any) -> Any: ...


def old_update(state: Any, arm: Any, reward: Any, probability: Any, tag: Any) -> Any: ...


def old_alter(state: Any, t: Any, arm: Any, reward: Any, view: Any, rng: Any) -> Any: ...


def old_corrupt(state: Any, t: Any, rewards: Any, rng: Any) -> Any: ...


def old_init(self: Any, n_arms: Any, horizon: Any) -> Any: ...


@pytest.mark.parametrize(
    ("base", "name", "function", "wanted"),
    [
        (vb.Policy, "select", old_select, "(state, round, rng), got (state, pending, rng)"),
        (vb.Policy, "update", old_update, "(state, answer), got (state, arm, reward, probability, tag)"),
        (vb.Policy, "init", old_init, "(self, game), got (self, n_arms, horizon)"),
        (
            vb.Adversary,
            "alter",
            old_alter,
            "(state, round, arm, reward, view, rng), got (state, t, arm",
        ),
        (vb.Adversary, "corrupt", old_corrupt, "(state, round, rewards, rng), got (state, t, rewards, rng)"),
        (vb.Adversary, "init", old_init, "(self, game), got (self, n_arms, horizon)"),
    ],
)
def test_what_was_written_for_version_0_1_says_so(base: type, name: str, function: Any, wanted: str) -> None:
    held = function if name == "init" else staticmethod(vb.kernel(function))
    expected = (
        f"Mine.{name} \\(test_protocols.py, line \\d+\\): expected the parameters {re.escape(wanted)}.*; .*CHANGELOG"
    )
    with pytest.raises(InvalidParameter, match=expected):
        type("Mine", (base,), {name: held})


def test_the_rule_of_a_shipped_attack_is_an_ordinary_function() -> None:
    """`alter` of an attack that is written as `respond` can be called, without a game around it."""
    attack, rng = vb.Conceal(budget=3), np.arange(1, 5, dtype=np.uint64)
    state = attack.init(Game(2, 100, np.array([0.9, 0.5])))
    assert attack.alter(state, Round.prompt(1, 2), 0, 1.0, None, rng) == (0.0, state)
    assert attack.alter(state, Round.prompt(1, 2), 1, 1.0, None, rng) == (1.0, state)


def test_a_policy_that_needs_a_horizon_says_so() -> None:
    with pytest.raises(InvalidParameter, match="horizon: expected a number of rounds, got None"):
        vb.SEWR(budget=1).init(Game(3))
    assert vb.UCB1().init(Game(3)) is not None
