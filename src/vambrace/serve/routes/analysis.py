"""Questions without an experiment: what is a finished test worth, and which policy should be used?"""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.requests import ClientDisconnect

from vambrace.serve import guard, models
from vambrace.serve.access import Reader
from vambrace.serve.problems import Problem, declared
from vambrace.serve.routes.reports import DeltaQuery, DesignQuery, ThreatQuery
from vambrace.serve.settings import Settings

SECONDS = 120.0  # of a job
router = APIRouter(prefix="/v1", tags=["analysis"])
FILE = {"schema": {"type": "string", "format": "binary"}, "example": "arm,events,successes\nold,1000,30\nnew,1000,90\n"}
Column = Annotated[str | None, Query(max_length=200, description="The name of this column, if it is not a usual one.")]
FILE_NAME = r"^[^\x00-\x1f/\\]{1,190}\.(csv|tsv|json|jsonl|ndjson|parquet|xlsx)$"


@router.post(
    "/certify",
    responses=declared(400),
    response_model=models.Certificate,
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": FILE}}},
)
async def certify_table(
    request: Request,
    caller: Reader,
    name: Annotated[str, Query(pattern=FILE_NAME, description="The name of the file: its ending says what it is.")],
    threat: ThreatQuery = "alter",
    delta: DeltaQuery = 0.05,
    design: DesignQuery = "adaptive",
    arm: Column = None,
    reward: Column = None,
    events: Column = None,
    successes: Column = None,
    sheet: Column = None,
) -> Any:
    """Say how many fake events would overturn the winner of a finished test: the body is its table or log."""
    options: dict[str, Any] = {"arm": arm, "reward": reward, "events": events, "successes": successes, "sheet": sheet}
    options |= {"threat": threat, "delta": delta, "design": design}
    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
        path = Path(folder) / f"table{Path(name).suffix.lower()}"
        await _receive(request, path)
        job = {"path": path.name} | options
        return await request.app.state.jobs.run("certify", job, seconds=SECONDS, folder=Path(folder))


@router.post("/choose", response_model=models.Choice)
async def choose_policy(request: Request, body: models.Wanted, caller: Reader) -> Any:
    """Play policies against attacks, and say which one loses least. The work is bounded, and takes some seconds."""
    options = body.model_dump()
    return await request.app.state.jobs.run("choose", options | {"threads": 1}, seconds=SECONDS)


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
