"""Ask, tell and abandon: what a shop does for each visitor.

These operations take the request as it is, since what FastAPI does to prepare arguments takes longer than a decision.
So they check the role and the body themselves, with the same models that describe them.
"""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.responses import Response

from vambrace.errors import VambraceError
from vambrace.serve import models
from vambrace.serve.access import Caller
from vambrace.serve.experiments import Experiments
from vambrace.serve.keys import Role
from vambrace.serve.metrics import Metrics
from vambrace.serve.problems import Problem, declared, not_found

JSON = "application/json"
router = APIRouter(prefix="/v1/experiments/{name}", tags=["decisions"])
Body = TypeVar("Body")
Operation = Callable[[Request], Awaitable[Response]]
Decorator = Callable[[Callable[..., Awaitable[BaseModel]]], Operation]
_NAME = re.compile(models.NAME)
_PATH_NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The name of the experiment.",
    "schema": {"type": "string", "pattern": models.NAME},
    "example": "headlines",
}


def operation(role: Role, body: "TypeAdapter[Body]", answer: type[BaseModel], *statuses: int) -> Decorator:
    """Make an operation of a function that takes the experiments, the name, the caller, the body and the counts."""

    def made(work: Callable[..., Awaitable[BaseModel]]) -> Operation:
        async def run(request: Request) -> Response:
            caller: Caller = request.state.caller  # whom the guard let in
            name: str = request.path_params["name"]
            caller.check(role, name)
            if _NAME.match(name) is None:
                raise not_found(name)
            state = request.app.state
            given = await _received(request, body, state.experiments, name, caller)
            found = await work(state.experiments, name, caller, given, state.metrics)
            return Response(found.model_dump_json(), media_type=JSON)

        run.__name__, run.__doc__ = work.__name__, work.__doc__
        run.role, run.body = role, body  # type: ignore[attr-defined]  # for OpenAPI, for tests, and for `quick`
        run.work, run.path = work, f"{router.prefix}/{work.__name__}"  # type: ignore[attr-defined]
        described = {"parameters": [_PATH_NAME]}
        responses = {200: {"model": answer}} | declared(404, *statuses)
        router.post(f"/{work.__name__}", response_model=answer, responses=responses, openapi_extra=described)(run)
        return run

    return made


async def _received(
    request: Request, body: "TypeAdapter[Body]", experiments: Experiments, name: str, caller: Caller
) -> Body:
    """The body of a request, checked."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Problem(415, f"content-type: expected {JSON}, got another")
    try:
        return body.validate_json(await request.body())
    except ValidationError as error:
        with suppress(Problem, VambraceError):
            await experiments.refused(name, caller.id)
        raise RequestValidationError(error.errors(include_input=False, include_url=False)) from None


@operation("ask", TypeAdapter(models.Ask), models.Decisions, 409, 415, 429)
async def ask(
    experiments: Experiments, name: str, caller: Caller, body: models.Ask, counts: Metrics
) -> models.Decisions:
    """Make decisions: which arm to play now. It is answered when they are on disk."""
    found = await experiments.ask(name, body.count, body.key)
    counts.add("asked", len(found))
    made = models.Decision.model_construct
    return models.Decisions.model_construct(
        decisions=[made(id=each.id, arm=each.arm, probability=each.probability, round=each.round) for each in found]
    )


@operation("tell", TypeAdapter(models.Answer | models.Answers), models.Results, 415)
async def tell(
    experiments: Experiments, name: str, caller: Caller, body: models.Answer | models.Answers, counts: Metrics
) -> models.Results:
    """Report rewards. Each counts once, also if it is sent again; it is answered when it is on disk."""
    answers = body.answers if isinstance(body, models.Answers) else [body]
    found = await experiments.tell(name, [(each.id, each.reward) for each in answers], caller.id)
    for status in found:
        counts.add(status)
    made = models.Result.model_construct
    return models.Results.model_construct(
        results=[made(id=each.id, status=status) for each, status in zip(answers, found, strict=True)]
    )


@operation("tell", TypeAdapter(models.Abandon), models.Closings, 415)
async def abandon(
    experiments: Experiments, name: str, caller: Caller, body: models.Abandon, counts: Metrics
) -> models.Closings:
    """Close decisions whose answers will never come, for example because the arm was not shown."""
    found = await experiments.abandon(name, body.ids)
    made = models.Closing.model_construct
    return models.Closings.model_construct(
        results=[made(id=key, status=status) for key, status in zip(body.ids, found, strict=True)]
    )
