"""A thread that does the work of many callers on learners: all calls that wait for one learner are one transaction.

The event loop gathers calls while the thread works, and then hands all of them over at once. The thread reports to the
loop once for each transaction. So a service needs one thread and one connection for any number of clients.
"""

import asyncio
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from vambrace.errors import JournalError, UnknownName, VambraceError
from vambrace.live.clock import Clock
from vambrace.live.core import Core
from vambrace.live.durable import DurableLearner
from vambrace.live.fold import Fold, Request
from vambrace.live.learner import Decision, Result
from vambrace.live.sql import Database, SqlJournal
from vambrace.serve import problems, tables
from vambrace.serve.incidents import Incidents

MOST_WORK = 2_000  # decisions and answers in one transaction
PAUSE = 0.5  # of the time of the last transaction: how long to wait for more calls at most
LONGEST_PAUSE = 0.005  # seconds
MOST_PRESENT = 0.9  # of those who called a moment ago: who waits no longer if they are there
MOST_LEARNERS = 200  # whose states are in memory


class Held(DurableLearner):
    """A learner whose transaction is running: each method does its work in it, and not in one of its own.

    Args:
        name: Its name.
        database: The connection that its journal uses.
        clock: The time of new events.
    """

    def __init__(self, name: str, database: Database, clock: Clock) -> None:
        self.name, self.database = name, database
        self._fold = Fold(SqlJournal(database, name, create=False), clock=clock)
        self._settings = self._fold.load().settings
        self._now = 0.0
        self._closed: bool | None = None  # not read yet in this transaction
        self.incidents = Incidents(name)

    @property
    def core(self) -> Core:
        """What it knows, after this transaction."""
        return self._fold.load() if self._fold.core is None else self._fold.core

    @property
    def events(self) -> int:
        """The number of its last event."""
        return self._fold.number

    @property
    def now(self) -> float:
        """The time of this transaction."""
        return self._now

    def closed(self) -> bool:
        """Whether it makes no decisions any more, also if another process closed it; read once in a transaction."""
        if self._closed is None:
            found = self.database.run("SELECT 1 FROM vambrace_service_closed WHERE name = ?", self.name)
            self._closed = bool(found)
        return self._closed

    def close_for_good(self) -> None:
        """Make no more decisions, from this transaction on."""
        self.database.run("INSERT INTO vambrace_service_closed VALUES (?, ?)", self.name, self._now)
        self._closed = True

    def created(self) -> float:
        """When it was made."""
        return next(iter(self._fold.journal.read(upto=1))).time

    def ask_for(self, keys: Sequence[str], check: Callable[[int], None]) -> list[Decision]:
        """A decision for each key: the one that it has, or a new one, if `check` does not refuse as many new ones."""

        def work(core: Core, now: float) -> list[Decision]:
            known = self._fold.find_keys(keys)
            check(len(keys) - len(known))
            return self._ask_for(core, now, keys, known)

        return self._alone(work)

    def run(self, calls: Sequence["Call"]) -> None:
        """Do the work of some calls in one transaction."""
        requests = [Request(self._work_of(call)) for call in calls]
        written = Request(self._write_incidents)
        self._fold.run([Request(self._begin), *requests, written])
        if written.result:
            self.incidents.forget()

    def flush(self) -> None:
        """Write the incidents that are left."""
        self.incidents.every = 0.0
        self.run([])

    def _begin(self, core: Core, now: float) -> None:
        """Forget what was read in another transaction, or in this one before it had to begin again."""
        self._now, self._closed = now, None

    def _write_incidents(self, core: Core, now: float) -> bool:
        due = self.incidents.is_due(now)
        if due:
            self.incidents.write(self.database, now)
        return due

    def _work_of(self, call: "Call") -> Callable[[Core, float], None]:
        def work(core: Core, now: float) -> None:
            call.error = None
            try:
                call.result = call.work(self)
            except BaseException as error:
                call.error = error
                raise

        return work

    def _alone(self, work: Callable[[Core, float], Result]) -> Result:
        return work(self.core, self._now)


Work = Callable[[Held], Any]


class Call:
    """Some work on a learner, and then what came of it."""

    __slots__ = ("error", "future", "name", "result", "size", "work")

    def __init__(self, name: str, work: Work, size: int, future: "asyncio.Future[Any]") -> None:
        self.name, self.work, self.size, self.future = name, work, size, future
        self.result: Any = None
        self.error: BaseException | None = None


