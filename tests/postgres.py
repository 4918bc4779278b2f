"""A real PostgreSQL server for tests: the fixture `postgres_url` starts one for each test session and stops it."""

import tempfile
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of an empty database on a socket in a temporary folder; nothing listens on a network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder that pgserver would like to have
        import pgserver

    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:  # short, as the name of a socket must be
        server = pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()
