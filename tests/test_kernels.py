"""One source, two forms; names that change whenever anything in the code does."""

import dataclasses
import os
import subprocess
import sys
import threading
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import vambrace as vb
from vambrace.kernels import Slot, _bind, compile_now, compiled, interpreted, is_kernel, kernel, rare_kernel
from vambrace.protocols import Answer, Game, Round

SCALE = 2.0


@kernel
def scaled(x: float) -> float:
    return SCALE * x


@rare_kernel
def plus_one(x: float) -> float:
    return scaled(x) + 1.0


step = Slot("step")


@kernel
def twice(x: float) -> float:
    return step(plus_one(x))


def ordinary(x: float) -> float:
    return x


def test_marking_changes_nothing_but_the_mark() -> None:
    assert is_kernel(scaled)
    assert is_kernel(plus_one)
    assert not is_kernel(ordinary)
    assert scaled(3.0) == 6.0


def test_slots_are_bound_in_both_forms() -> None:
    for form in (compiled, interpreted):
        assert form(twice, {"step": scaled})(3.0) == 14.0
        assert form(twice, {"step": plus_one})(3.0) == 15.0
    with pytest.raises(NotImplementedError, match="slot 'step' was not bound"):
        twice(1.0)


@kernel
def outer(x: float) -> float:
    return twice(x) + 100.0


def test_slots_reach_the_kernels_that_a_kernel_calls() -> None:
    for form in (compiled, interpreted):
        assert form(outer, {"step": scaled})(3.0) == 114.0
        assert form(outer, {"step": plus_one})(3.0) == 115.0


def test_closed_over_names_are_followed_too() -> None:
    offset = 5.0

    @kernel
    def shifted(x: float) -> float:
        return scaled(x) + offset

    @kernel
    def nested(x: float) -> float:
        return step(shifted(x))

    for form in (compiled, interpreted):
        assert form(nested, {"step": scaled})(1.0) == 14.0


class Wheel(NamedTuple):
    cycle: float
    step: float


@kernel
def cycle(state: Wheel) -> float:
    return state.cycle + state.step


def test_a_field_may_have_the_name_of_a_kernel_or_a_slot() -> None:
    """Also that of the kernel that reads it, which does not call itself for that."""
    for form in (compiled, interpreted):
        assert form(cycle, {"step": scaled})(Wheel(3.0, 4.0)) == 7.0
    assert fingerprint(cycle, step=scaled) == fingerprint(cycle, step=plus_one), "the slot is not used"


def fingerprint(function: Any, **slots: Any) -> str:
    return _bind(function, slots)[1]


def test_the_fingerprint_follows_code_constants_callees_and_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fingerprint(twice, step=scaled)
    assert plain == fingerprint(twice, step=scaled)
    assert plain != fingerprint(twice, step=plus_one)

    def changed(constant: float, module: str = __name__) -> types.FunctionType:
        copy = types.FunctionType(scaled.__code__, {"SCALE": constant, "__name__": module}, "scaled")
        return kernel(copy)

    assert fingerprint(changed(2.0)) == fingerprint(scaled)
    assert fingerprint(changed(3.0)) != fingerprint(scaled), "a constant that a kernel mentions"
    assert fingerprint(changed(2.0, "moved")) != fingerprint(scaled), "a stored program imports the modules of parts"
    scope = {"SCALE": 2.0, "__name__": __name__}
    other = kernel(types.FunctionType(scaled.__code__.replace(co_consts=(None, 7)), scope, "scaled"))
    assert fingerprint(other) != fingerprint(scaled), "a constant inside it"
    assert fingerprint(twice, step=changed(2.0)) != fingerprint(twice, step=changed(3.0)), "two calls deep"


