"""The past of an experiment, from its journal: traffic, certainty, what it may have cost, its shadow, and bursts.

A `History` is a fold over the entries of a journal, like a learner. It keeps sums for each arm, and a copy of them, a
*mark*, at the end of each stretch of time. Shares are differences of marks, and a certificate needs only the sums of
one. Stretches are of one width, the least of WIDTHS with which there are not too many: so the history of a journal does
not depend on how often somebody looked, and its size does not depend on the number of events. New entries are read when
somebody looks; nobody waits for a lock, and the writer does not know of it.

What counts as an answer is what the policy has learned from, as in `Learner.explain`. The certificate at a mark is that
of the arms that were open then, at every look (adaptive), against altered rewards, with delta = 0.05 for each set of
open arms. The loss at a mark is the number of decisions of each arm times how much less it pays than the best open arm,
both at the rates of today: an estimate, in which fake rewards are included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vambrace.audit.certificate import Certificate, certify_counts
from vambrace.audit.history import moments
from vambrace.audit.questions import MOST_EVENTS, Question
from vambrace.data.counting import Tally
from vambrace.live.fold import event_of
from vambrace.live.journal import Entry
from vambrace.live.settings import Settings
from vambrace.live.shadow import Shadow
from vambrace.protocols import Flags, Floats, Integers
from vambrace.serve.bursts import Bursts

MINUTE, HOUR, DAY = 60, 3600, 86_400
WIDTHS = (1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY)  # each divides the next
MOST_MARKS = 240
FEWEST_MARKS = 24
MOST_SUMS = 24_000  # marks times arms
DELTA = 0.05


class Mark(NamedTuple):
    """The sums of a journal up to one of its entries."""

    number: int  # of the entry
    time: float
    open: int  # decisions without an answer
    retired: Flags  # the fields from here on have a value for each arm
    binary: Flags
    asked: Integers
    chosen: Integers  # by the shadow
    answers: Integers
    totals: Floats
    squares: Floats

    @property
    def rates(self) -> Floats:
        """The mean reward of each arm; not a number: it has no answers."""
        with np.errstate(invalid="ignore"):
            return self.totals / self.answers

    @property
    def leader(self) -> int | None:
        """The open arm with the largest rate, the first of several; None: no open arm has answers."""
        rates = np.where(self.retired | (self.answers == 0), -1.0, self.totals / np.maximum(self.answers, 1))
        return int(rates.argmax()) if rates.max() >= 0 else None

    def loss(self, counts: Integers, today: "Mark") -> float:
        """What decisions have cost against always playing the best arm, by the rates of today."""
        if today.leader is None:
            return 0.0
        gaps = np.nan_to_num(today.rates[today.leader] - today.rates[: len(counts)])
        return float(counts @ np.maximum(gaps, 0.0))


@dataclass(frozen=True, slots=True)
class Point:
    """A stretch of time, up to a mark.

    Attributes:
        mark: The sums at its end.
        share: For each arm its share of the decisions in it; None: there were none.
        shadow: The same for what an unarmoured bandit would have asked for.
        leader: The open arm with the largest rate at its end.
        budget: Up to how many fake events the leader was certain then; None: it was not, not even without any.
        loss: What all decisions until then have cost.
        shadow_loss: What those of an unarmoured bandit would have cost.
    """

    mark: Mark
    share: Floats | None
    shadow: Floats | None
    leader: int | None
    budget: int | float | None
    loss: float
    shadow_loss: float


class History:
    """The past of one experiment.

    Args:
        settings: The settings of its journal, whose first entry they are.
        begun: The time of that entry.
    """

    def __init__(self, settings: Settings, begun: float) -> None:
        self.shadow, self.bursts = Shadow(settings), Bursts(begun)
        self.shadow.time = begun
        self.number = 1
        self.width = WIDTHS[0]
        self._begun, self._slot = begun, int(begun // self.width)
        self._marks: dict[int, Mark] = {}  # by slots that have ended; a slot is a stretch of time
        self._budgets: dict[int, int | float | None] = {}  # by the numbers of marks

    @property
    def labels(self) -> list[str]:
        """The names of the arms."""
        return [str(record.label) for record in self.shadow.arms]

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the journal."""
        time = max(self.shadow.time, entry.time)
        if int(time // self.width) != self._slot:
            self._end_slot(time)
        event = event_of(entry)
        self.shadow.apply(event)
        if entry.kind in ("told", "late"):
            self.bursts.add(time)
        self.number = entry.number

    def _end_slot(self, time: float) -> None:
        """Keep the sums of the slot that has ended, in wider ones if there are too many."""
        self._marks[self._slot] = self.mark()
        most = min(MOST_MARKS, max(FEWEST_MARKS, MOST_SUMS // len(self.shadow.arms)))
        while time // self.width - self._begun // self.width >= most:
            wider = next((width for width in WIDTHS if width > self.width), 2 * self.width)
            self._marks = {slot * self.width // wider: mark for slot, mark in self._marks.items()}  # the last one stays
            self.width = wider
        self._slot = int(time // self.width)
        known = {mark.number for mark in self._marks.values()}
        self._budgets = {number: budget for number, budget in self._budgets.items() if number in known}

    def mark(self) -> Mark:
        """The sums now."""
        shadow, records = self.shadow, self.shadow.arms
        return Mark(
            self.number,
            shadow.time,
            len(shadow.open),
            np.array([record.retired for record in records]),
            np.array([record.binary for record in records]),
            np.array([record.asked for record in records]),
            shadow.chosen.copy(),
            np.array([record.answers for record in records]),
            np.array([record.total for record in records]),
            shadow.squares.copy(),
        )

    def points(self, most: int = 60) -> list[Point]:
        """The past in at most this many stretches of time; the last one ends now."""
        ended = [mark for slot, mark in self._marks.items() if slot < self._slot]
        step = -(-(len(ended) + 1) // most)
        marks = [*ended[step - 1 :: step], self.mark()] if step > 1 else [*ended, self.mark()]
        marks, today = marks[-most:], marks[-1]
        before = [None, *marks[:-1]]
        return [self._point(mark, last, today) for mark, last in zip(marks, before, strict=True)]

    def _point(self, mark: Mark, last: Mark | None, today: Mark) -> Point:
        return Point(
            mark=mark,
            share=_share(mark.asked, None if last is None else last.asked),
            shadow=_share(mark.chosen, None if last is None else last.chosen),
            leader=mark.leader,
            budget=self._budget(mark),
            loss=mark.loss(mark.asked, today),
            shadow_loss=mark.loss(mark.chosen, today),
        )

    def _budget(self, mark: Mark) -> int | float | None:
        if mark.number not in self._budgets:
            found = _tally(self.labels, mark)
            if len(found.labels) < 2 or not any(found.events) or max(found.events) > MOST_EVENTS:
                return None
            question = Question(len(found.labels), DELTA, "alter", "adaptive", found.binary)
            self._budgets[mark.number] = moments(question, [("", found)])[0].budget
        return self._budgets[mark.number]

    def certificate(self) -> Certificate | None:
        """What is certain now; None: fewer than two arms are open, or one of them has no answers."""
        found = _tally(self.labels, self.mark())
        if len(found.labels) < 2 or not all(found.events) or max(found.events) > MOST_EVENTS:
            return None
        options: dict[str, Any] = {"squares": found.squares, "binary": found.binary, "delta": DELTA}
        return certify_counts(found.events, found.totals, found.labels, **options)


def _share(now: Integers, before: Integers | None) -> Floats | None:
    made = now.copy()
    if before is not None:
        made[: len(before)] -= before
    return made / made.sum() if made.sum() else None


def _tally(labels: Sequence[str], mark: Mark) -> Tally:
    """The sums of the open arms."""
    arms = np.flatnonzero(~mark.retired).tolist()
    binary = bool(mark.binary[arms].all())
    events, totals, squares = (tuple(each[arms].tolist()) for each in (mark.answers, mark.totals, mark.squares))
    return Tally(tuple(labels[arm] for arm in arms), events, totals, totals if binary else squares, binary)
