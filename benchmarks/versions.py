"""Is this version as fast as another one? The rows of `run.py`, both versions in turns, as ratios.

    python benchmarks/versions.py ../vambrace-0.1.0     # a checkout with its own .venv; about ten minutes
    python benchmarks/versions.py ../vambrace-0.1.0 --only "SE-WR"

Each version runs in a process of its own, with the rows of its own `run.py`. A pass plays a row first here, then there,
on the same core, and the fastest pass of each counts, in processor time: so a busy machine matters little.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve()
SLOWER = 1.1  # a ratio above it is marked
PASS = 0.05  # seconds: shorter rows are played again
SETTLED = 4  # passes without a new record, after which a row ends
MOST = 40  # passes
SHORT = 20  # games of a row of short games, which show what a game costs before it begins


def worker(folder: Path) -> None:
    """Read the name of a row, play it, answer with its processor time in seconds; the first line names all rows."""
    sys.path.insert(0, str(folder / "benchmarks"))
    run: Any = import_module("run")
    rows: dict[str, Callable[[], object]] = {}
    for case in run.CASES:
        options: dict[str, Any] = {"replications": case.replications, "engine": case.engine}
        rows[case.name] = partial(run.play, case.policy, case.horizon, **options)
        if case.engine == "rounds":
            rows[f"{case.name}, ask + tell"] = partial(converse, run, case.policy)
    for peer in run.PEERS:
        policy = getattr(run.vb, peer.policy)()
        name = f"{peer.policy}, {SHORT} games of {peer.rounds:,} rounds"
        rows[name] = partial(run.play, policy, peer.rounds, attacked=False, replications=SHORT)
    print(json.dumps([*rows]), flush=True)
    for line in sys.stdin:
        with run.pinned():
            print(least(rows[line.strip()]), flush=True)


def least(play: Callable[[], object]) -> float:
    """The least processor time of a row in this pass: the first time, caches are full of the other version."""
    times: list[float] = []
    while sum(times) < PASS:
        started = process_time()
        play()
        times.append(process_time() - started)
    return min(times)


def converse(run: Any, policy: Any) -> None:
    """Ask and tell a live learner, as in `run.py`."""
    draws = run.np.random.default_rng(1).random(2000).tolist()
    learner = policy.learner(n_arms=len(run.MEANS), horizon=10**6, seed=1)
    for draw in draws:
        decision = learner.ask()
        learner.tell(decision, 1.0 if draw < run.MEANS[decision.arm] else 0.0)


class Version:
    """A checkout, in a process of its own.

    Args:
        folder: The checkout, with an environment in .venv.
    """

    def __init__(self, folder: Path) -> None:
        python = folder / ".venv" / "bin" / "python"
        if not python.exists():
            sys.exit(f"{folder}: expected a checkout with an environment in .venv (make .venv/.ready), got none")
        command = [str(python), str(HERE), str(folder), "--worker"]
        process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process = process
        self.rows: list[str] = json.loads(self.process.stdout.readline())

    def seconds(self, row: str) -> float:
        """The processor time of one pass."""
        self.process.stdin.write(row + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def compared(row: str, versions: tuple[Version, Version]) -> tuple[float, float]:
    """The least processor time of a row in both versions."""
    for each in versions:
        each.seconds(row)  # compiles
    best, stale, passes = [float("inf")] * 2, 0, 0
    while stale < SETTLED and passes < MOST:
        found = [each.seconds(row) for each in versions]
        stale = 0 if any(new < 0.99 * old for new, old in zip(found, best, strict=True)) else stale + 1
        best, passes = [min(pair) for pair in zip(best, found, strict=True)], passes + 1
    return best[0], best[1]


def main() -> None:
    """Print a line for each row that both versions have."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="a checkout of the other version, with its environment in .venv")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose names contain this")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.other)
        return
    here, there = versions = Version(HERE.parent.parent), Version(args.other.resolve())
    rows = [row for row in dict.fromkeys(here.rows) if row in there.rows and args.only in row]
    slower = []
    for row in rows:
        ours, theirs = compared(row, versions)
        slower += [row] if ours > SLOWER * theirs else []
        print(f"{ours / theirs:6.2f}  {row}: {ours * 1e3:,.1f} against {theirs * 1e3:,.1f} ms", flush=True)
    print(f"{len(rows)} rows, {len(slower)} more than {SLOWER - 1:.0%} slower: {'; '.join(slower) or 'none'}")


if __name__ == "__main__":
    main()
