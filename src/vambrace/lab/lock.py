"""One run at a time in a folder: a lock on a file, which the operating system always releases when the process ends."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from vambrace.errors import StoreError
from vambrace.files import try_lock

NAME = ".lock"
PATIENCE = 0.5  # seconds: a process that only reads the status holds the lock for a moment


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder; an error while another process holds it. The file stays, since removing it would be a race."""
    with (folder / NAME).open("a+", encoding="utf-8") as file:
        deadline = time.monotonic() + PATIENCE
        while not try_lock(file):
            if time.monotonic() > deadline:
                raise StoreError(f"{folder}: expected a folder that nobody is using, got one in use by {_named(file)}")
            time.sleep(PATIENCE / 10)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def holder(folder: Path) -> str | None:
    """Who is using the folder, or None."""
    try:
        file = (folder / NAME).open("r+", encoding="utf-8")
    except OSError:  # it was never locked, or we may only read
        return None
    with file:
        return None if try_lock(file) else _named(file)


def _named(file: IO[str]) -> str:
    file.seek(0)
    return f"process {file.read().strip() or 'unknown'}"
