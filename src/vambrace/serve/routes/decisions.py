"""Ask, tell and abandon: what a shop does for each visitor."""

from contextlib import suppress

from fastapi import APIRouter, Request

from vambrace.errors import VambraceError
from vambrace.serve import models
from vambrace.serve.access import Asker, Caller, Teller
from vambrace.serve.problems import Problem, declared
from vambrace.serve.routes.common import Counts, ExperimentName, Service

router = APIRouter(prefix="/v1/experiments/{name}", tags=["decisions"])


@router.post("/ask", responses=declared(404, 409, 429))
async def ask(
    name: ExperimentName, body: models.Ask, caller: Asker, service: Service, counts: Counts
) -> models.Decisions:
    """Make decisions: which arm to play now. It is answered when they are on disk."""
    found = await service.ask(name, body.count, body.key)
    counts.add("asked", len(found))
    return models.Decisions.model_construct(
        decisions=[
            models.Decision.model_construct(
                id=str(each.id), arm=each.arm, probability=each.probability, round=each.round
            )
            for each in found
        ]
    )


@router.post("/tell", responses=declared(404))
async def tell(
    name: ExperimentName, body: models.Answer | models.Answers, caller: Teller, service: Service, counts: Counts
) -> models.Results:
    """Report rewards. Each counts once, also if it is sent again; it is answered when it is on disk."""
    answers = body.answers if isinstance(body, models.Answers) else [body]
    pairs = [(each.id, each.reward) for each in answers]
    found = await service.tell(name, pairs, caller.id)
    for status in found:
        counts.add(status)
    results = [
        models.Result.model_construct(id=key, status=status) for (key, _), status in zip(pairs, found, strict=True)
    ]
    return models.Results.model_construct(results=results)


async def _refused(request: Request) -> None:
    """Note that a key of this experiment sends nonsense; its caller was let in, so the name is one that it sees."""
    caller: Caller = request.state.caller
    with suppress(Problem, VambraceError):
        await request.app.state.experiments.refused(request.path_params["name"], caller.id)


tell.refused = _refused  # type: ignore[attr-defined]  # called where requests are refused


@router.post("/abandon", responses=declared(404))
async def abandon(name: ExperimentName, body: models.Abandon, caller: Teller, service: Service) -> models.Closings:
    """Close decisions whose answers will never come, for example because the arm was not shown."""
    found = await service.abandon(name, body.ids)
    results = [models.Closing(id=key, status=status) for key, status in zip(body.ids, found, strict=True)]
    return models.Closings(results=results)
