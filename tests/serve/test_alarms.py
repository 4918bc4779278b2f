"""Alarms from counts of answers."""

from vambrace.serve.alarms import Alarm, alarms
from vambrace.serve.bursts import Burst
from vambrace.serve.incidents import Incident, Kind

NOW = 60.0 * 10_000


def incident(minute: int, kind: Kind, number: int, actor: str = "k1") -> Incident:
    return Incident(minute, actor, kind, number)


def test_ordinary_answers_are_no_alarm() -> None:
    assert alarms([incident(9_990, "answer", 500), incident(9_991, "late", 20)], [], NOW) == []


def test_strange_answers_are_added_up_by_kind_and_key() -> None:
    counts = [
        incident(9_990, "conflict", 2),
        incident(9_991, "conflict", 3),
        incident(9_991, "conflict", 1, actor="k2"),
        incident(9_992, "unknown", 1),
    ]
    found = alarms(counts, [], NOW)
    assert [(each.kind, each.actor, each.number, each.time) for each in found] == [
        ("unknown", "k1", 1, 60 * 9_992),
        ("conflict", "k1", 5, 60 * 9_991),
        ("conflict", "k2", 1, 60 * 9_991),
    ]
    assert found[0].text == "1 answer has an id that this experiment never gave; it does not count"
    assert found[1].text == "5 answers contradict an earlier answer to the same decision; the first one counts"
    assert found[2].text == "1 answer contradicts an earlier answer to the same decision; the first one counts"


def test_a_burst_of_one_key_is_found_among_others() -> None:
    usual = [incident(minute, "answer", 10, actor) for minute in range(9_000, 9_030) for actor in ("k1", "k2")]
    found = alarms([*usual, incident(9_030, "answer", 90, "k2")], [], NOW)
    assert found == [Alarm("burst", 60 * 9_030, 90, "k2", "90 answers came in one minute; usual were 10")]


def test_a_burst_of_all_keys_is_shown_unless_it_is_that_of_one() -> None:
    usual = [incident(minute, "answer", 10) for minute in range(9_000, 9_030)]
    found = alarms([*usual, incident(9_030, "answer", 90)], [Burst(60 * 9_030, 90, 10), Burst(60 * 9_040, 80, 3)], NOW)
    assert [(each.time // 60, each.actor) for each in found] == [(9_040, ""), (9_030, "k1")]


def test_old_alarms_are_forgotten() -> None:
    week = 7 * 24 * 60
    found = alarms(
        [], [Burst(60.0 * (20_000 - week - 1), 90, 1), Burst(60.0 * (20_000 - week + 1), 90, 1)], 60.0 * 20_000
    )
    assert len(found) == 1
