"""Run an experiment: only the cells that are missing, on processes or on a Dask cluster.

Workers compute and return the bytes of a file; only the process that holds the folder writes. If a worker crashes, only
the cell that it was playing is lost; it is tried once more on a new worker.

The pool is our own: executors with one process each. One executor with many processes would break as a whole when one
of them dies, would not say which cell was the cause, would keep playing after its owner was killed, and would compile
every program in every worker.
"""

import logging
import os
import signal
import socket
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

from vambrace import validation
from vambrace.errors import ClusterLost, InvalidParameter, MissingExtra, StoreError, VambraceError
from vambrace.lab.cells import Cell
from vambrace.lab.experiment import Experiment
from vambrace.lab.recorded import encode
from vambrace.lab.store import Status, Store
from vambrace.lab.tally import Tally
from vambrace.own_code import split
from vambrace.progress import ProgressBar
from vambrace.version import __version__

TICK = 0.2  # seconds between two looks at the workers
HEAD_EVERY = 10.0  # seconds between two writes of experiment.json during a run
CRASHES = 2  # a cell has failed after this many crashes of its workers
FAILED_STARTS = 3  # the run ends after this many workers in a row that did not start
NEVER_STARTED = (
    "workers: {count} processes in a row crashed at once; a program of your own must begin under "
    "`if __name__ == '__main__':`, since every worker imports it"
)


class Played(NamedTuple):
    """A finished cell."""

    data: bytes
    seconds: float  # of playing
    worker: str = ""  # the machine and the process that played it


class Failure(NamedTuple):
    """A cell that could not be played."""

    error: str
    trace: str
    seconds: float = 0.0
    worker: str = ""


Outcome = tuple[Cell, Played | Failure] | None  # None: nothing new


def run(
    experiment: Experiment,
    folder: Path | str,
    *,
    workers: int | None = None,
    dask: str | None = None,
    fail_fast: bool = False,
    progress: bool | None = None,
) -> Status:
    """Play every cell that the folder does not have yet, and return the new status of the folder.

    Args:
        experiment: What to play.
        folder: Where the results are kept; created if it does not exist.
        workers: The number of processes; None: one per core. 1: play the cells in this process, each on all cores.
        dask: The address of a Dask scheduler, or "local" for a cluster on this machine; None: our own processes.
        fail_fast: Stop at the first cell that fails; otherwise the others go on.
        progress: Whether to show a progress bar; None: on a terminal.

    The files have the same bytes on every machine and with any number of workers.
    """
    count = validation.whole("workers", os.cpu_count() or 1 if workers is None else workers, low=1, high=10**4)
    store, finished = Store(Path(folder)), set[str]()
    done, saved = 0, time.monotonic()
    with (
        store.opened(experiment) as waiting,
        closing(_outcomes(waiting, count, dask)) as outcomes,
        ProgressBar(experiment.name, len(waiting), show=progress, unit="cells") as bar,
    ):
        tally = Tally(store.folder, experiment.name, waiting, store.total - len(waiting))
        for outcome in outcomes:
            tally.save()
            if outcome is not None:
                cell, found = outcome
                done += 1
                if isinstance(found, Played):
                    found = _kept(store, cell, found)
                tally.add(cell, found.worker, found.seconds, failed=isinstance(found, Failure))
                if isinstance(found, Played):
                    finished.add(cell.id)
                else:
                    store.fail(cell, found.error, found.trace)
                    if fail_fast:
                        break
                if time.monotonic() - saved > HEAD_EVERY:
                    store.save_head()
                    saved = time.monotonic()
            bar.update(done)
    return store.status(trusted=finished)


def _kept(store: Store, cell: Cell, played: Played) -> Played | Failure:
    try:
        store.keep(cell, played.data, played.seconds)
    except StoreError as error:  # the games that were there before are of another kind
        return Failure(str(error), traceback.format_exc(), played.seconds, played.worker)
    return played


def _outcomes(cells: Sequence[Cell], workers: int, dask: str | None) -> Generator[Outcome]:
    if dask is not None:
        return _on_dask(cells, dask, workers)
    if min(workers, len(cells)) > 1:
        return _in_processes(cells, min(workers, len(cells)))
    return ((cell, play(cell, __version__, None)) for cell in cells)


def play(cell: Cell, version: str, threads: int | None) -> Played | Failure:
    """Play a cell; errors are returned as text, since some exceptions cannot be sent between processes."""
    started, worker = time.perf_counter(), f"{socket.gethostname()}:{os.getpid()}"
    try:
        if version != __version__:
            raise InvalidParameter(f"worker: expected vambrace {version}, got {__version__}")
        result = cell.play(threads)
        seconds = time.perf_counter() - started
        data = encode(cell, result)
    except Exception as error:
        name = "" if isinstance(error, VambraceError) else f"{type(error).__name__}: "
        message = " ".join(f"{name}{error}".split())
        return Failure(message, traceback.format_exc(), time.perf_counter() - started, worker)
    return Played(data, seconds, worker)


