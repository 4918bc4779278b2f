"""What an experiment knows: its state, its events, and what they are worth."""

from fastapi import APIRouter

from vambrace.serve import models
from vambrace.serve.access import Reader
from vambrace.serve.problems import declared
from vambrace.serve.routes.common import ExperimentName, Service

router = APIRouter(prefix="/v1/experiments/{name}", tags=["reports"])


@router.get("/state", responses=declared(404))
async def show_state(name: ExperimentName, caller: Reader, service: Service) -> models.State:
    """Show what an experiment knows of each arm, and what it waits for."""
    return await service.state(name)
