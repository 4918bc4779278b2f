"""Alarms: what in the answers of an experiment should be looked at, in words.

They are made from the counts of strange answers (`incidents`) and from minutes with many more answers than usual: of
one key (`incidents` again) or of all together (the journal). An alarm is a reason to look, not a proof: an attacker who
sends one answer for each decision that he was given raises none. That is what the budget of the policy is for.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from vambrace.serve.bursts import MINUTE, Burst, Bursts
from vambrace.serve.incidents import Incident

SHOWN = 7 * 86_400  # seconds after which an alarm is forgotten
MEANINGS = {
    "conflict": "answers contradict an earlier answer to the same decision; the first one counts",
    "unknown": "answers have ids that this experiment never gave; they do not count",
    "refused": "requests had an invalid reward or id; they do not count",
}


class Alarm(NamedTuple):
    """A reason to look.

    Attributes:
        kind: "conflict", "unknown", "refused" or "burst".
        time: When it was last seen: the beginning of a minute, in seconds since 1970.
        number: How many answers or requests.
        actor: The id of the key that sent them; "": all keys together; "nobody": there are no keys.
        text: What happened, in words.
    """

    kind: str
    time: float
    number: int
    actor: str
    text: str


def alarms(incidents: Sequence[Incident], bursts: Iterable[Burst], now: float) -> list[Alarm]:
    """What should be looked at, the latest first.

    Args:
        incidents: The counts of answers by minute, key and kind, by minute.
        bursts: The bursts of all keys together.
        now: The time: what is older than a week is left out.
    """
    found = [*_strange(incidents), *_of_keys(incidents)]
    seen = {alarm.time for alarm in found if alarm.kind == "burst"}
    found += [_burst(burst, "") for burst in bursts if burst.time not in seen]
    return sorted((alarm for alarm in found if alarm.time > now - SHOWN), key=lambda alarm: -alarm.time)


def _strange(incidents: Sequence[Incident]) -> list[Alarm]:
    """One alarm for each kind and key."""
    found = []
    by = sorted((each for each in incidents if each.kind in MEANINGS), key=lambda each: (each.kind, each.actor))
    for (kind, actor), group in groupby(by, key=lambda each: (each.kind, each.actor)):
        every = list(group)
        number = sum(each.number for each in every)
        text = f"{number:,} {MEANINGS[kind]}"
        found.append(Alarm(kind, MINUTE * max(each.minute for each in every), number, actor, _one(text, number)))
    return found


def _one(text: str, number: int) -> str:
    """The sentence for one answer."""
    if number != 1:
        return text
    for many, one in (
        ("answers contradict", "answer contradicts"),
        ("answers have ids", "answer has an id"),
        ("requests had", "request had"),
        ("they do not count", "it does not count"),
    ):
        text = text.replace(many, one)
    return text


def _of_keys(incidents: Sequence[Incident]) -> list[Alarm]:
    """The bursts of each key."""
    found, first = [], min((each.minute for each in incidents), default=0)
    for actor in sorted({each.actor for each in incidents}):
        bursts = Bursts(MINUTE * first)
        for each in incidents:
            if each.actor == actor and each.kind == "answer":
                bursts.add(MINUTE * each.minute, each.number)
        found += [_burst(burst, actor) for burst in bursts.found]
    return found


def _burst(burst: Burst, actor: str) -> Alarm:
    text = f"{burst.answers:,} answers came in one minute; usual were {burst.usual:,.0f}"
    return Alarm("burst", burst.time, burst.answers, actor, text)