def _in_processes(cells: Sequence[Cell], workers: int) -> Generator[Outcome]:
    """Play the cells on our own workers; yields None from time to time while nothing is new."""
    families, crashes, failed_starts = _families(cells), Counter[str](), 0
    idle: list[_Worker] = [_Worker() for _ in range(workers)]
    busy: dict[Future[Played | Failure], tuple[Cell, _Worker]] = {}
    outcomes: list[Outcome] = []
    try:
        while any(families.values()) or busy or outcomes:
            while any(families.values()) and idle:
                worker = idle.pop()
                cell = _next(families, worker.family, [each.family for _, each in busy.values()])
                busy[worker.submit(cell)] = cell, worker
            yield from outcomes or [None]  # they are written while the workers continue
            outcomes = []
            for future in wait(busy, timeout=TICK, return_when=FIRST_COMPLETED).done:
                cell, worker = busy.pop(future)
                idle.append(worker)
                try:
                    outcomes.append((cell, future.result()))
                    failed_starts = 0
                except BrokenProcessPool as error:
                    failed_starts = 0 if worker.started.is_set() else failed_starts + 1
                    if failed_starts == FAILED_STARTS:
                        raise ClusterLost(NEVER_STARTED.format(count=failed_starts)) from None
                    idle.pop().end()
                    idle.append(_Worker())
                    crashes[cell.id] += 1
                    if crashes[cell.id] < CRASHES:
                        families[family(cell)].appendleft(cell)
                    else:
                        outcomes.append((cell, Failure("worker: crashed twice while running this cell", str(error))))
    finally:
        for worker in [*idle, *(worker for _, worker in busy.values())]:
            worker.end()


def family(cell: Cell) -> str:
    """A name for cells that share most of the programs to compile."""
    policy, environment = (":".join(split(spec)[:2]) for spec in (cell.policy, cell.environment))
    return f"{policy} on {environment}"


def _families(cells: Sequence[Cell]) -> dict[str, deque[Cell]]:
    found: dict[str, deque[Cell]] = {}
    for cell in cells:
        found.setdefault(family(cell), deque()).append(cell)
    return found


def _next(families: dict[str, deque[Cell]], own: str, others: Sequence[str]) -> Cell:
    """The next cell of the worker's own family, which is compiled; otherwise of the longest that fewest others play."""
    left = {name: len(cells) for name, cells in families.items() if cells}
    chosen = own if own in left else min(left, key=lambda name: (others.count(name), -left[name]))
    return families[chosen].popleft()


class _Worker:
    """A process that plays one cell after the other, on one thread, and ends when this process ends."""

    family = ""  # of the cell that it played last

    def __init__(self) -> None:
        context = get_context("spawn")
        theirs, self._ours = context.Pipe(duplex=False)
        self.started = context.Event()  # whether the process ever ran
        start: dict[str, Any] = {"initializer": _start, "initargs": (theirs, self.started)}
        self._pool = ProcessPoolExecutor(1, mp_context=context, **start)

    def submit(self, cell: Cell) -> Future[Played | Failure]:
        self.family = family(cell)
        return self._pool.submit(play, cell, __version__, 1)

    def end(self) -> None:
        """Stop it, even in the middle of a cell."""
        self._ours.close()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _start(pipe: Connection, started: Event) -> None:
    """In a worker: leave Ctrl-C to the owner, and end as soon as the owner closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    started.set()

    def wait_for_the_end() -> None:
        with suppress(EOFError, OSError):
            pipe.recv_bytes()
        os._exit(1)

    threading.Thread(target=wait_for_the_end, daemon=True).start()


def _on_dask(cells: Sequence[Cell], address: str, workers: int) -> Generator[Outcome]:
    """Play the cells on Dask, which replays the cells of a lost worker; a cell that crashes several has failed."""
    if not cells:
        return
    with _client(address, min(workers, len(cells))) as client:
        waiting = {client.submit(play, cell, __version__, 1, pure=False): cell for cell in cells}
        try:
            while waiting:
                finished = [future for future in waiting if future.done()]
                if not finished:
                    time.sleep(TICK)
                    yield None
                for future in finished:
                    if future.cancelled():  # not by us: the scheduler is gone
                        raise ClusterLost(f"dask: lost the scheduler at {address}")
                    cell = waiting.pop(future)
                    try:
                        outcome: Played | Failure = future.result()
                    except Exception as error:  # there are many kinds of them
                        outcome = Failure(f"dask: gave up this cell: {error!r}", traceback.format_exc())
                    yield cell, outcome
        finally:
            if client.status == "running":
                client.cancel(list(waiting))


@contextmanager
def _client(address: str, workers: int) -> Iterator[Any]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtra("dask: expected the extra vambrace[dask], got no module named 'distributed'") from None
    with ExitStack() as stack:
        for logger in map(logging.getLogger, ("distributed", "distributed.client")):  # we report an error once
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        scheduler: Any = address
        if address == "local":
            # without an address it would listen on port 8787 on all interfaces, and warn if that is in use
            local: dict[str, Any] = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
            local |= {"scheduler_kwargs": {"dashboard": False}, "silence_logs": 50}
            size = {"n_workers": workers, "threads_per_worker": 1, "processes": True}
            scheduler = stack.enter_context(distributed.LocalCluster(**size, **local))
        try:
            client = stack.enter_context(distributed.Client(scheduler, timeout="10s"))
        except (OSError, ValueError) as error:
            raise InvalidParameter(f"dask: expected the address of a scheduler, got {address!r}: {error}") from None
        yield client
