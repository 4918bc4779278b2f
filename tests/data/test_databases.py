"""Databases: the rows of a query, and nothing but reading."""

import sqlite3
import sys
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import vambrace as vb
from small_log import FRAME, TALLY
from vambrace import data
from vambrace.data import databases
from vambrace.errors import InvalidParameter, MissingExtra

QUERY = "SELECT arm, reward FROM log"
ROWS = FRAME.rows()


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The small log in a database of each kind."""
    create, insert = "CREATE TABLE log (arm VARCHAR(9), reward INTEGER)", "INSERT INTO log VALUES (?, ?)"
    if request.param == "postgres":
        address: str = request.getfixturevalue("postgres_url")
        with psycopg.connect(address) as connection:
            connection.execute("DROP TABLE IF EXISTS log")
            connection.execute(create)
            for row in ROWS:
                connection.execute("INSERT INTO log VALUES (%s, %s)", row)
        return address
    path = tmp_path / "shop.db"
    connect: Any = sqlite3.connect if request.param == "sqlite" else duckdb.connect
    opened = connect(str(path))
    opened.execute(create)
    opened.executemany(insert, ROWS)
    opened.commit()
    opened.close()
    return str(path)


def test_the_rows_of_a_query(database: str) -> None:
    part = data.Part(sql=QUERY)
    assert data.tally(database, part=part).tests == {"": TALLY}
    counts = "select arm, count(*) AS views, sum(reward) AS clicks from log group by arm order by arm"
    assert data.tally(database, part=data.Part(sql=counts)).tests == {"": TALLY}
    replay = vb.Replay(events=(1, 3), successes=(0, 2), labels=("a", "b"))
    assert vb.Replay.from_log(database, sql=QUERY) == vb.Replay.from_table(database, sql=counts) == replay
    assert vb.Replay.from_file(file=database, sql=f"WITH x AS ({QUERY}) SELECT * FROM x") == replay
    with pytest.raises(InvalidParameter, match="expected at least one row, got none"):
        data.tally(database, part=data.Part(sql=f"{QUERY} WHERE reward > 5"))


def test_long_answers_come_in_batches(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "BATCH", 3)
    assert data.tally(database, part=data.Part(sql=QUERY)).tests == {"": TALLY}
    with pytest.raises(InvalidParameter, match="sql: expected a name of its own for each column, got arm, arm"):
        data.tally(database, part=data.Part(sql="SELECT arm, arm FROM log"))


def test_a_query_is_asked_for(database: str) -> None:
    with pytest.raises(InvalidParameter, match=r"expected a query, such as sql='SELECT \* FROM …', got none; .* log"):
        data.tally(database)
    with pytest.raises(InvalidParameter, match=r"sheet: expected an \.xlsx file, got "):
        data.tally(database, part=data.Part("Sheet", QUERY))


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE log",
        "DELETE FROM log",
        "SELECT 1 AS arm, 1 AS reward; DROP TABLE log",
        "SELECT 1 AS arm, 1 AS reward; COMMIT; BEGIN; DROP TABLE log; COMMIT",
        "WITH gone AS (DELETE FROM log RETURNING *) SELECT * FROM gone",
        "ATTACH 'other.db' AS other",
        "SELECT * FROM nowhere",
        "SELECT",
        "",
    ],
)
def test_nothing_but_reading(database: str, sql: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        data.tally(database, part=data.Part(sql=sql))
    assert "\n" not in str(caught.value)
    assert data.tally(database, part=data.Part(sql=QUERY)).tests == {"": TALLY}


def test_what_a_query_would_change(postgres_url: str, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as opened:
        opened.execute("CREATE TABLE log (arm, reward)")
    opened.close()
    with pytest.raises(InvalidParameter, match="got the error: attempt to write a readonly database"):
        data.tally(path, part=data.Part(sql="WITH x AS (SELECT 1) INSERT INTO log SELECT 1, 1 FROM x"))
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE SEQUENCE IF NOT EXISTS numbers")
    with pytest.raises(InvalidParameter, match=r"got the error: cannot execute nextval\(\) in a read-only transaction"):
        data.tally(postgres_url, part=data.Part(sql="SELECT nextval('numbers') AS arm, 1 AS reward"))


def test_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute("CREATE TABLE log AS SELECT 1 AS arm, 1 AS reward")
    for sql in (f"SELECT * FROM read_csv('{__file__}')", f"SELECT * FROM read_text('{__file__}')"):
        with pytest.raises(InvalidParameter, match="expected a query that can be answered, got the error: Permission"):
            data.tally(path, part=data.Part(sql=sql))
    before = path.read_bytes()
    data.tally(path, part=data.Part(sql="SELECT * FROM log"))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert data.files(path)[0].size == len(before)


def test_passwords_stay_secret() -> None:
    address = "postgresql://me:secret@db.example:5432/shop?sslmode=require&password=secret"
    assert databases.shown(address) == data.title(address) == "postgresql://db.example:5432/shop"
    assert databases.shown("postgres://me:p@ss@db") == "postgres://db"
    with pytest.raises(InvalidParameter) as caught:
        data.tally("postgresql://me:secret@127.0.0.1:1/shop", part=data.Part(sql=QUERY))
    assert "secret" not in str(caught.value)
    assert str(caught.value).startswith("postgresql://127.0.0.1:1/shop: expected a query that can be answered, got ")


def test_a_query_of_what_is_no_database(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "x.csv")
    for source in (FRAME, tmp_path / "x.csv"):
        with pytest.raises(InvalidParameter, match="sql: expected a SQLite or DuckDB file or a postgresql:// address"):
            data.tally(source, part=data.Part(sql=QUERY))


@pytest.mark.parametrize(("module", "extra"), [("duckdb", "duckdb"), ("psycopg", "postgres"), ("fastexcel", "excel")])
def test_a_missing_extra_is_named(module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.duckdb"
    duckdb.connect(str(path)).close()
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04")
    sources: dict[str, str | Path] = {
        "duckdb": path,
        "psycopg": "postgresql://127.0.0.1/x",
        "fastexcel": tmp_path / "x.xlsx",
    }
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"the extra {extra} \(pip install 'vambrace\[{extra}\]'\), got no module"):
        data.tally(sources[module], part=data.Part(sql=None if extra == "excel" else QUERY))


def test_tables_of_other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = FRAME.to_arrow()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE log (arm VARCHAR, reward INTEGER)")
        connection.executemany("INSERT INTO log VALUES (?, ?)", ROWS)
        relation = connection.sql(QUERY)
        monkeypatch.setitem(sys.modules, "pyarrow", None)  # none of these needs it
        for source in (arrow, arrow.to_batches()[0], relation):
            assert data.tally(source).tests == {"": TALLY}
