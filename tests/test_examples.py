"""Every script of `examples/` runs as it stands, and the attack in it runs compiled."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from command_line import without_progress
from vambrace.kernels import cache_statistics, is_kernel
from vambrace.testing import check_adversary

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {
    "audit_a_log.py": (
        "    0 fakes: blue beats every other arm unless at least 1,082 of the 30,000 events were altered.\n",
        "3,000 fakes: green beats every other arm",
        "with that many fakes, the best may be: green, blue, red\n",
    ),
    "live_learner_with_delayed_clicks.py": (
        "crash after 20,300 views; on from view 20,000\n",
        "787 answers were lost, 156 refused after the crash, 50 clicks were hidden\n",
        "old    36,189  60.07%      59.57% to 60.58%  58.20% to 61.95%  93.1%  open",
    ),
    "red_team_your_policy.py": (
        "yours  0 fakes by none                  lost    15, the best arm in 99% of the rounds\n",
        "yours 50 fakes by ace                   lost 1,189, the best arm in  1% of the rounds\n",
        "se-wr 50 fakes by elimination-rush      lost   408, the best arm in 60% of the rounds\n",
    ),
    "shop_postgres.py": ("960 views: 960 decisions, 0 open\n", "\n12.99 "),
    "shop_sqlite.py": (
        "one worker was killed; it starts again, with the same views\n",
        "4 workers, 2,400 views: 2,400 decisions, 0 open\n",
        "kl-ucb-wr after 2,400 decisions\n",
    ),
    "sweep_on_a_dask_cluster.py": (
        "4 of 4 cells done\n",
        "{'policy': 'se-wr:budget=100,radius=tight', 'budget': 100.0, 'regret': 951.6, 'spent': 100.0}\n",
        "{'policy': 'ucb1', 'budget': 100.0, 'regret': 10163.9, 'spent': 31.9}\n",
    ),
    "write_an_attack.py": ("ucb1 against betrayal:budget=300", "se-wr:budget=300 against betrayal"),
}


LONG = ("shop_postgres.py", "shop_sqlite.py", "sweep_on_a_dask_cluster.py", "write_an_attack.py")  # 3 to 8 s each
SCRIPTS = [path.name for path in sorted(EXAMPLES.glob("*.py"))]


@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in SCRIPTS]
)
def test_an_example_runs_and_says_how(script: str) -> None:
    if script == "shop_postgres.py":
        pytest.importorskip("psycopg", reason="the extra vambrace[postgres] is not installed")
    command = f"python examples/{script}"
    assert command in (EXAMPLES / script).read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", f"examples/{script}"],
        cwd=EXAMPLES.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    for words in SAYS[script]:
        assert words in done.stdout


@pytest.mark.slow  # three seconds
def test_the_shop_with_armour_holds_against_bots_and_the_plain_one_does_not() -> None:
    pytest.importorskip("fastapi", reason="the extra vambrace[serve] is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "error", "examples/web_shop/demo.py", "--customers", "150"],
        cwd=EXAMPLES.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    shops = re.findall(
        r"(\w+), .*: bots spoiled (\d+) orders\n  20 second answers and 20 forged ids changed nothing\n"
        r"  ([\d.]+)% of 150 customers paid; (\d+)% of them saw the best page",
        done.stdout,
    )
    (plain, few, _, shown), (armoured, many, _, shown_armoured) = shops
    assert (plain, armoured) == ("plain", "armoured")
    assert 1 <= int(few) < int(many) == 10
    assert int(shown) <= 10
    assert int(shown_armoured) >= 50


@pytest.mark.parametrize("script", SAYS)
def test_an_example_is_short(script: str) -> None:
    assert len((EXAMPLES / script).read_text(encoding="utf-8").splitlines()) <= 65


@pytest.fixture(scope="module")
def betrayal() -> Any:
    return runpy.run_path(str(EXAMPLES / "write_an_attack.py"))["Betrayal"]


def test_the_attack_is_compiled_with_the_game(betrayal: Any) -> None:
    assert is_kernel(betrayal.alter)
    arms = vb.Bernoulli([0.9, 0.8])
    vb.simulate(vb.UCB1(), arms, horizon=200_000)  # what such arms need besides the game
    before = sum(cache_statistics())
    vb.simulate(vb.UCB1(), arms, betrayal(budget=5, honest_pulls=3), horizon=200_000)
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
    assert sum(bool(line.strip()) for line in attack.splitlines()) == 22, "as the README says"
