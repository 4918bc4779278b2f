"""Tables that are uploaded: received in pieces, within limits, and certified in a process of its own."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.datastructures import State
from starlette.requests import ClientDisconnect, Request

from vambrace.serve import guard, jobs
from vambrace.serve.problems import RETRY_AFTER, Problem
from vambrace.serve.settings import Settings

PATIENCE = 120.0  # seconds for a whole table; each piece must come within those of the settings
BUSY = {"Retry-After": RETRY_AFTER} | guard.CLOSE
FILE_NAME = r"^[^\x00-\x1f/\\]{1,190}\.(csv|tsv|json|jsonl|ndjson|parquet|xlsx)$"


async def certified(request: Request, name: str, options: dict[str, Any], job: str = "certify") -> dict[str, Any]:
    """The certificate of the table in the body of a request, as `Certificate.to_dict` gives it.

    Args:
        request: The request. Its path must be one of `guard.UPLOADS`.
        name: The name of the file, which fits `FILE_NAME`.
        options: The options of `vambrace.certify`, or of another job.
        job: The job that is done with the table.
    """
    with _place(request.app.state), tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
        path = Path(folder) / f"table{Path(name).suffix.lower()}"
        await _receive(request, path)
        content = {"path": path.name} | options
        found: dict[str, Any] = await request.app.state.jobs.run(
            job, content, seconds=jobs.SECONDS, folder=Path(folder)
        )
        return found


@contextmanager
def _place(state: State) -> Iterator[None]:
    """One of a few places, from the first byte on: tables that arrive slowly would otherwise fill the disk."""
    if state.uploads >= state.settings.most_readers:
        raise Problem(503, "The service receives as many tables as it can now; send the request again.", BUSY)
    state.uploads += 1
    try:
        yield
    finally:
        state.uploads -= 1


async def _receive(request: Request, path: Path) -> None:
    """Write the body to a file, piece by piece; it must not be too large, nor come too slowly."""
    settings: Settings = request.app.state.settings
    guard.check_length(request.scope, settings.most_upload)
    size, pieces, loop = 0, request.stream(), asyncio.get_running_loop()
    ends = loop.time() + PATIENCE
    with path.open("wb") as file:
        while True:
            try:
                async with asyncio.timeout_at(min(ends, loop.time() + settings.patience)):
                    piece = await anext(pieces, None)
            except TimeoutError:
                raise guard.too_slow(settings.patience if loop.time() < ends else PATIENCE) from None
            except ClientDisconnect:
                raise Problem(400, "body: expected the whole file, got a part") from None
            if piece is None:
                return
            size += len(piece)
            if size > settings.most_upload:
                raise guard.too_large(settings.most_upload)
            file.write(piece)
