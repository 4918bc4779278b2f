"""Runs that are killed, interrupted, refused or fail, and that end as if nothing had happened."""

import contextlib
import errno
import functools
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from itertools import permutations
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import own_file
import vambrace as vb
from vambrace import cli
from vambrace.errors import ClusterLost, InvalidParameter, MissingExtra
from vambrace.lab import cells
from vambrace.lab import experiment as spec
from vambrace.lab import runner as run
from vambrace.lab.store import Status, Store
from vambrace.paper.suites import suites

LONG = """
name = "long"
seed = 5
replications = 2
checkpoints = 6
horizons = [4e6, 5e6, 6e6]
budgets = [0, 50]
adversaries = ["conceal"]
policies = ["ucb1"]

[environments]
two = "bernoulli:means=0.9/0.5"
three = "bernoulli:means=0.9/0.8/0.5"
"""
FAILING: dict[str, Any] = {
    "name": "failing",
    "replications": 2,
    "checkpoints": 3,
    "horizons": [30],
    "budgets": [0, 5],
    "policies": ["ucb1", "se"],
    "adversaries": ["elimination-rush:stop_when_dropped=true"],  # which UCB1 has nothing for
    "environments": {"two": "bernoulli:means=0.9/0.5"},
}
BAD = "two--ucb1--elimination-rush_stop_when_dropped-true--c5--t30"
linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "long.toml"
    path.write_text(LONG, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an uninterrupted run in one process gives."""
    folder = tmp_path_factory.mktemp("whole")
    assert run.run(spec.read(file), folder, workers=1).missing == ()
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    """The finished cells; what a killed run was just writing begins with a dot."""
    found = (path for path in (folder / "cells").glob("*.parquet") if not path.name.startswith("."))
    return {path.name: path.read_bytes() for path in found}


def start(file: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "vambrace.cli", "run", str(file), "--out", str(folder), *options]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def until(true: Callable[[], Any], seconds: float = 120) -> Any:
    """Wait for something; generously, since this is no measurement."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
    return found


def workers_of(pid: int) -> list[int]:
    """The processes that a run has spawned to play cells."""
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()
    ]
    return [child for child in children if b"spawn_main" in command(child)]


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


# ----------------------------------------------------------------------------------------------- the same whatever dies

WAYS = {"one": ("--workers", "1"), "two": ("--workers", "2"), "dask": ("--dask", "local")}


@linux
@pytest.mark.slow
@pytest.mark.parametrize("moment", range(20))
def test_killed_at_any_moment_and_resumed_in_any_way(
    file: Path, whole: dict[str, bytes], tmp_path: Path, moment: int
) -> None:
    """Parent and workers die at once, at a random moment of a run of some seconds; finished cells stay as they are."""
    dice = random.Random(moment)
    started = start(file, tmp_path, *dice.choice([WAYS["one"], WAYS["two"]]))
    time.sleep(dice.uniform(0.5, 6.0))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    finish(started)
    kept = files(tmp_path)
    stamps = {name: (tmp_path / "cells" / name).stat().st_mtime_ns for name in kept}
    assert kept.items() <= whole.items()
    code, out, _ = finish(start(file, tmp_path, *WAYS[[*WAYS][moment % 3]]))
    assert (code, out) == (0, f"long: 12 done of 12 cells in {tmp_path}\n")
    assert {name: hashlib.sha256(data).hexdigest() for name, data in files(tmp_path).items()} == {
        name: hashlib.sha256(data).hexdigest() for name, data in whole.items()
    }
    assert {name: (tmp_path / "cells" / name).stat().st_mtime_ns for name in kept} == stamps
    assert not [*tmp_path.rglob("*unfinished*")]


GROWTH = (
    ("replications = 2", "replications = 4"),
    ("[0, 50]", "[0, 50, 80]"),
    ('"ucb1"', '"ucb1", "thompson"'),
)


@linux
@pytest.mark.slow  # 25 s each
@pytest.mark.parametrize("moment", range(6))
def test_killed_at_any_moment_while_the_experiment_grows(tmp_path: Path, moment: int) -> None:
    """In each order of the three changes, killed after each of them."""
    dice, file, text = random.Random(moment), tmp_path / "long.toml", LONG.replace("4e6, 5e6, 6e6", "3e6, 4e6")
    steps = [*permutations(GROWTH)][moment]
    for old, new in (("", ""), *steps):
        text = text.replace(old, new) if old else text
        file.write_text(text, encoding="utf-8")
        started = start(file, tmp_path / "out", *WAYS[dice.choice(["one", "two"])])
        time.sleep(dice.uniform(1.0, 5.0))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        finish(started)
    code, out, _ = finish(start(file, tmp_path / "out", *WAYS["two"]))
    assert (code, out.splitlines()[0]) == (0, f"long: 24 done of 24 cells in {tmp_path / 'out'}")
    assert run.run(spec.read(file), tmp_path / "whole", workers=1).missing == ()
    assert files(tmp_path / "out") == files(tmp_path / "whole")


