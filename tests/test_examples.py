"""Every script of `examples/` runs as it stands, and the attack in it runs compiled."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace.kernel import cache_statistics, is_kernel
from vambrace.testing import check_adversary

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {"write_an_attack.py": ("ucb1 against betrayal:budget=300", "se-wr:budget=300 against betrayal")}


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_and_says_how(script: str) -> None:
    command = f"python examples/{script}"
    assert command in (EXAMPLES / script).read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", f"examples/{script}"],
        cwd=EXAMPLES.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for words in SAYS[script]:
        assert words in done.stdout


@pytest.fixture(scope="module")
def betrayal() -> Any:
    return runpy.run_path(str(EXAMPLES / "write_an_attack.py"))["Betrayal"]


def test_the_attack_is_compiled_with_the_game(betrayal: Any) -> None:
    assert is_kernel(betrayal.alter)
    before = sum(cache_statistics())
    vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.8]), betrayal(budget=5, honest_pulls=3), horizon=100)
    assert sum(cache_statistics()) == before + 1  # one program more, from disk or fresh; interpreted there is none


def test_betrayal_is_honest_first_and_conceals_then(betrayal: Any) -> None:
    attack = betrayal(budget=3, honest_pulls=20)
    result = vb.simulate(vb.UCB1(), vb.Deterministic([0.75]), attack, horizon=100, checkpoints=[20, 21, 24, 100])
    assert result.cost[0].tolist() == [0.0, 0.75, 3.0, 3.0]


def test_the_attack_conforms(betrayal: Any) -> None:
    check_adversary(betrayal(budget=1.0, honest_pulls=2))


def test_the_attack_is_short() -> None:
    text = (EXAMPLES / "write_an_attack.py").read_text(encoding="utf-8")
    attack = text[text.index("class State") : text.index("if __name__")]
    assert sum(bool(line.strip()) for line in attack.splitlines()) <= 25
