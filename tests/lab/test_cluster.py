"""Clusters: one on this machine is for this machine only; one of several processes may lose some and gain others."""

import json
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import own_file
import vambrace as vb
from vambrace import lab
from vambrace.lab import runner as run
from vambrace.lab.cells import expand
from vambrace.lab.store import Store
from vambrace.lab.tally import going


def test_a_local_cluster_listens_on_this_machine_only_and_a_second_one_does_not_mind() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with run._client("local", 1) as client, run._client("local", 1):
            hosts = [
                client.run_on_scheduler(
                    lambda dask_scheduler: [s.getsockname()[0] for s in dask_scheduler.http_server._sockets.values()]
                ),
                *client.run(
                    lambda dask_worker: [s.getsockname()[0] for s in dask_worker.http_server._sockets.values()]
                ).values(),
            ]
            assert hosts == [["127.0.0.1"], ["127.0.0.1"]]
            assert client.scheduler.address.startswith("tcp://127.0.0.1:")


LARGE = """
name = "large"
seed = 5
replications = 2
checkpoints = 3
horizons = [40, 45, 50, 55, 60, 65, 70, 75, 80, 85]
budgets = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]
adversaries = ["conceal"]
policies = ["ucb1", "thompson", "se", "mine.py:my-greedy:budget={budget}", "exp3"]

[environments]
two = "bernoulli:means=0.9/0.5"
three = "bernoulli:means=0.9/0.7/0.5"
four = "bernoulli:means=0.9/0.7/0.5/0.3"
smooth = "beta:means=0.6/0.4"
"""


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.stack, self.file, self.folder = stack, folder / "scheduler.json", folder
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        while not self.file.exists():
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text(encoding="utf-8"))["address"]

    def start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{what}"
        words = [sys.executable, "-m", module, "--scheduler-file", str(self.file), *options]
        log = self.stack.enter_context((self.folder / f"{what}.log").open("ab"))
        process = subprocess.Popen(words, stdout=log, stderr=log, cwd=self.folder)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def worker(self) -> subprocess.Popen[bytes]:
        return self.start("worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--no-dashboard")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="needs vambrace[dask]")
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


@pytest.mark.slow  # two minutes
def test_five_thousand_cells_on_three_workers_of_which_one_dies_and_one_comes_late(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(own_file.TEXT, encoding="utf-8")
    (tmp_path / "large.toml").write_text(LARGE, encoding="utf-8")
    first, _ = cluster.worker(), cluster.worker()
    out = tmp_path / "out"
    words = ["run", str(tmp_path / "large.toml"), "--out", str(out), "--dask", cluster.address, "--json"]
    started = time.monotonic()
    printed = cluster.stack.enter_context((tmp_path / "status.json").open("w"))  # a pipe would fill up
    process = subprocess.Popen([sys.executable, "-m", "vambrace.cli", *words], stdout=printed)
    cluster.stack.callback(process.kill)
    seen: dict[str, float] = {}
    while process.poll() is None and time.monotonic() - started < 600:
        now = (going(out) or {}) if out.exists() else {}
        done = now.get("done", 0)
        if done > 1000 and "killed" not in seen:
            first.kill()
            seen["killed"] = done
        if done > 2000 and "joined" not in seen:
            cluster.worker()
            seen["joined"] = done
        seen["workers"] = max(seen.get("workers", 0), len(now.get("workers", {})))
        time.sleep(0.2)
    status = json.loads((tmp_path / "status.json").read_text(encoding="utf-8"))
    print(f"{time.monotonic() - started:.0f} s, {seen}")
    assert (process.returncode, len(status["done"]), status["failed"]) == (0, 5_000, {})
    assert {*seen} == {"killed", "joined", "workers"}
    assert seen["workers"] == 3
    every = expand(lab.read(tmp_path / "large.toml")).cells
    kept = Store(out)
    for name in random.Random(1).sample([*every], 60):  # the same bytes as in one process
        cell = every[name]
        found = run.play(cell, vb.__version__, 1)
        assert isinstance(found, run.Played)
        assert kept.files.path(name).read_bytes() == found.data
