"""Journals in PostgreSQL, for processes on any number of machines.

A transaction holds an advisory lock of its learner, which the server releases when the transaction or its connection
ends. Each statement after it sees what the earlier holders of the lock committed, since a server makes the rows of a
transaction visible before it releases its locks. COMMIT returns when the rows are on disk (synchronous_commit).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from vambrace.errors import InvalidParameter, JournalError, MissingExtra
from vambrace.live.sql import Database

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError:
    raise MissingExtra("postgresql: expected the extra vambrace[postgres] (psycopg), got none") from None

PATIENCE = 30  # seconds that a transaction waits for those of other processes, or for the network
LOCKS = 0x76616D62  # the first half of our advisory locks ("vamb"); the second half is the number of the learner
ARRAYS = "?::integer[], ?::bigint[], ?::double precision[], ?::text[], ?::text[], ?::text[], ?::text[]"
SETTINGS = f"""
    SET synchronous_commit = on;
    SET lock_timeout = '{PATIENCE}s';
    SET idle_in_transaction_session_timeout = '{PATIENCE}s'
"""  # the last one: a process that was stopped in a transaction must not keep the lock


class PostgresDatabase(Database):
    """A PostgreSQL database.

    Args:
        url: Its address, as libpq reads it.
    """

    mistakes = psycopg.Error

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            parts = conninfo_to_dict(url)
        except psycopg.Error as error:
            raise InvalidParameter(f"url: expected postgresql://USER@HOST/DATABASE, got {str(error).strip()}") from None
        self._url = url
        self.place = f"postgresql://{parts.get('host', '')}/{parts.get('dbname', '')}"  # without user and password

    def _connect(self) -> Any:
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=PATIENCE)
        connection.execute(SETTINGS)
        return connection

    def _is_lost(self) -> bool:
        return self._connection is not None and bool(self._connection.broken)

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name, also if it was made a moment ago: to_regclass may not know it yet."""
        statement = "SELECT 1 FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = ?"
        return bool(self.run(statement, name))

    @contextmanager
    def _begun(self, lock: int) -> Iterator[None]:
        statement = f"BEGIN; SELECT pg_advisory_xact_lock({LOCKS}, {lock})"
        try:
            self.connection.execute(statement)
        except psycopg.OperationalError:
            if not self._is_lost():
                raise
            self._drop()  # the server was restarted since the last call: nothing is begun, so a new connection is safe
            self.connection.execute(statement)
        yield
        done = self.connection.execute("COMMIT").statusmessage
        if done != "COMMIT":  # a server answers ROLLBACK, and no error, if a statement of the transaction failed
            raise JournalError(f"{self.place}: expected a commit, got {done}; nothing was acknowledged")

    def insert(self, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of events: all of them with one statement, which is much faster than one for each."""
        self.run(f"INSERT INTO vambrace_events SELECT * FROM unnest({ARRAYS})", *map(list, zip(*rows, strict=True)))

    def _spelled(self, statement: str) -> str:
        return statement.replace("?", "%s")