class Writer:
    """A thread, its connection, and the learners that it works on.

    Args:
        url: The address of the database.
        most_waiting: How much work may wait.
    """

    def __init__(self, url: str, most_waiting: int) -> None:
        self._url, self._most_waiting = url, most_waiting
        self._queue: queue.SimpleQueue[list[Call]] = queue.SimpleQueue()
        self._learners: OrderedDict[str, Held] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._serve, name="vambrace-writer", daemon=True)
        self._database: Database | None = None
        self._clock = Clock()  # one for all: a learner that is read again after a jump must not believe the wrong time
        self._gathered: deque[Call] = deque()  # this and what follows: only the loop changes them
        self._is_free = True  # the thread has nothing to do
        self._timer: asyncio.TimerHandle | None = None  # the thread could work, but waits for more calls
        self._enough = 0.0  # so many calls that it need not wait any longer
        self._is_stopping = False
        self.waiting = 0  # work that is not done

    def start(self) -> None:
        """Begin; called within the loop that gets the results."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Do what waits, and end."""
        self._is_stopping = True
        while self.waiting:
            await asyncio.sleep(0.001)
        self._queue.put([])
        await asyncio.to_thread(self._thread.join)

    async def run(self, name: str, work: Work, size: int = 1) -> Any:
        """What some work on a learner gives, when its events are on disk; its error otherwise."""
        if self._loop is None or self._is_stopping:
            raise problems.busy("The service is stopping.")
        if self.waiting + size > self._most_waiting:
            raise problems.busy("The service has more work than it can do now; send the request again.")
        self.waiting += size
        call = Call(name, work, size, self._loop.create_future())
        self._gathered.append(call)
        if self._is_free:
            self._is_free = False
            self._loop.call_soon(self._hand_over)  # after the other calls of this turn of the loop
        elif self._timer is not None and len(self._gathered) >= self._enough:
            self._timer.cancel()
            self._timer = None
            self._loop.call_soon(self._hand_over)
        return await call.future

    def _finished(self, present: int, seconds: float) -> None:
        """Wait a moment for those who were just answered: a transaction of all costs as much as one of the half.

        Otherwise clients that wait for their answers would fall into two groups, each of which waits for the other.
        """
        self._enough = MOST_PRESENT * present
        if self._loop is not None and len(self._gathered) < self._enough:
            self._timer = self._loop.call_later(min(seconds * PAUSE, LONGEST_PAUSE), self._hand_over)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        """Give the thread what was gathered, as much as fits into one transaction."""
        self._timer = None
        batch: list[Call] = []
        size = 0
        while self._gathered and size < MOST_WORK:
            batch.append(self._gathered.popleft())
            size += batch[-1].size
        self._is_free = not batch
        if batch:
            self._queue.put(batch)

    def _serve(self) -> None:
        while batch := self._queue.get():
            begun, others = time.perf_counter(), 0
            for name in dict.fromkeys(call.name for call in batch):
                group = [call for call in batch if call.name == name]
                self._run(name, group)
                others = others or len(self._gathered)  # who came before anybody is answered
                self._report(self._answer, group)
            self._report(self._finished, len(batch) + others, time.perf_counter() - begun)
        with suppress(VambraceError):
            for learner in self._learners.values():
                learner.flush()
        if self._database is not None:
            self._database.close()

    def _run(self, name: str, group: list[Call]) -> None:
        try:
            self._learner(name).run(group)
        except Exception as error:
            self._learners.pop(name, None)
            for call in group:
                if call.error is None:
                    call.error = _for_caller(name, error)

    def _learner(self, name: str) -> Held:
        if self._database is None:
            self._database = tables.opened(self._url)
        if name not in self._learners:
            self._learners[name] = Held(name, self._database, self._clock)
            if len(self._learners) > MOST_LEARNERS:
                self._learners.popitem(last=False)
        self._learners.move_to_end(name)
        return self._learners[name]

    def _report(self, callback: Callable[..., None], *values: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *values)

    def _answer(self, group: list[Call]) -> None:
        for call in group:
            self.waiting -= call.size
            if call.future.done():  # the client has gone
                continue
            if call.error is None:
                call.future.set_result(call.result)
            else:
                call.future.set_exception(call.error)


def _for_caller(name: str, error: Exception) -> Exception:
    """The error for one of several callers: each adds its own traceback."""
    if isinstance(error, UnknownName):
        return problems.not_found(name)
    if isinstance(error, JournalError):
        return JournalError(str(error))
    return JournalError(f"journal: {type(error).__name__}: {error}; nothing was acknowledged")
