"""Journals in a database: the tables, their versions, and the statements that SQLite and PostgreSQL share."""

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple

from vambrace.errors import InvalidParameter, JournalError, UnknownName
from vambrace.live import forks
from vambrace.live.journal import Entry, Journal

CHUNK = 10_000  # events that are read at a time: long reads hold no lock
SCHEMA_LOCK = 0  # learners have the locks from one up
NAME = re.compile(r"[\w.-]{1,100}")
COLUMNS = "number, time, kind, decision, key, payload"


class Tables(NamedTuple):
    """Tables that belong together, and have a version.

    Attributes:
        version: The table that holds their version.
        migrations: The statements that lead from each version to the next; a released one never changes.
    """

    version: str
    migrations: tuple[tuple[str, ...], ...]


LEARNERS = Tables(
    "vambrace_schema",
    (
        (
            "CREATE TABLE vambrace_learners (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
            "CREATE TABLE vambrace_events (learner INTEGER NOT NULL, number BIGINT NOT NULL,"
            " time DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, decision TEXT, key TEXT, payload TEXT NOT NULL,"
            " PRIMARY KEY (learner, number))",
            "CREATE INDEX vambrace_decisions ON vambrace_events (learner, decision) WHERE decision IS NOT NULL",
            "CREATE UNIQUE INDEX vambrace_keys ON vambrace_events (learner, key) WHERE key IS NOT NULL",
            "CREATE TABLE vambrace_snapshots"
            " (learner INTEGER PRIMARY KEY, number BIGINT NOT NULL, content TEXT NOT NULL)",
        ),
    ),
)


