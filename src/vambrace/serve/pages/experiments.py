"""The pages of experiments: the list, one of them, and a form for a new one."""

import asyncio
from typing import Any, NamedTuple

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from vambrace.audit.certificate import Certificate, certify_counts
from vambrace.errors import VambraceError
from vambrace.report.page import Table
from vambrace.serve import models
from vambrace.serve.access import Caller
from vambrace.serve.experiments import Experiments
from vambrace.serve.history import History
from vambrace.serve.pages import words
from vambrace.serve.pages.rendering import PageRoute, moment, page
from vambrace.serve.pages.visitors import Form, SentForm, Visitor
from vambrace.serve.past import Past
from vambrace.serve.problems import Problem
from vambrace.serve.routes.common import ExperimentName, Service
from vambrace.serve.routes.history import read_past
from vambrace.serve.views import described
from vambrace.serve.writer import Held

LISTED = 20  # experiments on a page
POINTS = 60  # of a chart
router = APIRouter(include_in_schema=False, route_class=PageRoute)


class Line(NamedTuple):
    """A line of the list."""

    experiment: models.Experiment
    leader: str
    withstands: str


class Overview(NamedTuple):
    """Everything that the page of an experiment shows."""

    experiment: models.Experiment
    state: models.State
    past: Past
    certificate: Certificate | None
    planned: float | None
    answer: words.Answer


@router.get("/")
async def list_experiments(request: Request, caller: Visitor, service: Service, after: str = "") -> Response:
    """The experiments that this key may see."""
    caller.check("read")
    names = [name for name in await service.names() if caller.sees(name) and name > after]
    lines = [await _line(service, name) for name in names[:LISTED]]
    more = names[LISTED - 1] if len(names) > LISTED else ""
    return page(request, "experiments.html", title="Experiments", lines=lines, more=more, after=after)


async def _line(service: Experiments, name: str) -> Line:
    def work(learner: Held) -> tuple[models.Experiment, list[tuple[str, int, float, bool]]]:
        arms = [each for each in learner.core.arms if not each.retired]
        return described(learner), [(str(each.label), each.answers, each.total, each.binary) for each in arms]

    experiment, arms = await service.run(name, work)
    if len(arms) < 2 or not all(answers for _, answers, _, _ in arms):
        return Line(experiment, "", "")
    labels, answers, totals, binary = zip(*arms, strict=True)
    options: dict[str, Any] = {"binary": all(binary)}
    certificate = await asyncio.to_thread(certify_counts, answers, totals, labels, **options)
    leader = f"{certificate.winner}, {words.rate(certificate.winner_mean)}"
    return Line(experiment, leader, words.withstands(certificate) if all(binary) else "")


@router.get("/new")
async def show_form(request: Request, caller: Visitor) -> Response:
    """The form for a new experiment."""
    caller.check("admin")
    return _form(request, {"budget": "20"}, "")


@router.post("/new")
async def create(request: Request, form: SentForm, service: Service) -> Response:
    """Make an experiment."""
    form.caller.check("admin")
    try:
        wanted = _wanted(form, form.caller)
        _, is_new = await service.create(wanted, form.caller.id)
    except ValidationError as error:
        first = error.errors()[0]
        return _form(request, form, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (VambraceError, ValueError, Problem) as error:
        return _form(request, form, str(error))
    if not is_new:
        return _form(request, form, f"There is an experiment {wanted.name} already.")
    return RedirectResponse(f"/experiments/{wanted.name}", 303)


def _form(request: Request, values: dict[str, str], wrong: str) -> Response:
    return page(request, "new.html", status=422 if wrong else 200, title="New experiment", form=values, wrong=wrong)


def _wanted(form: Form, caller: Caller) -> models.NewExperiment:
    """What a form asks for."""
    name = form.get("name", "").strip()
    if not caller.sees(name):
        raise Problem(403, "name: expected a name that this key is for, got another")
    budget = form.get("budget", "").strip()
    minutes = form.get("minutes", "").strip()
    given: dict[str, Any] = {
        "name": name,
        "arms": [line.strip() for line in form.get("arms", "").splitlines() if line.strip()],
        "policy": form.get("policy", "").strip() or f"kl-ucb-wr:budget={budget or '0'}",
    }
    if minutes:
        given["expires_after"] = 60.0 * float(minutes)
        given |= {"default_reward": 0.0} if form.get("default") else {}
    return models.NewExperiment(**given)


@router.get("/experiments/{name}")
async def show(request: Request, name: ExperimentName, caller: Visitor, service: Service) -> Response:
    """The page of an experiment."""
    caller.check("read", name)
    found = await _overview(request, service, name)
    values: dict[str, Any] = {"settings": _settings(found.experiment), "base": str(request.base_url).rstrip("/")}
    return page(request, "experiment.html", title=name, **values, **found._asdict())


def _settings(experiment: models.Experiment) -> Table:
    """What an experiment was made with."""
    counts = "do not count" if experiment.default_reward is None else f"count as {experiment.default_reward:g}"
    wait = experiment.expires_after
    expiry = "stay open" if wait is None else f"are closed after {words.duration(wait)}; they then {counts}"
    facts = {
        "policy": experiment.policy,
        "made": moment(experiment.created),
        "horizon": "none" if experiment.horizon is None else f"{experiment.horizon:,} decisions",
        "decisions without an answer": expiry,
        "late answers": "count" if experiment.late == "count" else "are only noted",
    }
    return Table("What the experiment was made with", (), [*facts.items()])


@router.get("/experiments/{name}/now")
async def show_now(request: Request, name: ExperimentName, caller: Visitor, service: Service) -> Response:
    """The part of the page that changes."""
    caller.check("read", name)
    return page(request, "now.html", **(await _overview(request, service, name))._asdict())


async def _overview(request: Request, service: Experiments, name: str) -> Overview:
    histories = request.app.state.histories
    state, experiment = await service.state(name), await service.show(name)
    past = await read_past(service, histories, name, POINTS)
    certificate: Certificate | None = await histories.look(name, History.certificate)
    planned = words.planned_budget(experiment.policy)
    return Overview(experiment, state, past, certificate, planned, words.answer(state, certificate, planned))
