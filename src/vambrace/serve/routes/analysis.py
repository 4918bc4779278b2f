"""Questions without an experiment: what is a finished test worth, and which policy should be used?"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from vambrace.serve import jobs, models, uploads
from vambrace.serve.access import Reader
from vambrace.serve.routes.reports import DeltaQuery, DesignQuery, ThreatQuery

router = APIRouter(prefix="/v1", tags=["analysis"])
FILE = {"schema": {"type": "string", "format": "binary"}, "example": "arm,events,successes\nold,1000,30\nnew,1000,90\n"}
Column = Annotated[str | None, Query(max_length=200, description="The name of this column, if it is not a usual one.")]


@router.post(
    "/certify",
    response_model=models.Certificate,
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": FILE}}},
)
async def certify_table(
    request: Request,
    caller: Reader,
    name: Annotated[
        str, Query(pattern=uploads.FILE_NAME, description="The name of the file: its ending says what it is.")
    ],
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
    return await uploads.certified(request, name, options)


@router.post("/choose", response_model=models.Choice)
async def choose_policy(request: Request, body: models.Wanted, caller: Reader) -> Any:
    """Play policies against attacks, and say which one loses least. The work is bounded, and takes some seconds."""
    options = body.model_dump()
    return await request.app.state.jobs.run("choose", options | {"threads": 1}, seconds=jobs.SECONDS)
