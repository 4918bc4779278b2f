"""Journals in both databases: a test with the argument `url` runs with each."""

import itertools
from pathlib import Path

import pytest

_numbers = itertools.count()


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
