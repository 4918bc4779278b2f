import importlib
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import vambrace as vb
from command_line import PLAN, SIMULATE, SMALL, Finished, Run, assert_mistake, fresh, widest, without_progress
from vambrace import cli


def test_version(run: Run) -> None:
    assert run("--version") == Finished(0, f"{vb.__version__}\n", "")


@pytest.mark.parametrize(
    "words", ["", *(str(command.name) for command in typer.main.get_group(cli.app).commands.values())]
)
def test_help(run: Run, words: str) -> None:
    done = run(*words.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: {' '.join(['vambrace', *words.split()])} " in done.out
    assert "Examples:\n    vambrace" in done.out or "Examples:\n    zcat" in done.out
    assert widest(done.out) <= 80
    assert "..." not in done.out.replace("[ARGS]...", "").replace("}...", "").replace(
        "[NAMES]...", ""
    )  # nothing is cut


def examples() -> list[list[str]]:
    """The words of every example of every help text."""
    found = []
    for module in (cli, *cli.COMMANDS.values()):
        lines = "\n".join(module.EXAMPLES).replace("\\\n", " ").splitlines()
        found += [shlex.split(line.partition(" > ")[0].rpartition("vambrace ")[2]) for line in lines]
    return found


@pytest.mark.parametrize("words", examples(), ids=" ".join)
def test_the_examples_of_the_help_are_understood(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    """Those that need no file also run, in short games."""
    name, *rest = words
    command = typer.main.get_group(cli.app).commands[name]
    if "--help" not in rest:
        command.make_context(name, rest)
    searches = name == "attack" and not {"--suite", "--attack"} & {*rest}  # which takes longer
    if name in ("bounds", "plan", "list", "simulate", "attack") and not searches:
        monkeypatch.chdir(tmp_path)
        Path("mine.py").write_text("import vambrace as vb\nclass MyPolicy(vb.UCB1): pass\n", encoding="utf-8")
        play = importlib.import_module("vambrace.engine.simulation").simulate

        def short(*args: Any, **options: Any) -> vb.Result:
            return play(*args, **options | {"horizon": 100, "interpret": True, "replications": 2})

        monkeypatch.setattr("vambrace.engine.simulation.simulate", short)
        monkeypatch.setattr("vambrace.redteam.games.simulate", short)
        done = run(*words)
        assert (done.code, done.err) == (0, "")


def test_no_command_shows_the_help(run: Run) -> None:
    done = run()
    assert (done.code, done.err) == (2, "")
    assert all(command in done.out for command in ("simulate", "list", "reproduce"))


GAME = "simulate ucb1 --means 0.9,0.5"
MISTAKES = {
    "frob": "'frob'",
    "--frob": "--frob",
    "simulate": "POLICY",
    "list nope": "'nope'",
    "simulate ucb --means 1": "unknown policy 'ucb'; did you mean 'ucb1'?",
    "simulate ucb1 zz --means 1": "unknown policy 'zz'; known: barbar, ",
    "simulate se-wr --means 1": "expected se-wr:budget=…, got no budget",
    "simulate se-wr:budget=x --means 1": "se-wr: budget: expected a number, got 'x'",
    "simulate se-wr:budget=-1 --means 1": "se-wr: budget: expected a number in [0, 1e+18], got -1.0",
    "simulate se-wr:budgt=1 --means 1": "unknown parameter of se-wr 'budgt'; did you mean 'budget'?",
    "simulate ucb1:alpha=1,alpha=1 --means 1": "expected each parameter once, got 'alpha' twice",
    "simulate ucb1": "environment: expected either --means 0.9,0.8 or --env",
    f"{GAME} --env bernoulli:means=1": "environment: expected either --means 0.9,0.8 or --env",
    "simulate ucb1 --means 0.9,1.1": "means[1]: expected a number in [0, 1], got 1.1",
    "simulate ucb1 --means 0.9,b": "means: expected a number, got 'b'",
    "simulate ucb1 --means=": "means: expected a number, got ''",
    "simulate ucb1 --env bernuli:means=1": "unknown environment 'bernuli'; did you mean 'bernoulli'?",
    "simulate ucb1 --env beta": "expected beta:means=…, got no means",
    f"{GAME} --attack concel": "unknown adversary 'concel'; did you mean 'conceal'?",
    f"{GAME} --attack swap:target=9": "target: expected a whole number in [0, 1], got 9",
    f"{GAME} --attack conceal:stop_when_dropped=true": "expected a policy whose state has 'arms', got ucb1",
    f"{GAME} --horizon x": "horizon: expected a whole number such as 1000 or 1e6, got 'x'",
    f"{GAME} --horizon 1.5": "horizon: expected a whole number such as 1000 or 1e6, got '1.5'",
    f"{GAME} --horizon nan": "horizon: expected a whole number such as 1000 or 1e6, got 'nan'",
    f"{GAME} --horizon 1e999": "horizon: expected a whole number such as 1000 or 1e6, got '1e999'",
    f"{GAME} --horizon {'9' * 400}": "horizon: expected a whole number in [1, 1000000000000000], got 9",
    f"{GAME} --horizon 0": "horizon: expected a whole number in [1, 1000000000000000], got 0",
    f"{GAME} --horizon 1": "horizon: expected at least one round for each of the 2 arms, got 1",
    f"{GAME} --horizon": "--horizon",
    f"{GAME} --replications 0": "replications: expected a whole number in [1, ",
    f"{GAME} --seed -1": "seed: expected a whole number from 0 up, got -1",
    f"{GAME} --checkpoints 0": "checkpoints: expected a whole number in [1, ",
    f"{GAME} --threads 0": "threads: expected a whole number in [1, ",
    f"{GAME} --threads x": "--threads",
    f"{GAME} --engine lepa": "unknown engine 'lepa'; did you mean 'leap'?",
    f"{GAME} --output x.txt": "expected a name ending in .parquet or .csv, got 'x.txt'",
    f"{GAME} --plot x": "expected a name ending in .svg or .png or .pdf or .html, got 'x'",
    # two petabytes, more than any machine can address
    f"{GAME} --horizon 1e7 --checkpoints 1e6 --replications 1e9": "memory",
    "attack ucb1": "--budgets",
    "attack ucb1 --budgets x": "budgets: expected a number, got 'x'",
    "attack ucb1 --budgets 1,-1": "budget: expected a number in [0, 1e+18], got -1.0",
    "attack ucb1 --budgets 1 --attack none": "attack: expected the name of an attack, got none",
    "attack ucb1 --budgets 1 --means 0.9 --env beta:means=0.9": "environment: expected either",
    "bounds --policy se-wr --gaps x": "gaps: expected a number, got 'x'",
    "bounds --policy se_wr --gaps 0.1": "unknown policy 'se_wr'; did you mean 'se-wr'?",
    "bounds --policy se-wr --gaps 0.1 --horizon 1": "horizon: expected at least one round for each of the 2 arms",
    "plan --arms 4": "--rate",
    f"{PLAN} --arms 1": "arms: expected a whole number in [2, 1000000], got 1",
    f"{PLAN} --arms x": "arms: expected a whole number such as 1000 or 1e6, got 'x'",
    f"{PLAN} --rate x": "--rate",
    f"{PLAN} --rate 0": "rate: expected a number in (0, 1], got 0.0",
    f"{PLAN} --gap 0.02": "gap: expected a number in (0, 0.015], got 0.02",
    f"{PLAN} --gap nan": "gap: expected a number in (0, 0.015], got nan",
    f"{PLAN} --budget -1": "budget: expected a number in [0, 1e+18], got -1.0",
    f"{PLAN} --horizon 3": "horizon: expected at least one round for each of the 4 arms, got 3",
    f"{PLAN} --delta 1": "delta: expected a number in (0, 1), got 1.0",
    "certify": "FILE",
    "certify gone.csv": "gone.csv: expected a file, got nothing there",
    "certify gone*.csv": "gone*.csv: expected files that fit this pattern, got none",
    "certify .": ".: expected a file, got a folder there",
    "certify gone.csv --delta 1": "delta: expected a number in (0, 1), got 1.0",
    "certify gone.csv --threat altr": "unknown threat 'altr'; did you mean 'alter'?",
    "certify gone.csv --design fixd": "unknown design 'fixd'; did you mean 'fixed'?",
    "certify gone.csv --reward-range 1": "reward_range: expected the least and the largest reward, got [1.0]",
    "certify gone.csv --reward-range 0,x": "reward_range: expected a number, got 'x'",
    "certify gone.csv --reward-range 2,1": "reward_range[1]: expected a number in (2, 1e+100], got 1.0",
    "certify gone.csv --html x.pdf": "file: expected a name ending in .html, got 'x.pdf'",
    "reproduce --workers 0": "workers: expected a whole number in [1, ",
}


@pytest.mark.parametrize(("words", "message"), MISTAKES.items(), ids=[f"{words:.80}" for words in MISTAKES])
def test_a_mistake_is_one_clear_line(run: Run, words: str, message: str) -> None:
    done = run(*words.split())
    assert_mistake(done)
    assert message in done.err


def test_an_error_of_ours_is_not_dressed_up_as_a_mistake_of_the_user(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("vambrace.engine.simulation.simulate", broken)
    monkeypatch.setattr(sys, "argv", ["vambrace", *SIMULATE])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_an_interrupt_is_one_line_and_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vambrace.engine.simulation.simulate", interrupted)
    assert run(*SIMULATE) == Finished(130, "", "vambrace: interrupted\n")


def test_an_interrupt_stops_running_games() -> None:
    """Ctrl-C at the first look of the progress bar, in games that would last for hours."""
    done = fresh(
        "import os, signal, vambrace.cli\n"
        "from vambrace.progress import ProgressBar\n"
        "ProgressBar.update = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "vambrace.cli.main()",
        *("simulate", "ucb1", "--means", "0.9,0.8", "--horizon", "1e12", "--replications", "3"),
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert without_progress(done.stderr) == "vambrace: interrupted\n"


def test_the_installed_command_runs() -> None:
    command = Path(sys.executable).with_name("vambrace")
    done = subprocess.run(
        [command, *SIMULATE, *SMALL, "--json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    assert [each["policy"] for each in json.loads(done.stdout)] == ["ucb1", "se-wr:budget=2"]
    done = subprocess.run([command, "simulate", "nope"], capture_output=True, text=True, timeout=300, check=False)
    assert_mistake(Finished(done.returncode, done.stdout, done.stderr))


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["simulate", "--help"], ["certify", "--help"], ["list", "--json"], PLAN.split()],
    ids=" ".join,
)
def test_what_needs_no_simulation_imports_nothing_heavy(words: list[str]) -> None:
    done = fresh(
        "import sys, vambrace.cli\n"
        "try:\n"
        "    vambrace.cli.main()\n"
        "finally:\n"
        "    print([name for name in ('numba', 'polars', 'altair', 'scipy') if name in sys.modules], file=sys.stderr)",
        *words,
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert done.stdout
