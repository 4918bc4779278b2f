"""What an experiment knows: its state, its events, and how many fakes would change the picture."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from vambrace.audit.questions import Design, Threat
from vambrace.serve import exports, models
from vambrace.serve.access import Reader
from vambrace.serve.experiments import Experiments
from vambrace.serve.exports import MEDIA_TYPES, Format
from vambrace.serve.problems import declared
from vambrace.serve.routes.common import ExperimentName, Service

router = APIRouter(prefix="/v1/experiments/{name}", tags=["reports"])
FILES = {media: {"schema": {"type": "string", "format": "binary"}} for media in MEDIA_TYPES.values()}

ThreatQuery = Annotated[Threat, Query(description="What was done to events.")]
DesignQuery = Annotated[Design, Query(description="adaptive: a bandit, or several looks; fixed: one look.")]
DeltaQuery = Annotated[float, Query(gt=0, lt=1, description="The probability with which the certificate is wrong.")]


@router.get("/state", responses=declared(404))
async def show_state(name: ExperimentName, caller: Reader, service: Service) -> models.State:
    """Show what an experiment knows of each arm, and what it waits for."""
    return await service.state(name)


@router.get("/changes", responses=declared(404))
async def watch_changes(
    name: ExperimentName,
    caller: Reader,
    service: Service,
    after: Annotated[int, Query(ge=0, le=2**62, description="Answer when there are more events than these.")] = 0,
    wait: Annotated[float, Query(ge=0, le=25, description="Or after this many seconds.")] = 25,
) -> models.Changes:
    """Wait until something happens (long polling)."""
    return await service.watch(name, after, wait)


@router.get("/certificate", responses=declared(404, 409), response_model=models.Certificate)
async def show_certificate(
    name: ExperimentName,
    caller: Reader,
    service: Service,
    threat: ThreatQuery = "alter",
    delta: DeltaQuery = 0.05,
    design: DesignQuery = "adaptive",
) -> Any:
    """Say how many fake events would overturn the arm that leads now."""
    return await service.certificate(name, threat, delta, design)


@router.get("/events", response_class=StreamingResponse, responses=declared(404) | {200: {"content": FILES}})
async def export_events(
    name: ExperimentName,
    caller: Reader,
    service: Service,
    form: Annotated[Format, Query(alias="format", description="The kind of file.")] = "csv",
) -> StreamingResponse:
    """Export the decisions that have a reward, as `vambrace certify` reads them."""
    await service.show(name)  # 404 before the first byte
    service.check_readers()
    headers = {"Content-Disposition": f'attachment; filename="events.{form}"'}
    return StreamingResponse(_file(service, name, form), media_type=MEDIA_TYPES[form], headers=headers)


async def _file(service: Experiments, name: str, form: Format) -> AsyncIterator[bytes]:
    async with service.journal(name) as journal:
        pieces = exports.pieces(journal, form)
        try:
            while piece := await asyncio.to_thread(next, pieces, b""):
                yield piece
        finally:
            await asyncio.to_thread(pieces.close)  # type: ignore[attr-defined]  # removes its temporary files
