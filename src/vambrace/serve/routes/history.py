"""The past of an experiment: what the dashboard draws."""

import time
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request

from vambrace.serve import incidents
from vambrace.serve.access import Reader
from vambrace.serve.alarms import SHOWN, alarms
from vambrace.serve.experiments import Experiments
from vambrace.serve.histories import Histories
from vambrace.serve.history import History
from vambrace.serve.past import Past, past_of
from vambrace.serve.problems import declared
from vambrace.serve.routes.common import ExperimentName, Service

router = APIRouter(prefix="/v1/experiments/{name}", tags=["reports"])


@router.get("/history", responses=declared(404))
async def show_history(
    name: ExperimentName,
    caller: Reader,
    service: Service,
    request: Request,
    points: Annotated[int, Query(ge=2, le=240, description="At most this many stretches of time.")] = 60,
) -> Past:
    """Show the past of an experiment: traffic, certainty, what it cost, alarms, and an unarmoured bandit's choices."""
    histories: Histories = request.app.state.histories
    return await read_past(service, histories, name, points)


async def read_past(service: Experiments, histories: Histories, name: str, points: int) -> Past:
    """The past of an experiment, with its alarms."""
    now, events = time.time(), (await service.changes(name)).events
    counts = await service.on_database(lambda database: incidents.of(database, name, now - SHOWN))

    def see(history: History) -> Past:
        return past_of(history, points, events, alarms(counts, history.bursts.found, now))

    return await histories.look(name, see)
