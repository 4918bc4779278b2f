"""Forms that change an experiment: add an arm, retire one, close it."""

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from vambrace.serve import models
from vambrace.serve.experiments import Experiments
from vambrace.serve.pages.rendering import PageRoute
from vambrace.serve.pages.visitors import SentForm
from vambrace.serve.problems import Problem
from vambrace.serve.routes.common import ExperimentName, Service

router = APIRouter(prefix="/experiments/{name}", include_in_schema=False, route_class=PageRoute)


@router.post("/arms")
async def add_arm(name: ExperimentName, form: SentForm, service: Service) -> Response:
    """Open a new arm, or a retired one again."""
    form.caller.check("admin", name)
    text = form.get("label", "").strip()
    if not 1 <= len(text) <= models.LONGEST_LABEL:
        raise Problem(422, f"arm: expected a name of 1 to {models.LONGEST_LABEL} characters, got {len(text)}")
    await service.add_arm(name, await _label(service, name, text), form.caller.id)
    return _back(name)


@router.post("/arms/retire")
async def retire_arm(name: ExperimentName, form: SentForm, service: Service) -> Response:
    """Play an arm no more."""
    form.caller.check("admin", name)
    await service.retire_arm(name, await _label(service, name, form.get("label", "")), form.caller.id)
    return _back(name)


@router.post("/close")
async def close(name: ExperimentName, form: SentForm, service: Service) -> Response:
    """Make no more decisions."""
    form.caller.check("admin", name)
    if not form.get("sure"):
        raise Problem(422, "close: expected a tick at “I am sure”, got none")
    await service.close(name, form.caller.id)
    return _back(name)


async def _label(service: Experiments, name: str, text: str) -> str | int:
    """The label of the arm with this text, which may be a number; the text itself if there is none."""
    arms = (await service.show(name)).arms
    return next((arm.label for arm in arms if str(arm.label) == text), text)


def _back(name: str) -> Response:
    return RedirectResponse(f"/experiments/{name}#arms", 303)
