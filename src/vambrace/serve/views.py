"""What clients see of a learner."""

from dataclasses import replace
from typing import Any

from vambrace import registry
from vambrace.audit.certificate import certify_counts
from vambrace.audit.questions import Design, Threat
from vambrace.live.core import Core
from vambrace.live.explanation import explained
from vambrace.live.knowledge import Record
from vambrace.serve import models, problems
from vambrace.serve.writer import Held


def described(learner: Held) -> models.Experiment:
    """An experiment, for a client."""
    core, settings = learner.core, learner.core.settings
    return models.Experiment(
        name=learner.name,
        state="closed" if learner.closed() else "open",
        policy=registry.spec_of(settings.policy),
        arms=[models.Arm(label=each.label, state="retired" if each.retired else "open") for each in core.arms],
        horizon=settings.horizon,
        expires_after=settings.expires_after,
        default_reward=settings.default_reward,
        late=settings.late,
        created=learner.created(),
        asked=core.asked,
        told=answered(core),
    )


def certified(
    records: list[Record], squares: dict[int, float], threat: Threat, delta: float, design: Design
) -> dict[str, Any]:
    """The certificate of the open arms, ready for JSON; none while nothing is known of one of them."""
    known = [(arm, record) for arm, record in enumerate(records) if not record.retired]
    silent = [record.label for _, record in known if not record.answers]
    if silent or len(known) < 2:
        came = f"none of {silent[0]!r}" if silent else "one arm"
        raise problems.Problem(409, f"answers: expected some of at least two open arms, and of each, got {came}")
    found = certify_counts(
        [record.answers for _, record in known],
        [record.total for _, record in known],
        [str(record.label) for _, record in known],
        squares=[squares.get(arm, record.total) for arm, record in known],
        binary=not squares,
        threat=threat,
        delta=delta,
        design=design,
    )
    return found.to_dict()


def counts(learner: Held) -> tuple[list[Record], int]:
    """What happened to each arm, and the number of the last event."""
    learner.expire()
    return [replace(record) for record in learner.core.arms], learner.events


def changes(learner: Held) -> models.Changes:
    """How far an experiment is."""
    learner.expire()
    return models.Changes(events=learner.events, asked=learner.core.asked, told=answered(learner.core))


def answered(core: Core) -> int:
    """How many decisions were told a reward."""
    return core.asked - len(core.open) - sum(each.expired + each.abandoned - each.late for each in core.arms)


def state(learner: Held) -> models.State:
    """What an experiment knows."""
    learner.expire()
    core = learner.core
    return models.State(
        name=learner.name,
        state="closed" if learner.closed() else "open",
        events=learner.events,
        open=len(core.open),
        late=sum(record.late for record in core.arms),
        **explained(core).to_dict(),
    )
