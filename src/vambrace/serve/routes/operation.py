"""For those who run the service: is it alive, can it work, and how much does it do?"""

import asyncio

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from vambrace.serve import models
from vambrace.serve.access import Reader
from vambrace.serve.metrics import MEDIA_TYPE
from vambrace.serve.problems import busy, declared
from vambrace.serve.routes.common import Counts, Service

PATIENCE = 5.0  # seconds in which the database must answer
router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def is_alive() -> models.Health:
    """Say that the process is alive."""
    return models.Health(status="ok")


@router.get("/readyz", responses=declared(503))
async def is_ready(service: Service) -> models.Health:
    """Say whether the database can be reached."""
    try:
        async with asyncio.timeout(PATIENCE):
            await service.on_database(lambda database: database.run("SELECT 1"))
    except TimeoutError:
        raise busy(f"database: expected an answer within {PATIENCE:g} seconds, got none") from None
    return models.Health(status="ok")


@router.get("/metrics", response_class=PlainTextResponse)
async def show_metrics(caller: Reader, service: Service, counts: Counts) -> PlainTextResponse:
    """Count requests, decisions and answers, for Prometheus."""
    return PlainTextResponse(counts.text(service.waiting), media_type=MEDIA_TYPE)
