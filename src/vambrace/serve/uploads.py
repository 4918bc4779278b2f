"""Tables that are uploaded: received in pieces, within limits, and certified in a process of its own."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request

from vambrace.serve import guard, jobs
from vambrace.serve.problems import Problem
from vambrace.serve.settings import Settings

FILE_NAME = r"^[^\x00-\x1f/\\]{1,190}\.(csv|tsv|json|jsonl|ndjson|parquet|xlsx)$"


async def certified(request: Request, name: str, options: dict[str, Any], job: str = "certify") -> dict[str, Any]:
    """The certificate of the table in the body of a request, as `Certificate.to_dict` gives it.

    Args:
        request: The request. Its path must be one of `guard.UPLOADS`.
        name: The name of the file, which fits `FILE_NAME`.
        options: The options of `vambrace.certify`, or of another job.
        job: The job that is done with the table.
    """
    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
        path = Path(folder) / f"table{Path(name).suffix.lower()}"
        await _receive(request, path)
        content = {"path": path.name} | options
        found: dict[str, Any] = await request.app.state.jobs.run(
            job, content, seconds=jobs.SECONDS, folder=Path(folder)
        )
        return found


async def _receive(request: Request, path: Path) -> None:
    """Write the body to a file, piece by piece; it must not be too large, nor come too slowly."""
    settings: Settings = request.app.state.settings
    guard.check_length(request.scope, settings.most_upload)
    size, pieces = 0, request.stream()
    with path.open("wb") as file:
        while True:
            try:
                async with asyncio.timeout(settings.patience):
                    piece = await anext(pieces, None)
            except TimeoutError:
                raise guard.too_slow(settings.patience) from None
            except ClientDisconnect:
                raise Problem(400, "body: expected the whole file, got a part") from None
            if piece is None:
                return
            size += len(piece)
            if size > settings.most_upload:
                raise guard.too_large(settings.most_upload)
            file.write(piece)
