"""Durable learners beside the bare database that does the same inserts, in one run, and how long it takes to open one.

python benchmarks/journal.py [--events 1000000] [--markdown FILE]

- bare: each of 32 threads has its own connection and inserts one row after the other, each a commit of its own, without
  the lock of a learner, so that the database may do what it can for many callers;
- bare, grouped: the rows of all threads that wait go into one transaction: the group commit of learners, no learner;
- learner: 32 threads ask and tell. Each call is one row, and returns when it is on disk.

The three take turns, and the best of three rounds counts. Rows, tables, indexes and durability are the same. PostgreSQL
is started for this (pgserver).
"""

import argparse
import itertools
import json
import resource
import secrets
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import vambrace as vb
from vambrace.live.commits import Commits
from vambrace.live.durable import DurableLearner
from vambrace.live.events import Asked, Told
from vambrace.live.fold import Fold, entry_of
from vambrace.live.journal import Entry, Journal
from vambrace.live.sql import open_journal

CALLERS = 32
WANTED = 0.5
POLICY = vb.KLUCBWR(budget=20)
N_ARMS = 10


def entries() -> Iterator[Callable[[int], Entry]]:
    """Rows like those of a learner: a decision, and its answer."""
    while True:
        name = f"0-{secrets.token_hex(16)}-{secrets.token_hex(8)}"
        yield lambda number, name=name: entry_of(number, Asked(time.time(), name, 0, 1.0, 0), number, None)  # type: ignore[misc]
        yield lambda number, name=name: entry_of(number, Told(time.time(), name, 1.0), number, None)  # type: ignore[misc]


def rate(prepare: Callable[[], Callable[[], Any]], calls: int) -> float:
    """Calls per second, of all threads together; each thread prepares its own call."""

    def work() -> None:
        call = prepare()
        start.wait()
        for _ in range(calls // CALLERS):
            call()

    start = threading.Barrier(CALLERS + 1)
    threads = [threading.Thread(target=work) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    start.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    return calls / (time.perf_counter() - begun)


def bare(url: str, name: str, calls: int) -> float:
    open_journal(url, name, create=True)
    numbers = itertools.count(1)

    def prepare() -> Callable[[], None]:
        journal, rows = open_journal(url, name, create=False), entries()
        return lambda: journal.append([next(rows)(next(numbers))])  # without a transaction: it commits at once

    return rate(prepare, calls)


class BareFold(Fold):
    """The group commit without a learner."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.rows, self.numbers = entries(), itertools.count(1)

    def run(self, batch: Any) -> None:
        """Insert a row for each caller."""
        with self.journal.transaction():
            self.journal.append([next(self.rows)(next(self.numbers)) for _ in batch])


def grouped(url: str, name: str, calls: int) -> float:
    commits = Commits(BareFold(open_journal(url, name, create=True)))
    return rate(lambda: lambda: commits.run(lambda core, now: None), calls)


def learner(url: str, name: str, calls: int) -> float:
    played = vb.open(url, name, policy=POLICY, n_arms=N_ARMS)

    def prepare() -> Callable[[], None]:
        waiting: list[Any] = []

        def call() -> None:
            if waiting:
                played.tell(waiting.pop(), 1.0)
            else:
                waiting.append(played.ask())

        return call

    return rate(prepare, calls)


def compare(database: str, url: str, calls: int) -> list[str]:
    measures = {"bare": bare, "bare, grouped": grouped, "learner": learner}
    best = dict.fromkeys(measures, 0.0)
    for turn in range(3):
        for name, measure in measures.items():
            best[name] = max(best[name], measure(url, f"{name.split()[-1]}-{turn}", calls))
    share, other = best["learner"] / best["bare"], best["learner"] / best["bare, grouped"]
    return [
        f"{database}, {CALLERS} callers: " + ", ".join(f"{name} {value:,.0f}/s" for name, value in best.items()),
        f"  learner / bare: {share:.2f} (wanted {WANTED}) {'ok' if share >= WANTED else 'MISSED'}; "
        f"learner / bare, grouped: {other:.2f}",
    ]


def fill(url: str, events: int) -> DurableLearner:
    """A learner with this many events, a tenth of its decisions without an answer."""
    made = vb.open(url, "large", policy=POLICY, n_arms=N_ARMS, expires_after=1e9)
    while made._fold.number < events:
        decisions = made.ask_many(2_000)
        made.tell_many([(each, float(each.index == 3)) for at, each in enumerate(decisions) if at % 1_000])
    return made


def opening(url: str, events: int) -> list[str]:
    started = time.perf_counter()
    made = fill(url, events)
    filled = time.perf_counter() - started
    made.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    journal = open_journal(url, "large", create=False)
    times = []
    for from_snapshot in (True, False):
        fold, begun = Fold(journal), time.perf_counter()
        fold.load(from_snapshot=from_snapshot)
        times.append(time.perf_counter() - begun)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    verdicts = ["ok" if seconds <= limit else "MISSED" for seconds, limit in zip(times, (5.0, 60.0), strict=True)]
    core = fold.core
    assert core is not None
    return [
        f"{fold.number:,} events ({filled:.0f} s to write): opened from the snapshot in {times[0]:.2f} s (wanted 5) "
        f"{verdicts[0]}, by full replay in {times[1]:.1f} s (wanted 60) {verdicts[1]}",
        f"  in memory: {len(core.open):,} open decisions, {len(core.closed):,} closed ones; "
        f"{sys.getsizeof(json.dumps(made.snapshot())):,} bytes of snapshot; replay raised the peak by {grown:.0f} MB",
    ]


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgserver import get_server  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder, tempfile.TemporaryDirectory(prefix="vb-") as data:
        server = get_server(data, cleanup_mode="stop")
        yield {"SQLite": f"sqlite:///{folder}/bench.db", "PostgreSQL": server.get_uri()}
        server.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3_200, help="inserts of each measurement; 0: none")
    parser.add_argument("--events", type=int, default=1_000_000, help="of the learner that is opened; 0: none")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the lines there")
    arguments = parser.parse_args()
    lines = []
    with databases() as found:
        for name, url in found.items() if arguments.calls else ():
            lines += compare(name, url, arguments.calls)
        if arguments.events:
            lines += opening(found["SQLite"], arguments.events)
    print("\n".join(lines))
    if arguments.markdown is not None:
        arguments.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
