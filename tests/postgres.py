"""Databases for tests.

The fixture `postgres_url` starts a real PostgreSQL server for each test session and stops it; `server` is an empty
schema of it. A test with the argument `url` runs with an empty SQLite file, and with an empty schema of PostgreSQL.
"""

import itertools
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of an empty database on a socket in a temporary folder; nothing listens on a network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder that pgserver would like to have
        import pgserver

    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:  # short, as the name of a socket must be
        server = pgserver.get_server(folder, cleanup_mode="stop")  # type: ignore[attr-defined]
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def server(postgres_url: str) -> str:
    """The address of an empty schema of PostgreSQL."""
    import psycopg

    schema = f"test_{next(_numbers)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    found: str = f"sqlite:///{tmp_path}/shop.db" if request.param == "sqlite" else request.getfixturevalue("server")
    return found
