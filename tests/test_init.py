import subprocess
import sys

import pytest

import vambrace as vb
from vambrace import registry

HEAVY = ("numba", "polars", "altair", "vl_convert", "scipy", "rich", "typer", "pandas")


def fresh(code: str) -> str:
    """What the code prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout


def test_all_is_sorted_and_is_what_is_exported() -> None:
    assert set(vb.__all__) == {*vb._HOME, "kernel", "rare_kernel"} <= set(dir(vb))
    assert all(getattr(vb, name).__name__ == name for name in vb.__all__)
    constants_classes_functions = sorted(vb.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert vb.__all__ == constants_classes_functions
    with pytest.raises(AttributeError, match="no attribute 'SEWRR'"):
        _ = vb.SEWRR


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
