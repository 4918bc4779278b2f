import subprocess
import sys
from types import ModuleType

import vambrace as vb

HEAVY = ("numba", "polars", "altair", "vl_convert", "scipy", "rich", "typer", "pandas")


def fresh(code: str) -> str:
    """What the code prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout


def test_all_is_sorted_and_is_what_is_exported() -> None:
    exported = {
        name for name, thing in vars(vb).items() if not name.startswith("_") and not isinstance(thing, ModuleType)
    }
    assert set(vb.__all__) == exported
    constants_classes_functions = sorted(vb.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert vb.__all__ == constants_classes_functions
    assert len(vb.__all__) == len(exported)


def test_the_promised_names_are_there() -> None:
    promised = "SEWR SEWRStop PEWR MSSEWR SE UCB1 Bernoulli Beta ClippedGaussian Deterministic Conceal Swap RandomFlips"
    assert {*promised.split(), "Invert", "simulate", "Learner", "Decision", "Result", "VambraceError"} <= {*vb.__all__}


def test_importing_imports_nothing_heavy() -> None:
    assert fresh(f"import sys, vambrace; print([name for name in {HEAVY} if name in sys.modules])") == "[]\n"


def test_importing_costs_at_most_twice_what_numpy_does() -> None:
    """Processor time: the best of seven fresh processes each, taken in turn."""
    code = "from time import process_time as now; start = now(); import {}; print(now() - start)"
    numpy, ours = zip(*((float(fresh(code.format(m))) for m in ("numpy", "vambrace")) for _ in range(7)), strict=True)
    assert min(ours) <= 2 * min(numpy)