class Database(ABC):
    """A connection to a database that is opened again after a fault. One thread at a time uses it."""

    place: str  # what messages call it; no password
    mistakes: type[Exception]  # what its driver raises

    _connection: Any = None
    _is_in_transaction = False

    def __init__(self) -> None:
        self.restart()
        forks.watch(self)

    def pause(self) -> None:
        """Before a fork: end what is going on, and close the connection, which a copy must not inherit."""
        self._lock.acquire()
        self._drop()

    def resume(self) -> None:
        """After a fork."""
        self._lock.release()

    def restart(self) -> None:
        """At the beginning, and in a copy of the process."""
        self._lock = threading.RLock()

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection, in which every statement is a transaction of its own."""

    @abstractmethod
    def _begun(self, lock: int) -> AbstractContextManager[None]:
        """Take a lock that other processes wait for, begin, and at the end write to disk, or raise."""

    def _is_lost(self) -> bool:
        """Whether the connection has ended without our doing, as when a server is restarted."""
        return False

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""

    @property
    def connection(self) -> Any:
        """The connection of this process."""
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement."""
        with self._translated(), self._lock:
            try:
                return self._rows(statement, values)
            except self.mistakes:
                if self._is_in_transaction or not self._is_lost():
                    raise
                self._drop()  # the next statement connects again
                if not statement.startswith("SELECT"):
                    raise  # it may have been done
                return self._rows(statement, values)

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(self._spelled(statement), values)
        return cursor.fetchall() if cursor.description else []

    def insert(self, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of events: the number of the learner, and the columns of an entry."""
        with self._translated(), self._lock:
            marks = ", ".join("?" * len(rows[0]))
            self.connection.executemany(f"INSERT INTO vambrace_events VALUES ({marks})", rows)

    def _spelled(self, statement: str) -> str:
        return statement

    @contextmanager
    def transaction(self, lock: int) -> Iterator[None]:
        """Everything in the block is on disk at its end, or nothing is."""
        with self._lock:
            try:
                with self._translated(), self._begun(lock):
                    self._is_in_transaction = True
                    yield
            except BaseException:
                self._drop()  # undoes what is not committed; a connection after a fault is not used again
                raise
            finally:
                self._is_in_transaction = False

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (self.mistakes, OSError) as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise JournalError(f"{self.place}: {text}; nothing was acknowledged") from error

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(self.mistakes):
                connection.close()

    def close(self) -> None:
        """Close the connection; the next statement opens it again."""
        with self._lock:
            self._drop()

    def __del__(self) -> None:
        self._drop()

    def version(self, tables: Tables) -> int:
        """The version of some tables; 0 where there are none."""
        if not self.has_table(tables.version):
            return 0
        found, known = self.run(f"SELECT version FROM {tables.version}")[0][0], len(tables.migrations)
        if found > known:
            raise JournalError(f"{self.place}: expected tables of version {known}, got {found}, from a newer vambrace")
        return int(found)

    def migrate(self, tables: Tables) -> None:
        """Make some tables, or bring older ones to the present version."""
        present = len(tables.migrations)
        if self.version(tables) == present:
            return
        with self.transaction(SCHEMA_LOCK):
            first = self.version(tables)  # asked again: another process may have been faster
            if first == 0:
                self.run(f"CREATE TABLE {tables.version} (version INTEGER NOT NULL)")
                self.run(f"INSERT INTO {tables.version} VALUES (0)")
            for statement in (each for step in tables.migrations[first:] for each in step):
                self.run(statement)
            self.run(f"UPDATE {tables.version} SET version = ?", present)


class SqlJournal:
    """The journal of one learner in a database."""

    def __init__(self, database: Database, name: str, *, create: bool) -> None:
        self._database = database
        if create or database.version(LEARNERS) > 0:
            database.migrate(LEARNERS)
        self._learner = self._find_learner(name, create=create)

    def _find_learner(self, name: str, *, create: bool) -> int:
        database, query = self._database, "SELECT id FROM vambrace_learners WHERE name = ?"
        found = database.run(query, name) if database.version(LEARNERS) else []
        if not found and create:
            with database.transaction(SCHEMA_LOCK):
                found = database.run(query, name)
                if not found:
                    number = "SELECT COALESCE(MAX(id), 0) + 1 FROM vambrace_learners"
                    found = database.run(number)
                    database.run("INSERT INTO vambrace_learners (id, name) VALUES (?, ?)", found[0][0], name)
        if not found:
            raise UnknownName(f"learner in {database.place}", name, learners(database))
        return int(found[0][0])

    def transaction(self) -> AbstractContextManager[None]:
        """Take the lock of this learner, and commit at the end; an error in the block undoes everything."""
        return self._database.transaction(self._learner)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write events after the last one; only in a transaction."""
        if entries:
            self._database.insert([(self._learner, *entry) for entry in entries])

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """The events with a higher number than `after`, in their order; the last one is `upto`, or the newest."""
        statement = f"SELECT {COLUMNS} FROM vambrace_events WHERE learner = ? AND number > ? AND number <= ?"
        while True:
            most = after + CHUNK if upto is None else min(after + CHUNK, upto)
            rows = self._database.run(f"{statement} ORDER BY number", self._learner, after, most)
            yield from map(Entry._make, rows)
            if len(rows) < CHUNK:
                return
            after += CHUNK

    def save_snapshot(self, number: int, content: str) -> None:
        """Keep the state after event `number` in place of an older one; only in a transaction."""
        self._database.run("DELETE FROM vambrace_snapshots WHERE learner = ?", self._learner)
        self._database.run("INSERT INTO vambrace_snapshots VALUES (?, ?, ?)", self._learner, number, content)

    def load_snapshot(self) -> tuple[int, str] | None:
        """The number and the content of the newest snapshot."""
        rows = self._database.run("SELECT number, content FROM vambrace_snapshots WHERE learner = ?", self._learner)
        return (rows[0][0], rows[0][1]) if rows else None

    def find(self, *, decision: str | None = None, keys: Sequence[str] = ()) -> list[Entry]:
        """The events of a decision, or of idempotency keys, in their order."""
        column, values = ("decision", (decision,)) if decision is not None else ("key", keys)
        among = f"{column} IN ({', '.join('?' * len(values))})"
        statement = f"SELECT {COLUMNS} FROM vambrace_events WHERE learner = ? AND {among} ORDER BY number"
        return [Entry._make(row) for row in self._database.run(statement, self._learner, *values)] if values else []

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._database.close()


def learners(database: Database) -> list[str]:
    """The names of the learners in a database."""
    if not database.version(LEARNERS):
        return []
    statement = "SELECT name FROM vambrace_learners l WHERE EXISTS (SELECT 1 FROM vambrace_events WHERE learner = l.id)"
    return sorted(row[0] for row in database.run(statement))


def open_database(url: str, *, create: bool) -> Database:
    """The database of an address. Only an address of PostgreSQL needs its driver.

    Args:
        url: sqlite:///FILE, sqlite:////ABSOLUTE/FILE or postgresql://USER@HOST/DATABASE.
        create: Whether a missing file is made.
    """
    scheme, _, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        from vambrace.live.sqlite import SqliteDatabase

        return SqliteDatabase(rest[1:], create=create)
    if scheme in ("postgresql", "postgres") and rest:
        from vambrace.live.postgres import PostgresDatabase

        return PostgresDatabase(url)
    shown = re.sub("//.*@", "//...@", url) if isinstance(url, str) else url  # no password in a message
    raise InvalidParameter(f"url: expected sqlite:///FILE or postgresql://USER@HOST/DATABASE, got {shown!r}")


def open_journal(url: str, name: str, *, create: bool) -> Journal:
    """The journal of a learner.

    Args:
        url: The address of the database, as in `open_database`.
        name: The name of the learner: letters, digits, dots, hyphens and underscores.
        create: Whether what is missing is made; otherwise an error says what is there.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidParameter(f"name: expected 1 to 100 letters, digits, dots, hyphens or underscores, got {name!r}")
    return SqlJournal(open_database(url, create=create), name, create=create)
