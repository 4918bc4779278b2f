"""The past of an experiment, and news of it: what the dashboard shows."""

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.requests import Request

from vambrace.live.sql import Database
from vambrace.serve import incidents
from vambrace.serve.access import Reader
from vambrace.serve.alarms import SHOWN, alarms
from vambrace.serve.experiments import Experiments
from vambrace.serve.histories import Histories
from vambrace.serve.history import History
from vambrace.serve.past import Past, past_of
from vambrace.serve.problems import declared, not_found
from vambrace.serve.routes.common import ExperimentName, Service

PATIENCE = 5.0  # seconds after which a client that waits for news is answered in any case
PAUSE = 0.5  # seconds between two looks
NUMBER = "SELECT MAX(number) FROM vambrace_events WHERE learner = (SELECT id FROM vambrace_learners WHERE name = ?)"
router = APIRouter(prefix="/v1/experiments/{name}", tags=["reports"])


class News(BaseModel):
    """How far an experiment is."""

    events: int = Field(description="The number of the last event.")


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


@router.get("/changes", responses=declared(404))
async def wait_for_changes(
    name: ExperimentName,
    caller: Reader,
    service: Service,
    request: Request,
    after: Annotated[int, Query(ge=0, le=2**53, description="The last event that the client knows.")] = 0,
) -> News:
    """Wait until an experiment has newer events, but at most five seconds, and say how many it has."""
    deadline = time.monotonic() + PATIENCE
    events = await last_event(service, name)
    while events <= after and time.monotonic() < deadline and not request.app.state.stopping:
        await asyncio.sleep(PAUSE)
        events = await last_event(service, name)
    return News(events=events)


async def last_event(service: Experiments, name: str) -> int:
    """The number of the last event of an experiment; nobody waits for its writer."""

    def work(database: Database) -> int | None:
        return database.run(NUMBER, name)[0][0]

    found: int | None = await service.on_database(work)
    if found is None:
        raise not_found(name)
    return found


async def read_past(service: Experiments, histories: Histories, name: str, points: int) -> Past:
    """The past of an experiment, with its alarms."""
    now, events = time.time(), await last_event(service, name)
    counts = await service.on_database(lambda database: incidents.of(database, name, now - SHOWN))

    def see(history: History) -> Past:
        return past_of(history, points, events, alarms(counts, history.bursts.found, now))

    return await histories.look(name, see)