@linux
@pytest.mark.parametrize("moment", [0, pytest.param(1, marks=pytest.mark.slow)])  # 4 s, and the twenty above
def test_a_killed_run_goes_on_where_it_was(file: Path, whole: dict[str, bytes], tmp_path: Path, moment: int) -> None:
    process = start(file, tmp_path, "--workers", "2")
    until(lambda: len(files(tmp_path)) > moment)
    time.sleep(random.Random(moment).uniform(0, 0.1))
    children = workers_of(process.pid)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    until(lambda: not any(command(child) for child in children), seconds=30)  # nobody goes on without us
    finish(process)

    kept = files(tmp_path)
    stamps = {name: (tmp_path / "cells" / name).stat().st_mtime_ns for name in kept}
    assert kept.items() <= whole.items()
    code, out, err = finish(start(file, tmp_path, "--workers", "2"))
    assert (code, err) == (0, "")
    assert out.startswith("long: 12 done of 12 cells")
    assert files(tmp_path) == whole
    assert {name: (tmp_path / "cells" / name).stat().st_mtime_ns for name in kept} == stamps
    assert not [*tmp_path.rglob("*unfinished*")]


DASK = pytest.param(("--dask", "local"), marks=pytest.mark.slow)  # 5 s


@linux
@pytest.mark.parametrize("options", [("--workers", "2"), DASK], ids=["processes", "dask"])
def test_a_killed_worker_costs_nothing_but_time(
    file: Path, whole: dict[str, bytes], tmp_path: Path, options: tuple[str, str]
) -> None:
    if "--dask" in options:
        pytest.importorskip("distributed", reason="needs vambrace[dask]")
    process = start(file, tmp_path, *options)
    until(lambda: files(tmp_path))
    os.kill(until(lambda: workers_of(process.pid))[0], signal.SIGKILL)
    code, out, _ = finish(process)
    assert (code, out) == (0, f"long: 12 done of 12 cells in {tmp_path}\n")
    assert files(tmp_path) == whole


