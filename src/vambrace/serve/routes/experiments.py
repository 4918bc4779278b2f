"""Create, list, show and close experiments, and change their arms."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Response

from vambrace.serve import models
from vambrace.serve.access import Admin, Reader
from vambrace.serve.problems import Problem, declared
from vambrace.serve.routes.common import ExperimentName, Service

MOST_LISTED = 100
EXISTS = {"description": "It is there already.", "model": models.Experiment}
router = APIRouter(prefix="/v1/experiments", tags=["experiments"])


@router.post("", status_code=201, responses=declared(409) | {200: EXISTS})
async def create_experiment(
    body: models.NewExperiment, response: Response, caller: Admin, service: Service
) -> models.Experiment:
    """Create an experiment. If it is there with the same settings, nothing changes."""
    if not caller.sees(body.name):
        raise Problem(403, "experiment: expected a name that this key is for, got another")
    found, is_new = await service.create(body, caller.id)
    response.status_code = 201 if is_new else 200
    response.headers["Location"] = f"/v1/experiments/{quote(body.name)}"
    return found


@router.get("")
async def list_experiments(
    caller: Reader,
    service: Service,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="The size of a page.")] = 20,
    after: Annotated[str, Query(max_length=100, description="The last name of the page before.")] = "",
) -> models.Listing:
    """List experiments by name, page by page."""
    names = [name for name in await service.names() if caller.sees(name) and name > after]
    shown = [await service.show(name) for name in names[:limit]]
    return models.Listing(experiments=shown, next=names[limit - 1] if len(names) > limit else None)


@router.get("/{name}", responses=declared(404))
async def show_experiment(name: ExperimentName, caller: Reader, service: Service) -> models.Experiment:
    """Show an experiment."""
    return await service.show(name)


@router.post("/{name}/close", responses=declared(404))
async def close_experiment(name: ExperimentName, caller: Admin, service: Service) -> models.Experiment:
    """Close an experiment: it makes no more decisions, and answers still count."""
    return await service.close(name, caller.id)


@router.post("/{name}/arms", responses=declared(404, 409))
async def add_arm(name: ExperimentName, body: models.ArmLabel, caller: Admin, service: Service) -> models.Experiment:
    """Open a new arm, or a retired one again."""
    return await service.add_arm(name, body.label, caller.id)


@router.post("/{name}/arms/retire", responses=declared(404, 409))
async def retire_arm(name: ExperimentName, body: models.ArmLabel, caller: Admin, service: Service) -> models.Experiment:
    """Retire an arm: it is not played any more."""
    return await service.retire_arm(name, body.label, caller.id)
