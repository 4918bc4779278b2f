"""Experiments: learners of the database, for any number of clients. The only module that touches learners."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar
from zlib import crc32

from vambrace import registry
from vambrace.audit.questions import Design, Threat
from vambrace.errors import DecisionError, InvalidParameter, NotApplicable, UnknownName
from vambrace.live import export, sql
from vambrace.live import settings as learner_settings
from vambrace.live.durable import check_same
from vambrace.live.fold import Fold
from vambrace.live.journal import Journal
from vambrace.live.knowledge import Record
from vambrace.live.learner import Decision
from vambrace.serve import models, problems, tables, views
from vambrace.serve.settings import Settings
from vambrace.serve.writer import Held, Work, Writer

Result = TypeVar("Result")
SEPARATOR = "\x1f"  # between the key of a request and the number of a decision; no key of a client has it
WRITERS = 4  # of PostgreSQL; a SQLite file has one writer at a time anyway
MOST_WATCHING = 500  # clients that wait for changes
LOOK_EVERY = 0.5  # seconds between two looks for changes, which another process may have made
MOST_READING = 32  # readers of journals, of whom all but a few wait
REPEATED = 60.0  # seconds for which a client should wait if there are too many open decisions


class Experiments:
    """The experiments of a service.

    Args:
        settings: What the service was started with.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        writers = 1 if settings.db.startswith("sqlite") else WRITERS
        self._writers = [Writer(settings.db, settings.most_waiting) for _ in range(writers)]
        self._control = ThreadPoolExecutor(1, thread_name_prefix="vambrace-control")
        self._database: sql.Database | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.stopping, self._watching = asyncio.Event(), 0
        self._readers, self._reading = asyncio.Semaphore(settings.most_readers), 0

    async def start(self) -> None:
        """Make the tables, and begin."""
        self._loop = asyncio.get_running_loop()
        await self.on_database(lambda database: None)
        for writer in self._writers:
            writer.start()

    def stop_soon(self) -> None:
        """Let those who wait for changes go; called by a signal."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.stopping.set)

    async def stop(self) -> None:
        """Do what waits, and end."""
        self.stopping.set()
        await asyncio.gather(*(writer.stop() for writer in self._writers))
        if self._database is not None:
            self._database.close()
        self._control.shutdown()

    @property
    def waiting(self) -> int:
        """The work that is not done yet."""
        return sum(writer.waiting for writer in self._writers)

    async def run(self, name: str, work: Work, size: int = 1) -> Any:
        """What some work on a learner gives, in a transaction with that of others."""
        return await self._writers[crc32(name.encode()) % len(self._writers)].run(name, work, size)

    async def on_database(self, work: Any) -> Any:
        """What some work on the tables of the service gives; it is short, and one at a time."""

        def with_database() -> Any:
            if self._database is None:
                self._database = tables.opened(self._settings.db)
            return work(self._database)

        return await asyncio.get_running_loop().run_in_executor(self._control, with_database)

    async def read(self, name: str, work: Callable[[Journal], Result]) -> Result:
        """What some work on the journal of an experiment gives; it may take long, and has a connection of its own."""
        self.check_readers()
        async with self.journal(name) as journal:
            return await asyncio.to_thread(work, journal)

    def check_readers(self) -> None:
        """Refuse to let more wait for a journal than is sensible."""
        if self._reading >= MOST_READING:
            raise problems.busy("The service reads as many journals as it can now; send the request again.")

    @asynccontextmanager
    async def journal(self, name: str) -> AsyncIterator[Journal]:
        """The journal of an experiment, with a connection of its own; a few at a time."""
        self._reading += 1
        try:
            async with self._readers:
                database = sql.open_database(self._settings.db, create=False)
                try:
                    yield await asyncio.to_thread(sql.SqlJournal, database, name, create=False)
                except UnknownName:
                    raise problems.not_found(name) from None
                finally:
                    await asyncio.to_thread(database.close)
        finally:
            self._reading -= 1

    async def names(self) -> list[str]:
        """The names of all experiments."""
        found: list[str] = await self.on_database(sql.learners)
        return found

    async def create(self, wanted: models.NewExperiment, actor: str) -> tuple[models.Experiment, bool]:
        """Make an experiment, and say whether it is new; one with the same settings may be there already."""
        made = learner_settings.Settings.made(
            registry.policy(wanted.policy),
            arms=wanted.arms,
            **wanted.model_dump(include={"horizon", "seed", "expires_after", "default_reward", "late"}),
        )

        def work(database: sql.Database) -> bool:
            journal = sql.SqlJournal(database, wanted.name, create=True)
            fold = Fold(journal)
            with journal.transaction():
                is_new = fold.begin(made)
                if is_new:
                    details = {"experiment": wanted.name, "policy": wanted.policy, "arms": len(wanted.arms)}
                    tables.record(database, actor, "create experiment", **details)
            if not is_new:
                there = fold.settings() or {}
                ignored = {"key"} | ({"seed"} if wanted.seed is None else set())
                with _in_conflict():
                    check_same(wanted.name, there, made.to_dict(), ignored=ignored)
            return is_new

        is_new = await self.on_database(work)
        return await self.show(wanted.name), is_new

    async def show(self, name: str) -> models.Experiment:
        """An experiment."""
        found: models.Experiment = await self.run(name, views.described)
        return found

    async def close(self, name: str, actor: str) -> models.Experiment:
        """Make no more decisions; answers still count."""

        def work(learner: Held) -> models.Experiment:
            if not learner.closed():
                learner.close_for_good()
                tables.record(learner.database, actor, "close experiment", experiment=name)
            return views.described(learner)

        found: models.Experiment = await self.run(name, work)
        return found

    async def ask(self, name: str, count: int, key: str | None) -> list[Decision]:
        """The next decisions; the same ones if this key was there before."""

        def check(learner: Held, new: int) -> None:
            if new and learner.closed():
                raise problems.Problem(409, f"experiment: expected an open one, got {name!r}, which is closed")
            if new and len(learner.core.open) + new > self._settings.most_open:
                raise problems.Problem(
                    429,
                    f"open decisions: expected at most {self._settings.most_open:,}, got more; answer, abandon or "
                    "expire some",
                    {"Retry-After": f"{REPEATED:.0f}"},
                )

        def work(learner: Held) -> list[Decision]:
            if key is None:
                check(learner, count)
                return learner.ask_many(count)
            keys = [key, *(f"{key}{SEPARATOR}{at}" for at in range(1, count))]
            return learner.ask_for(keys, partial(check, learner))

        found: list[Decision] = await self.run(name, work, count)
        return found

    async def tell(self, name: str, pairs: list[tuple[str, float]], actor: str) -> list[models.Status]:
        """What became of each answer."""

        def work(learner: Held) -> list[models.Status]:
            found = [_told(learner, key, reward) for key, reward in pairs]
            learner.incidents.add(learner.now, actor, "answer", len(found))
            for status in found:
                if status in ("conflict", "late", "unknown"):
                    learner.incidents.add(learner.now, actor, status)
            return found

        found: list[models.Status] = await self.run(name, work, len(pairs))
        return found

    async def refused(self, name: str, actor: str) -> None:
        """Count a request whose rewards or ids were invalid."""
        await self.run(name, lambda learner: learner.incidents.add(learner.now, actor, "refused"))

    async def abandon(self, name: str, ids: list[str]) -> list[str]:
        """What became of each decision: abandoned, closed (it was already) or unknown."""

        def work(learner: Held) -> list[str]:
            return [_abandoned(learner, key) for key in ids]

        found: list[str] = await self.run(name, work, len(ids))
        return found

    async def add_arm(self, name: str, label: str | int, actor: str) -> models.Experiment:
        """Open a new arm, or a retired one again."""

        def add(learner: Held) -> None:
            if learner.n_arms >= models.MOST_ARMS and label not in learner.arms:
                raise problems.Problem(409, f"arms: expected at most {models.MOST_ARMS:,}, got one more")
            learner.add_arm(label)

        return await self._with_other_arms(name, label, actor, "add arm", add)

    async def retire_arm(self, name: str, label: str | int, actor: str) -> models.Experiment:
        """Play an arm no more."""
        return await self._with_other_arms(name, label, actor, "retire arm", lambda learner: learner.retire_arm(label))

    async def _with_other_arms(
        self, name: str, label: str | int, actor: str, action: str, change: Callable[[Held], None]
    ) -> models.Experiment:
        def work(learner: Held) -> models.Experiment:
            with _in_conflict():
                change(learner)
            tables.record(learner.database, actor, action, experiment=name, arm=label)
            return views.described(learner)

        found: models.Experiment = await self.run(name, work)
        return found

    async def changes(self, name: str) -> models.Changes:
        """How many events there are."""
        found: models.Changes = await self.run(name, views.changes)
        return found

    async def watch(self, name: str, after: int, wait: float) -> models.Changes:
        """The same, as soon as there are more than `after`, or after this many seconds."""
        if self._watching >= MOST_WATCHING:
            raise problems.busy("As many clients as possible wait for changes now; send the request again.")
        self._watching += 1
        try:
            ends = time.monotonic() + wait
            found = await self.changes(name)
            while found.events <= after and time.monotonic() < ends and not self.stopping.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(LOOK_EVERY, ends - time.monotonic())):
                        await self.stopping.wait()
                found = await self.changes(name)
            return found
        finally:
            self._watching -= 1

    async def certificate(self, name: str, threat: Threat, delta: float, design: Design) -> dict[str, Any]:
        """How many fake events would overturn the leader, from all rewards that the policy has learned from."""
        core: tuple[list[Record], int] = await self.run(name, views.counts)
        records, events = core
        squares: dict[int, float] = {}
        if not all(record.binary for record in records):
            squares = await self.read(name, lambda journal: export.squares(journal, events))
        return await asyncio.to_thread(views.certified, records, squares, threat, delta, design)

    async def state(self, name: str) -> models.State:
        """What an experiment knows."""
        found: models.State = await self.run(name, views.state)
        return found


@contextmanager
def _in_conflict() -> Iterator[None]:
    """A request that is right in itself, and wrong for what is there now."""
    try:
        yield
    except (InvalidParameter, NotApplicable) as error:
        raise problems.Problem(409, str(error)) from None


def _told(learner: Held, key: str, reward: float) -> models.Status:
    try:
        return learner.tell(key, reward)
    except DecisionError:
        return "unknown"


def _abandoned(learner: Held, key: str) -> str:
    try:
        return "abandoned" if learner.abandon(key) else "closed"
    except DecisionError:
        return "unknown"