@linux
def test_an_interrupt_leaves_what_is_finished_and_a_second_run_is_refused(
    file: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    process = start(file, tmp_path, "--workers", "2")
    until(lambda: files(tmp_path))
    os.killpg(process.pid, signal.SIGSTOP)  # so that it surely lives while we look
    code, _, err = finish(start(file, tmp_path))
    assert (code, err.count("\n")) == (2, 1)
    assert err.endswith(f"expected a folder that nobody is using, got one in use by process {process.pid}\n")
    children = workers_of(process.pid)
    os.killpg(process.pid, signal.SIGCONT)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: to everybody
    code, _, err = finish(process)
    assert (code, err) == (130, "vambrace: interrupted\n")
    assert not any(command(child) for child in children)
    assert files(tmp_path).items() <= whole.items()
    seconds = json.loads((tmp_path / "experiment.json").read_text(encoding="utf-8"))["seconds"]
    assert {f"{name}.parquet" for name in seconds} == {*files(tmp_path)}


# ------------------------------------------------------------------------------------------------------ cells that fail


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cells that were played, interpreted, in this process."""
    names: list[str] = []

    def play(cell: cells.Cell, *rest: Any) -> Any:
        names.append(cell.id)
        return original(cell, *rest)

    original = run.play
    monkeypatch.setattr(run, "play", play)
    monkeypatch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
    return names


def test_failed_cells_are_told_and_tried_again_alone(tmp_path: Path, played: list[str]) -> None:
    experiment = spec.validated(FAILING)

    def again() -> Status:
        played.clear()
        return run.run(experiment, tmp_path, workers=1)

    found = again()
    assert (len(played), len(found.done), found.missing) == (4, 3, ())
    assert "expected a policy whose state has 'arms', got ucb1" in found.failed[BAD]
    kept = json.loads((tmp_path / "failed" / f"{BAD}.json").read_text(encoding="utf-8"))
    assert kept["error"] == found.failed[BAD]
    assert kept["cell"]["policy"] == "ucb1"
    assert any("NotApplicable" in line for line in kept["trace"])

    before = files(tmp_path)
    assert again().failed == found.failed
    assert played == [BAD]
    (tmp_path / "cells" / f"{found.done[0]}.parquet").write_bytes(b"PAR1")
    again()
    assert sorted(played) == sorted([BAD, found.done[0]])
    assert files(tmp_path) == before


def test_a_full_disk_is_one_line_and_loses_no_finished_cell(
    tmp_path: Path, played: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = tmp_path / "e.toml"
    experiment.write_text(LONG.replace("4e6, 5e6, 6e6", "20, 30, 40"), encoding="utf-8")
    write = Path.write_bytes

    def write_bytes(path: Path, data: bytes) -> int:
        if len(played) > 3:
            write(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        assert command_line(patch, "run", str(experiment), "--out", str(tmp_path / "out"), "--workers", "1") == 2
    line = capsys.readouterr().err
    assert line.endswith(f"{played[3]}.parquet: No space left on device\n")
    assert line.count("\n") == 1
    assert {*files(tmp_path / "out")} == {f"{name}.parquet" for name in played[:3]}
    assert not [*tmp_path.rglob("*unfinished*")]
    before = len(played)
    assert command_line(monkeypatch, "run", str(experiment), "--out", str(tmp_path / "out"), "--workers", "1") == 0
    assert len(played) == before + 12 - 3


def test_workers_share_the_policies_between_them() -> None:
    """Who has compiled a policy goes on with it; what is left of a long line is shared."""
    small = spec.parse(FAILING | {"policies": ["ucb1", "se"], "adversaries": ["conceal"], "horizons": [30, 40]})
    waiting = run._families(list(cells.expand(small).cells.values()))
    first = run._next(waiting, "", [])
    second = run._next(waiting, "", [run.family(first)])
    assert {first.policy, second.policy} == {"ucb1", "se"}
    rest = [run._next(waiting, run.family(first), [run.family(second)]) for _ in range(6)]
    assert [cell.policy for cell in rest] == [first.policy] * 3 + [second.policy] * 3
    assert [cell.horizon for cell in rest[:3]] == [30, 40, 40]  # in the order of the experiment
    assert not any(waiting.values())


def test_the_first_failure_can_end_the_run(tmp_path: Path, played: list[str]) -> None:
    found = run.run(spec.validated(FAILING | {"budgets": [5, 0]}), tmp_path, workers=1, fail_fast=True)
    assert played == [BAD]
    assert ([*found.failed], len(found.missing)) == ([BAD], 3)


def test_workers_run_files_of_the_user_and_failures_come_back_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(own_file.TEXT, encoding="utf-8")
    own = {"policies": ["mine.py:broken", "mine.py:my-greedy"], "adversaries": ["mine.py:slander"], "budgets": [5]}
    experiment = spec.parse(FAILING | own)
    Path("mine.py").unlink()  # the text travels, not the path
    found = run.run(experiment, "out", workers=2)
    assert [*found.failed.values()] == ["policy mine.py:broken: expected an arm in [0, 1], got 7 in round 1"]
    (name,) = found.done
    played = run.play(cells.expand(experiment).cells[name], vb.__version__, 1)
    assert isinstance(played, run.Played)
    assert files(Path("out")) == {f"{name}.parquet": played.data}


def test_a_cell_that_workers_die_of_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run._Worker, "submit", lambda worker, cell: worker._pool.submit(os._exit, 9))
    found = run.run(spec.validated(FAILING | {"budgets": [0]}), tmp_path, workers=2)
    assert {*found.failed.values()} == {"worker: crashed twice while running this cell"}
    assert len(found.failed) == 2


@pytest.mark.slow  # 2 s
def test_a_program_that_workers_cannot_import_is_told_what_is_wrong(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from pathlib import Path\nfrom vambrace.lab import experiment as spec, runner as run\n"
        f"run.run(spec.validated({FAILING!r}), Path({str(tmp_path / 'out')!r}), workers=2)\n",
        encoding="utf-8",
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "vambrace.errors.ClusterLost: workers: 3 processes in a row crashed at once; "
    )


def test_a_worker_with_another_version_says_so() -> None:
    cell = next(iter(cells.expand(spec.validated(FAILING)).cells.values()))
    found = run.play(cell, "9.9.9", 1)
    assert isinstance(found, run.Failure)
    assert found.error == f"worker: expected vambrace 9.9.9, got {vb.__version__}"


# ----------------------------------------------------------------------------------------------------- the command line


def command_line(monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    monkeypatch.setattr(sys, "argv", ["vambrace", *words])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return stopped.value.code


def test_run_and_status_on_the_command_line(
    tmp_path: Path, played: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = json.dumps(FAILING["environments"]["two"])
    changed = FAILING | {"policies": ["mine.py:broken", "se"], "adversaries": ["conceal"]}
    lines = [f"{key} = {json.dumps(value)}" for key, value in changed.items() if key != "environments"]
    Path("failing.toml").write_text("\n".join([*lines, "[environments]", f"two = {text}"]), encoding="utf-8")
    Path("mine.py").write_text(own_file.TEXT, encoding="utf-8")
    say = functools.partial(command_line, monkeypatch)

    assert say("run", "failing.toml", "--workers", "1") == 1
    out, err = capsys.readouterr()
    assert err == ""
    why = "policy mine.py:broken: expected an arm in [0, 1], got 7 in round 1"
    bad = [f"two--mine.py_broken--{attack}--t30" for attack in ("none--c0", "conceal--c5")]
    assert out.splitlines() == [
        *(f"failed: {name}: {why}" for name in bad),
        "failing: 2 done, 2 failed of 4 cells in out/failing",
    ]

    Path("out/failing/cells/stray").touch()
    assert say("status", "out/failing") == 0
    assert "unknown: cells/stray" in capsys.readouterr().out.splitlines()
    assert say("status", "out/failing", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["cells"], len(status["done"]), [*status["failed"]]) == (4, 2, bad)

    good = Path("failing.toml").read_text(encoding="utf-8")
    Path("failing.toml").write_text(good.replace("checkpoints = 3", "checkpoints = 4"), encoding="utf-8")
    assert say("run", "failing.toml") == 2
    *diff, line = capsys.readouterr().err.splitlines()
    assert '+  "checkpoints": 4,' in diff
    assert line.startswith(
        "vambrace: error: out/failing: the change gives 2 finished cells another meaning, such as two--se"
    )

    Path("failing.toml").write_text(
        good.replace("replications = 2", "replications = 5").replace("0, 5", "0"), encoding="utf-8"
    )
    assert say("run", "failing.toml", "--dry-run", "--workers", "2") == 0
    forecast = "out/failing: cells: 1 to play, 1 to extend, 0 kept, 1 put aside; games to play: 8"
    printed = capsys.readouterr().out.splitlines()
    assert printed == [forecast, "About 0 s of computing, 0 s on 2 processes, judged from 2 measured cells."]
    assert say("run", "failing.toml", "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["extend"] == ["two--se--none--c0--t30"]
    assert say("run", "failing.toml", "--workers", "1") == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "unknown: cells/stray",
        "failing: 1 done, 1 failed of 2 cells in out/failing",
        "aside: 1 finished cell that the experiment no longer has, in out/failing/aside",
    ]

    assert say("run", "postr") == 2
    assert capsys.readouterr().err == "vambrace: error: unknown suite or file 'postr'; did you mean 'poster'?\n"
    assert say("run", "none.toml") == 2
    assert capsys.readouterr().err == "vambrace: error: none.toml: No such file or directory\n"
    assert say("status", ".") == 2
    assert say("list", "suites", "--json") == 0
    assert [*suites()] == [suite["name"] for suite in json.loads(capsys.readouterr().out)["suites"]]


def test_what_is_wrong_with_a_cluster_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = spec.validated(FAILING)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        with pytest.raises(MissingExtra, match=r"expected the extra vambrace\[dask\]"):
            run.run(experiment, tmp_path, dask="local")
    pytest.importorskip("distributed", reason="needs vambrace[dask]")
    with pytest.raises(InvalidParameter, match="expected the address of a scheduler, got 'nowhere'"):
        run.run(experiment, tmp_path, dask="nowhere")


def test_a_scheduler_that_goes_away_is_nobody_elses_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(*words: Any, **options: Any) -> Any:
        return Mock(done=lambda: True, cancelled=lambda: True)

    client = Mock(submit=submit, status="closed")
    monkeypatch.setattr(run, "_client", lambda address, workers: nullcontext(client))
    with pytest.raises(ClusterLost, match="dask: lost the scheduler at here"):
        run.run(spec.validated(FAILING), tmp_path, dask="here")
    status = Store(tmp_path).status()
    assert (len(status.missing), status.failed) == (4, {})


CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow  # 3 s
def test_a_cluster_that_runs_already_is_found_by_its_address(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs vambrace[dask]")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    (tmp_path / "mine.py").write_text(own_file.TEXT, encoding="utf-8")
    (tmp_path / "file.toml").write_text(
        LONG.replace("4e6, 5e6, 6e6", "30").replace('"ucb1"', '"mine.py:my-greedy", "mine.py:broken"')
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, str(script)], text=True, **pipes) as cluster:  # type: ignore[call-overload]
        address = cluster.stdout.readline().strip()
        done = finish(start(tmp_path / "file.toml", tmp_path / "out", "--dask", address, "--json"))
        cluster.stdin.close()
    assert (done[0], done[2]) == (1, "")
    status = json.loads(done[1])
    assert (len(status["done"]), len(status["failed"])) == (4, 4)
    assert all("got 7 in round 1" in error for error in status["failed"].values())
