"""The answer of a database to a query. It is opened for reading only, and nothing but one SELECT is accepted.

SQLite and DuckDB are files, known by their first bytes; PostgreSQL is an address that starts with postgresql://. The
answer is held in memory, so that a long log is better added up by the query itself.
"""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars

from vambrace.data.extras import imported
from vambrace.errors import InvalidParameter, displayed

ADDRESSES = ("postgresql://", "postgres://")
BATCH = 50_000  # rows
MOST_TABLES = 20  # in an error
SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"
SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
OTHER_TABLES = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1"
)


def is_address(source: Any) -> bool:
    """Whether this is the address of a server."""
    return isinstance(source, str) and source.startswith(ADDRESSES)


def shown(address: str) -> str:
    """An address for messages and pages, without the user, the password and the options."""
    start, _, rest = address.partition("://")
    host, slash, base = rest.partition("?")[0].rpartition("@")[2].partition("/")
    return f"{start}://{host}{slash}{base}"


def kind_of(path: Path) -> str | None:
    """The kind of a file according to its first bytes: "sqlite", "duckdb" or None."""
    with path.open("rb") as file:
        start = file.read(16)
    return "sqlite" if start == SQLITE else "duckdb" if start[8:12] == DUCKDB else None


def answered(name: str, source: str | Path, sql: str | None) -> polars.DataFrame:
    """The rows that a query gives."""
    read: Callable[[Any, str], polars.DataFrame]
    if isinstance(source, Path):
        read, listing = (_sqlite, SQLITE_TABLES) if kind_of(source) == "sqlite" else (_duckdb, OTHER_TABLES)
    else:
        read, listing = _postgres, OTHER_TABLES
    if sql is None:
        tables = [str(table) for (table,) in _run(name, read, source, listing).iter_rows()]
        found = f"its tables are {', '.join(tables[:MOST_TABLES])}" if tables else "it has no tables"
        raise InvalidParameter(f"{name}: expected a query, such as sql='SELECT * FROM …', got none; {found}")
    if not re.match(r"\s*\(?\s*(select|with)\b", sql, re.IGNORECASE):
        raise InvalidParameter(f"sql: expected a query that starts with SELECT or WITH, got {displayed(sql)}")
    return _run(name, read, source, sql)


def _run(name: str, read: Callable[[Any, str], polars.DataFrame], source: Any, sql: str) -> polars.DataFrame:
    try:
        return read(source, sql)
    except (InvalidParameter, ImportError):
        raise
    except Exception as error:  # each database has its own kinds
        line = " ".join(str(error).split())
        raise InvalidParameter(f"{name}: expected a query that can be answered, got the error: {line}") from None


def _sqlite(path: Path, sql: str) -> polars.DataFrame:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        return _frame(database.execute(sql))


def _duckdb(path: Path, sql: str) -> polars.DataFrame:
    duckdb = imported("duckdb", "duckdb", "DuckDB files")
    settings = {"enable_external_access": "false"}  # nothing outside of this file is read or written
    with duckdb.connect(str(path), read_only=True, config=settings) as database:
        return _frame(database.execute(sql))  # by Arrow it would be faster, but print warnings when Python ends


def _postgres(address: str, sql: str) -> polars.DataFrame:
    psycopg = imported("psycopg", "postgres", "PostgreSQL")
    with psycopg.connect(address) as connection:
        connection.read_only = True
        with connection.cursor(name="vambrace") as cursor:  # on the server, so that rows come in batches
            return _frame(cursor.execute(sql))


def _frame(cursor: Any) -> polars.DataFrame:
    """All fields as text, since SQLite has values of any type in a column."""
    columns = [column[0] for column in cursor.description]
    if len(set(columns)) < len(columns):
        raise InvalidParameter(f"sql: expected a name of its own for each column, got {', '.join(columns)}")
    schema = dict.fromkeys(columns, polars.String)
    frames = [polars.DataFrame(schema=schema)]
    while batch := cursor.fetchmany(BATCH):
        rows = [[None if field is None else str(field) for field in row] for row in batch]
        frames.append(polars.DataFrame(rows, schema=schema, orient="row"))
    return polars.concat(frames)
