"""One event for each person: the same as a plain loop over persons, whole or in parts."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vambrace import data
from vambrace.data import people
from vambrace.errors import InvalidParameter

LOG = {
    "user": ["x", "y", "x", "z", "y", "z"],
    "arm": ["a", "a", "b", "b", "a", "b"],
    "converted": [0, 0, 1, 0, 1, 0],
    "day": [2, 1, 1, 1, 2, 3],
}
PER_PERSON = data.Columns(user="user")


def test_a_person_counts_once_for_the_first_arm() -> None:
    found = data.tally(LOG, PER_PERSON)
    assert found.tests[""] == data.Tally(("a", "b"), (2, 1), (2, 0), (2, 0), True)
    assert found.columns == {"arm": "arm", "reward": "converted", "user": "user"}
    assert found.notes == (
        "3 persons were counted, each once.",
        "1 persons (33 %) saw several arms; each counts for the arm seen first.",
    )


def test_the_first_arm_is_the_earliest_if_times_are_known() -> None:
    found = data.tally(LOG, data.Columns(user="user", time="day"))
    assert found.tests[""] == data.Tally(("a", "b"), (1, 2), (1, 1), (1, 1), True)
    # a person belongs to the day of the first event, with what the person did in all
    first = data.Tally(("a", "b"), (1, 2), (1, 1), (1, 1), True)
    assert found.over_time == {"": [("1", first)]}


def test_seconds_tell_which_arm_was_first() -> None:
    log = {"user": ["x"] * 3, "arm": ["a", "b", "c"], "reward": [0, 1, 0]}
    log["at"] = [f"2026-01-01 10:{rest}" for rest in ("59:30", "59:01", "59:02.5")]
    assert data.tally(log, data.Columns(user="user", time="at")).tests[""].labels == ("b",)


@pytest.mark.parametrize("part", [10**6, 7])
@pytest.mark.parametrize("timed", [False, True])
def test_persons_are_those_of_a_plain_loop(
    part: int, timed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "PART", part)
    draw = random.Random(5)
    for _ in range(8):
        rows: list[tuple[str, str, str, int, int]] = [
            (
                f"t{draw.randrange(2)}",
                f"u{draw.randrange(12)}",
                draw.choice("abc"),
                draw.randrange(2),
                draw.randrange(3),
            )
            for _ in range(draw.randrange(1, 60))
        ]
        frame = pl.DataFrame(rows, schema=["test", "user", "arm", "reward", "day"], orient="row")
        frame.write_csv(tmp_path / "x.csv")
        cut = draw.randrange(len(rows) + 1)
        pieces = [each for each in (frame[:cut], frame[cut:]) if each.height]
        ordered = sorted(rows, key=lambda row: row[4]) if timed else rows  # stable
        first: dict[tuple[str, str], str] = {}
        won: dict[tuple[str, str], int] = {}
        for test, user, arm, reward, _ in ordered:
            first.setdefault((test, user), arm)
            won[test, user] = max(reward, won.get((test, user), 0))
        wanted = data.Columns(user="user", time="day" if timed else None)
        sources: list[Any] = [frame, tmp_path / "x.csv", pieces]
        for source in sources:
            found = data.tally(source, wanted)
            for test in {test for test, _ in first}:
                persons = [(arm, won[each]) for each, arm in first.items() if each[0] == test]
                labels = tuple(sorted({arm for arm, _ in persons}))
                assert found.tests[test].labels == labels
                assert found.tests[test].events == tuple(sum(a == arm for a, _ in persons) for arm in labels)
                assert found.tests[test].totals == tuple(sum(w for a, w in persons if a == arm) for arm in labels)


def test_what_cannot_be_counted_per_person() -> None:
    with pytest.raises(InvalidParameter, match="expected rewards that are 0 or 1 if events are counted per person"):
        data.tally({**LOG, "converted": [0, 0, 0.5, 0, 0, 1]}, PER_PERSON)
    with pytest.raises(
        InvalidParameter, match=r"column 'user': expected a name of each person .*, got nothing in row 2"
    ):
        data.tally({**LOG, "user": ["x", None, "x", "z", "y", "z"]}, PER_PERSON)
    table = {"arm": ["a", "b"], "views": [9, 9], "clicks": [1, 2], "user": ["x", "y"]}
    with pytest.raises(
        InvalidParameter, match="user: expected a log, with a row for each event, got a table of counts"
    ):
        data.tally(table, PER_PERSON)
    with pytest.raises(InvalidParameter, match="expected a column 'visitor', got user, arm, converted, day"):
        data.tally(LOG, data.Columns(user="visitor"))


def test_a_range_whose_ends_are_no_success_and_success() -> None:
    log = {**LOG, "converted": [-1, -1, 3, -1, 3, -1]}
    assert data.tally(log, PER_PERSON, (-1, 3)).tests == data.tally(LOG, PER_PERSON).tests


@pytest.mark.parametrize("name", ["user", "User ID", "visitor_id", "session", "customer"])
def test_events_of_one_person_are_not_independent(name: str) -> None:
    log = {name if column == "user" else column: values for column, values in LOG.items()}
    (note,) = data.tally(log).notes
    assert note.startswith(f"{name} repeats (3 times in the first 6 rows): events of one person are not independent")
    assert f"user={name!r}" in note
    assert data.tally({**log, name: list("abcdef")}).notes == ()
