"""Journals in a SQLite file, for any number of processes on one machine.

Every commit is on disk before it returns: write-ahead log (WAL) with synchronous=FULL. A transaction holds a lock on a
file beside the database (its name ends in -lock). A checkpoint, which moves the log into the database, holds it too, so
no commit happens during a checkpoint: SQLite before 3.51.3 could lose pages when a commit began the log anew just then
(its "WAL-reset bug"). For the same reason the automatic checkpoints are off.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from vambrace.errors import JournalError
from vambrace.files import try_lock, unlock
from vambrace.live.sql import Database

PATIENCE = 30.0  # seconds that a transaction waits for those of other processes
PAUSE = 0.0005  # seconds between two looks at the lock; a commit takes longer
CHECKPOINT_AFTER = 4 * 2**20  # bytes by which the log grows until it is moved into the database


class SqliteDatabase(Database):
    """A SQLite file.

    Args:
        path: The file.
        create: Whether it is made if it is missing.
    """

    mistakes = sqlite3.Error

    def __init__(self, path: str, *, create: bool) -> None:
        super().__init__()
        self.place = path
        self._path = Path(path).absolute()  # a later change of the working folder must not lead to another file
        self._log = self._path.with_name(f"{self._path.name}-wal")
        self._is_locked = False
        self._checkpoint_at = CHECKPOINT_AFTER
        self._may_create, self._file = create, (0, 0)
        self._check_exists()

    def _check_exists(self) -> None:
        if not self._may_create and not self._path.is_file():
            raise JournalError(f"{self.place}: there is no such file")

    def _connect(self) -> Any:
        self._check_exists()
        connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                with self._locked():  # SQLite itself does not wait here if two processes do it at once
                    connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            self._file, self._may_create = self._identity(), False  # a file that was there is never made again
        except BaseException:
            connection.close()
            raise
        return connection

    def _identity(self) -> tuple[int, int]:
        found = self._path.stat()
        return found.st_dev, found.st_ino

    def _check_same_file(self) -> None:
        """Refuse to write to a file that was removed or replaced: SQLite would do it, and nobody could ever read it."""
        if self._identity() != self._file:
            raise JournalError(f"{self.place}: another file is in its place now; nothing was acknowledged")

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        return bool(self.run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep the other processes away; within a transaction they are."""
        if self._is_locked:
            yield
            return
        with self._path.with_name(f"{self._path.name}-lock").open("a", encoding="utf-8") as file:
            deadline = time.monotonic() + PATIENCE
            while not try_lock(file):
                if time.monotonic() > deadline:
                    raise JournalError(f"{self.place}: another process has kept it locked for {PATIENCE:g} seconds")
                time.sleep(PAUSE)
            self._is_locked = True
            try:
                yield
            finally:
                self._is_locked = False
                unlock(file)

    @contextmanager
    def _begun(self, lock: int) -> Iterator[None]:  # one lock for all learners: a file has one writer anyway
        with self._locked():
            self.connection.execute("BEGIN IMMEDIATE")
            self._check_same_file()
            yield
            self.connection.execute("COMMIT")
            with suppress(OSError, sqlite3.Error):  # the transaction is on disk; the next one will try again
                if self._log.stat().st_size >= self._checkpoint_at:
                    self._checkpoint()

    def _checkpoint(self) -> None:
        """Move the log into the database; if somebody reads for a long time, later, when the log has grown again."""
        self.connection.execute("PRAGMA busy_timeout = 0")
        try:
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        self._checkpoint_at = self._log.stat().st_size + CHECKPOINT_AFTER
