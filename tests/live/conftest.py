"""Journals in both databases: a test with the argument `url` runs with each."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database; in PostgreSQL a schema of its own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/shop.db"
        return
    import psycopg

    server, schema = request.getfixturevalue("postgres_url"), f"test_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")  # type: ignore[arg-type]
    joined = "&" if "?" in server else "?"
    yield f"{server}{joined}options=-csearch_path%3D{schema}"
