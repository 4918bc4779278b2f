"""The past of an experiment for clients: at most a few arms by name, the others together."""

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, Field

from vambrace.protocols import Floats
from vambrace.serve.alarms import Alarm
from vambrace.serve.history import History, Point

MOST_NAMED = 6  # arms
OTHERS = "all other arms"


class PastPoint(BaseModel):
    """A stretch of time: traffic in it, and what was known at its end."""

    time: float = Field(description="The end of the stretch, in seconds since 1970.")
    events: int = Field(description="The number of the last event in it.")
    asked: int = Field(description="All decisions until then.")
    open: int = Field(description="Decisions that were not answered then.")
    shares: list[float] | None = Field(description="For each name its share of the decisions; null: there were none.")
    shadow: list[float] | None = Field(description="The same, as an unarmoured bandit would have decided.")
    leader: str | None = Field(description="The open arm with the largest rate; null: there are no answers.")
    budget: float | None = Field(description="Up to this many fake events the leader was certain; null: it was not.")
    loss: float = Field(description="What all decisions have cost against the best arm of today; an estimate.")
    shadow_loss: float = Field(description="What those of an unarmoured bandit would have cost; an estimate.")


class PastAlarm(BaseModel):
    """A reason to look."""

    kind: str
    time: float = Field(description="When it was last seen, in seconds since 1970.")
    number: int
    actor: str = Field(description="The id of the key; empty: all keys together.")
    text: str


class Past(BaseModel):
    """The past of an experiment."""

    events: int = Field(description="The number of the last event that was read.")
    behind: int = Field(description="Events that are not read yet, of a long journal: ask again.")
    width: int = Field(description="The seconds of a stretch of time.")
    names: list[str] = Field(description="The arms with the most decisions; and perhaps all others together.")
    points: list[PastPoint]
    alarms: list[PastAlarm]


def past_of(history: History, most: int, events: int, alarms: Sequence[Alarm]) -> Past:
    """The past in at most `most` points, when the journal has this many events."""
    points, labels = history.points(most), history.labels
    order = np.argsort(-points[-1].mark.asked, kind="stable")
    named = sorted(order[:MOST_NAMED].tolist())
    others = len(labels) > len(named)
    return Past(
        events=history.number,
        behind=max(events - history.number, 0),
        width=history.width,
        names=[*(labels[arm] for arm in named), *([OTHERS] if others else [])],
        points=[_point(point, labels, named, others) for point in points],
        alarms=[PastAlarm(**alarm._asdict()) for alarm in alarms],
    )


def _point(point: Point, labels: Sequence[str], named: Sequence[int], others: bool) -> PastPoint:
    mark = point.mark
    return PastPoint(
        time=mark.time,
        events=mark.number,
        asked=int(mark.asked.sum()),
        open=mark.open,
        shares=_shares(point.share, named, others),
        shadow=_shares(point.shadow, named, others),
        leader=None if point.leader is None else labels[point.leader],
        budget=point.budget,
        loss=point.loss,
        shadow_loss=point.shadow_loss,
    )


def _shares(share: Floats | None, named: Sequence[int], others: bool) -> list[float] | None:
    """The shares of the named arms, rounded; an arm that did not exist then has none."""
    if share is None:
        return None
    found = [float(share[arm]) if arm < len(share) else 0.0 for arm in named]
    return [round(each, 6) for each in [*found, *([max(1.0 - sum(found), 0.0)] if others else [])]]
