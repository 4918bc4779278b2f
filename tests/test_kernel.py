"""One source, two forms; names that change whenever anything in the code does."""

import dataclasses
import types
from typing import Any

import pytest

import vambrace as vb
from vambrace.kernel import _bind, compiled, interpreted, is_kernel, kernel, rare_kernel

SCALE = 2.0


@kernel
def scaled(x: float) -> float:
    return SCALE * x


@rare_kernel
def plus_one(x: float) -> float:
    return scaled(x) + 1.0


@kernel
def twice(x: float) -> float:
    return step(plus_one(x))


def step(x: float) -> float:
    raise NotImplementedError


def test_marking_changes_nothing_but_the_mark() -> None:
    assert is_kernel(scaled)
    assert is_kernel(plus_one)
    assert not is_kernel(step)
    assert scaled(3.0) == 6.0


def test_slots_are_bound_in_both_forms() -> None:
    for form in (compiled, interpreted):
        assert form(twice, {"step": scaled})(3.0) == 14.0
        assert form(twice, {"step": plus_one})(3.0) == 15.0
    with pytest.raises(NotImplementedError):
        twice(1.0)


def fingerprint(function: Any, **slots: Any) -> str:
    return _bind(function, slots)[1]


def test_the_fingerprint_follows_code_constants_callees_and_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fingerprint(twice, step=scaled)
    assert plain == fingerprint(twice, step=scaled)
    assert plain != fingerprint(twice, step=plus_one)

    def changed(constant: float) -> types.FunctionType:
        copy = types.FunctionType(scaled.__code__, {"SCALE": constant}, "scaled")
        return kernel(copy)

    assert fingerprint(changed(2.0)) == fingerprint(scaled)
    assert fingerprint(changed(3.0)) != fingerprint(scaled), "a constant that a kernel mentions"
    other = kernel(types.FunctionType(scaled.__code__.replace(co_consts=(None, 7)), {"SCALE": 2.0}, "scaled"))
    assert fingerprint(other) != fingerprint(scaled), "a constant inside it"
    assert fingerprint(twice, step=changed(2.0)) != fingerprint(twice, step=changed(3.0)), "two calls deep"


def test_kernels_of_a_console_work_without_a_cache() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def double(x):\n    return 2.0 * x\n", "<console>", "exec"), scope)  # no file to cache beside
    assert compiled(kernel(scope["double"]), {})(4.0) == 8.0


def test_a_policy_defined_in_a_function_runs_compiled() -> None:
    @kernel
    def first_arm(state: Any, pending: Any, rng: Any) -> tuple[int, float, int]:
        return 0, 1.0, 0

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class First(vb.UCB1):
        name = "first"
        select = staticmethod(first_arm)

    assert vb.simulate(First(), vb.Bernoulli([0.5, 0.6]), horizon=100).pulls.tolist() == [[100, 0]]


def test_an_ordinary_python_policy_runs_interpreted() -> None:
    class Alternating(vb.Policy):
        name = "alternating"

        def init(self, n_arms: int, horizon: int) -> Any:
            return {"n": n_arms, "t": 0}

        @staticmethod
        def select(state: Any, pending: Any, rng: Any) -> tuple[int, float, int]:
            return state["t"] % state["n"], 1.0, 0

        @staticmethod
        def update(state: Any, arm: int, reward: float, probability: float, tag: int) -> Any:
            return state | {"t": state["t"] + 1}

    result = vb.simulate(Alternating(), vb.Bernoulli([0.5, 0.6]), vb.Conceal(budget=5), horizon=100)
    assert result.pulls.tolist() == [[50, 50]]
    assert result.cost[0, -1] == 5.0
