"""Services for tests: one within this process, or one of its own on a free port of this machine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from starlette.testclient import TestClient

from vambrace.serve import keys, tables
from vambrace.serve.app import create_app
from vambrace.serve.settings import Settings

HERE = "http://127.0.0.1"
PROGRAM = """
import json, sys
from vambrace.serve import server
from vambrace.serve.settings import Settings
server.run(Settings(**json.loads(sys.argv[1])), say=lambda line: print(line, flush=True))
"""


class Running(NamedTuple):
    """A service in a process of its own."""

    url: str
    port: int
    process: subprocess.Popen[str]


@contextmanager
def client(db: str, key: str | None = None, **limits: Any) -> Iterator[TestClient]:
    """A client of a service within this process."""
    with TestClient(create_app(Settings(db=db, **limits)), base_url=HERE, raise_server_exceptions=False) as found:
        if key is not None:
            found.headers["authorization"] = f"Bearer {key}"
        yield found


@contextmanager
def running(db: str, program: Path | None = None, **settings: Any) -> Iterator[Running]:
    """A service in a process of its own, which is stopped at the end."""
    content = json.dumps({"db": db, "port": 0} | settings)
    what = ["-c", PROGRAM] if program is None else [str(program)]
    process = subprocess.Popen([sys.executable, *what, content], stdout=subprocess.PIPE, text=True)
    try:
        yield started(process)
    finally:
        process.terminate()
        process.wait(timeout=30)
        if process.stdout is not None:
            process.stdout.close()


def started(process: "subprocess.Popen[str]") -> Running:
    """Wait for the line that says where a service listens."""
    line = process.stdout.readline() if process.stdout is not None else ""
    url = line.split()[3]
    return Running(url, int(url.rpartition(":")[2]), process)


def new_key(db: str, *roles: str, experiments: list[str] | None = None, lifetime: float | None = None) -> str:
    """The text of a new key."""
    database = tables.opened(db)
    text, _ = keys.create(database, name="test", roles=roles, experiments=experiments, lifetime=lifetime)
    database.close()
    return text
