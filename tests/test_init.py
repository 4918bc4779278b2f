import subprocess
import sys

import pytest

import vambrace as vb
from vambrace import adversaries, environments, policies, registry

HEAVY = ("numba", "polars", "altair", "vl_convert", "scipy", "rich", "typer", "pandas")


def fresh(code: str) -> str:
    """What the code prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout


def test_every_name_comes_from_its_home() -> None:
    assert vb.__all__ == sorted(vb._HOME)
    assert {*vb.__all__} <= {*dir(vb)}
    assert all(getattr(vb, name).__name__ == name for name in vb.__all__)
    with pytest.raises(AttributeError, match="no attribute 'SEWRR'"):
        _ = vb.SEWRR  # type: ignore[attr-defined]


def test_rooms_export_what_the_package_does() -> None:
    """Editors and type checkers follow `__all__` of these rooms, Python what the package says."""
    for room in (adversaries, environments, policies):
        assert {name for name, home in vb._HOME.items() if home == room.__name__} == {*room.__all__}


@pytest.mark.parametrize("kind", ["policy", "adversary", "environment"])
def test_everything_registered_is_exported(kind: str) -> None:
    assert {thing.__name__ for thing in registry.known(kind).values()} <= {*vb.__all__}


def test_the_promised_names_are_there() -> None:
    promised = "SEWR SEWRStop PEWR MSSEWR SE UCB1 Bernoulli Beta ClippedGaussian Deterministic Conceal Swap RandomFlips"
    assert {*promised.split(), "Invert", "simulate", "Learner", "Decision", "Result", "VambraceError"} <= {*vb.__all__}


def test_importing_imports_nothing_heavy() -> None:
    """Not even when every name has been used."""
    use = "import sys, vambrace as vb; [getattr(vb, name) for name in vb.__all__]"
    assert fresh(f"{use}; print([name for name in {HEAVY} if name in sys.modules])") == "[]\n"


def test_importing_costs_at_most_twice_what_numpy_does() -> None:
    """Processor time: the best of seven fresh processes each, taken in turn."""
    code = "from time import process_time as now; start = now(); import {}; print(now() - start)"
    numpy, ours = zip(*((float(fresh(code.format(m))) for m in ("numpy", "vambrace")) for _ in range(7)), strict=True)
    assert min(ours) <= 2 * min(numpy)


@pytest.mark.parametrize("name", vb.__all__)
def test_every_name_has_a_docstring_with_an_example(name: str) -> None:
    assert ">>> import vambrace as vb\n" in getattr(vb, name).__doc__


@pytest.mark.parametrize("kind", ["policy", "adversary", "environment"])
def test_every_parameter_is_described(kind: str) -> None:
    for thing in registry.known(kind).values():
        assert thing.__doc__ is not None
        for parameter in registry.declared(thing):
            assert parameter.meaning, f"{thing.__name__}: {parameter.name}"
