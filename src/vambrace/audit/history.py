"""What was certain at each moment of a log: an adaptive certificate holds at every look, so it may be made at each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from vambrace.audit.questions import Arm, Question

if TYPE_CHECKING:
    from vambrace.data import Tally


class Moment(NamedTuple):
    """What was certain at one time of a log: the arm with the largest mean, and its budget if it was certified."""

    time: str
    winner: str
    budget: int | float | None


def moments(question: Question, steps: Sequence[tuple[str, "Tally"]], width: float = 1.0) -> tuple[Moment, ...]:
    """The winner and its budget after each step of a log, whose sums up to there are given; `width` is of the rewards.

    No arm is certified as long as one of them has no events.
    """
    found = []
    for time, tally in steps:
        arms = [Arm(*each) for each in zip(tally.events, tally.totals, tally.squares, strict=True)]
        best = max((k for k, arm in enumerate(arms) if arm.events), key=lambda k: arms[k].mean)
        found.append(Moment(time, tally.labels[best], _budget(question, arms, best, width)))
    return tuple(found)


def _budget(question: Question, arms: Sequence[Arm], best: int, width: float) -> int | float | None:
    if not all(arm.events for arm in arms):
        return None
    least: float | None = None
    rivals = dict.fromkeys(arm for k, arm in enumerate(arms) if k != best)
    for arm in sorted(rivals, key=lambda arm: -arm.mean):  # one that is not separated is soon found
        budget = question.cheapest(question.pair(arms[best], arm)).budget
        if budget < 0.0:
            return None
        least = budget if least is None else min(least, budget)
    return None if least is None else int(least) if question.whole else least * width
