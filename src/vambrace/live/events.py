"""What can happen to a learner, as small tuples, and as lists for JSON.

A learner is what its events make of it: the same events, in the same order, give the same learner, bit for bit.
`encoded` gives ``[kind, time, ...]``, and `decoded` checks such a list and gives the event back.
"""

from math import isfinite
from typing import Any, NamedTuple

from vambrace.errors import JournalError, displayed

Id = str | int  # learners of version 0.1.0 gave whole numbers
Label = str | int  # the name of an arm; its number if the arms have no names


class Asked(NamedTuple):
    """A decision was made; the last three fields are what the policy's `select` returned."""

    time: float
    id: Id
    arm: int
    probability: float
    tag: int


class Told(NamedTuple):
    """An open decision was answered."""

    time: float
    id: Id
    reward: float


class ToldLate(NamedTuple):
    """A decision that had expired, or was abandoned, was answered; with what is needed to count the answer."""

    time: float
    id: Id
    reward: float
    arm: int
    probability: float
    tag: int


class Abandoned(NamedTuple):
    """An open decision was closed: no answer will come."""

    time: float
    id: Id


class Expired(NamedTuple):
    """An open decision was closed because its answer did not come in time."""

    time: float
    id: Id


class ArmAdded(NamedTuple):
    """A new arm was opened, or a retired one again."""

    time: float
    label: Label


class ArmRetired(NamedTuple):
    """An arm was closed: it is not played any more."""

    time: float
    label: Label


class WarmStarted(NamedTuple):
    """Answers from before were counted: for each arm its number, its events and its successes."""

    time: float
    counts: tuple[tuple[int, int, int], ...]


Event = Asked | Told | ToldLate | Abandoned | Expired | ArmAdded | ArmRetired | WarmStarted

KINDS: dict[str, type[Any]] = {
    "asked": Asked,
    "told": Told,
    "late": ToldLate,
    "abandoned": Abandoned,
    "expired": Expired,
    "added": ArmAdded,
    "retired": ArmRetired,
    "warm": WarmStarted,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
_NUMBERS = (int, float)
_TYPES: dict[str, tuple[type, ...]] = {
    "time": _NUMBERS,
    "id": (str, int),
    "arm": (int,),
    "probability": _NUMBERS,
    "tag": (int,),
    "reward": _NUMBERS,
    "label": (str, int),
    "counts": (list, tuple),
}


def encoded(event: Event) -> list[Any]:
    """An event as a list for JSON.

    >>> encoded(Told(12.5, "0-ab-cd", 1.0))
    ['told', 12.5, '0-ab-cd', 1.0]
    """
    return [_NAMES[type(event)], *event]


def decoded(content: Any) -> Event:
    """The event of a list that `encoded` gave.

    >>> decoded(["told", 12.5, "0-ab-cd", 1.0])
    Told(time=12.5, id='0-ab-cd', reward=1.0)
    """
    kind = KINDS.get(content[0]) if isinstance(content, list) and content and isinstance(content[0], str) else None
    if kind is None or len(content) != 1 + len(kind._fields):
        raise JournalError(f"event: expected a list that starts with its kind, got {displayed(content)}")
    for name, value in zip(kind._fields, content[1:], strict=True):
        if isinstance(value, bool) or not isinstance(value, _TYPES[name]):
            raise JournalError(f"event: expected {kind.__name__} with a valid {name}, got {displayed(content)}")
        if isinstance(value, float) and not isfinite(value):
            raise JournalError(f"event: expected finite numbers, got {displayed(content)}")
    if kind is WarmStarted:
        return WarmStarted(content[1], tuple(tuple(each) for each in content[2]))
    event: Event = kind(*content[1:])
    if isinstance(event, Told | ToldLate) and not 0.0 <= event.reward <= 1.0:
        raise JournalError(f"event: expected a reward in [0, 1], got {displayed(content)}")
    return event