PROGRAM = """
import sys
from vambrace.kernels import cache_statistics, compiled
import slotted
for name in sys.argv[1:]:
    print(compiled(slotted.outer, {"step": getattr(slotted, name)})(3.0))
print(*cache_statistics())
"""
SLOTTED = """
from math import sqrt
from vambrace.kernels import Slot, kernel, rare_kernel
step = Slot("step")
@kernel
def double(x): return 2.0 * x
@kernel
def triple(x): return 3.0 * x
@rare_kernel
def called(x):  # too long for LLVM to inline
    y = step(x)
{lines}
    return y
@kernel
def outer(x): return called(x) + called(x + 1.0)
""".format(lines="\n".join(f"    if x > {i + 10}.0: y += sqrt(x + {i}.0) * step(y)" for i in range(200)))


def test_the_fingerprint_follows_the_module_of_a_class() -> None:
    """A stored program imports its classes by module: the same script run as __main__ and imported are two programs."""
    here, there = type("State", (), {}), type("State", (), {"__module__": "elsewhere"})

    def mentions(state_class: Any) -> Any:
        @kernel
        def made(x: float) -> Any:
            return state_class(x)

        return made

    assert fingerprint(mentions(here)) == fingerprint(mentions(here))
    assert fingerprint(mentions(here)) != fingerprint(mentions(there))


@pytest.mark.slow  # 6 s
def test_programs_from_different_processes_do_not_take_each_others_parts(tmp_path: Path) -> None:
    """Two processes number their functions alike, and a third loads what both left on disk."""
    (tmp_path / "slotted.py").write_text(SLOTTED)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def run(*names: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *names], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run("double") == ["14.0", "0", "1"]
    assert run("triple") == ["21.0", "0", "1"]
    assert run("double", "triple") == ["14.0", "21.0", "2", "0"]


def test_kernels_of_a_console_work_without_a_cache() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def double(x):\n    return 2.0 * x\n", "<console>", "exec"), scope)  # no file to cache beside
    assert compiled(kernel(scope["double"]), {})(4.0) == 8.0


def test_a_policy_defined_in_a_function_runs_compiled() -> None:
    @kernel
    def first_arm(state: Any, round: Round, rng: Any) -> tuple[int, float, int]:
        return 0, 1.0, 0

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class First(vb.UCB1):
        name = "first"
        select = staticmethod(first_arm)

    assert vb.simulate(First(), vb.Bernoulli([0.5, 0.6]), horizon=100).pulls.tolist() == [[100, 0]]


def test_an_ordinary_python_policy_runs_interpreted() -> None:
    class Alternating(vb.Policy):
        name = "alternating"

        def init(self, game: Game) -> Any:
            return {"n": game.n_arms, "t": 0}

        @staticmethod
        def select(state: Any, round: Round, rng: Any, /) -> tuple[int, float, int]:
            return state["t"] % state["n"], 1.0, 0

        @staticmethod
        def update(state: Any, answer: Answer, /) -> Any:
            return state | {"t": state["t"] + 1}

    result = vb.simulate(Alternating(), vb.Bernoulli([0.5, 0.6]), vb.Conceal(budget=5), horizon=100)
    assert result.pulls.tolist() == [[50, 50]]
    assert result.cost[0, -1] == 5.0


class Kept(NamedTuple):
    """What looks like a program that is kept in a folder."""

    folder: Path | None

    @property
    def stats(self) -> Any:
        return SimpleNamespace(cache_path=self.folder)

    @property
    def py_func(self) -> Any:
        return SimpleNamespace(__qualname__="play_1")


def test_a_program_is_compiled_by_one_process_at_a_time(tmp_path: Path) -> None:
    happened: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        happened.append("first begins")
        inside.set()
        assert go_on.wait(30.0)
        happened.append("first ends")

    thread = threading.Thread(target=compile_now, args=(Kept(tmp_path), first))
    thread.start()
    assert inside.wait(30.0)
    compile_now(Kept(None), lambda: happened.append("another, kept nowhere"))
    threading.Timer(0.1, go_on.set).start()
    compile_now(Kept(tmp_path), lambda: happened.append("second"))
    thread.join()
    assert happened == ["first begins", "another, kept nowhere", "first ends", "second"]
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_cannot_be_compiled_leaves_no_lock(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        compile_now(Kept(tmp_path), lambda: 1 / 0)
    assert list(tmp_path.iterdir()) == []
