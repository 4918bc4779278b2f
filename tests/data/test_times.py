"""Sums up to each moment: dates, hours and numbers, the same as a plain loop."""

import random
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vambrace import data
from vambrace.data import times
from vambrace.errors import InvalidParameter

TIMED = data.Columns(time="at")


def labels(values: list[Any], **more: list[Any]) -> list[str]:
    log = {"arm": ["a"] * len(values), "reward": [1] * len(values), "at": values, **more}
    return [label for label, _ in data.tally(log, TIMED).over_time[""]]


def test_sums_so_far_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    draw = random.Random(3)
    for binary in (True, False):
        rows = [
            (draw.choice("xy"), draw.choice("abc"), draw.randrange(2) if binary else draw.random(), draw.randrange(9))
            for _ in range(80)
        ]
        frame = pl.DataFrame(rows, schema=["test", "arm", "reward", "day"], orient="row")
        dated = frame.with_columns(at=pl.date(2026, 1, 1) + pl.duration(days="day"))
        dated.write_csv(tmp_path / "x.csv")
        for source in (dated, tmp_path / "x.csv", [dated[:31], dated[31:]]):
            found = data.tally(source, TIMED)
            for test, steps in found.over_time.items():
                mine = [row for row in rows if row[0] == test]
                days = sorted({row[3] for row in mine})
                assert [label for label, _ in steps] == [f"2026-01-{1 + day:02}" for day in days]
                assert steps[-1][1] == found.tests[test] if binary else steps[-1][1].events == found.tests[test].events
                for day, (_, tally) in zip(days, steps, strict=True):
                    assert (tally.labels, tally.binary) == (found.tests[test].labels, binary)
                    for k, arm in enumerate(tally.labels):
                        rewards = [r for _, a, r, d in mine if a == arm and d <= day]
                        assert tally.events[k] == len(rewards)
                        assert tally.totals[k] == pytest.approx(sum(rewards))
                        assert tally.squares[k] == pytest.approx(sum(r * r for r in rewards))


def test_a_table_of_days() -> None:
    table = {"at": ["2026-01-02", "2026-01-01"] * 2, "arm": list("aabb"), "views": [9, 8, 7, 6], "clicks": [4, 3, 2, 1]}
    (one, first), (two, last) = data.tally(table, TIMED).over_time[""]
    assert (one, first.events, first.totals) == ("2026-01-01", (8, 6), (3, 1))
    assert (two, last.events, last.totals) == ("2026-01-02", (17, 13), (7, 3))


def test_rewards_that_are_not_zero_or_one_later() -> None:
    log = {"arm": ["a", "b", "a", "b"], "reward": [1, 0, 0.5, 0.5], "at": [1, 1, 2, 2]}
    assert data.tally(log, TIMED).over_time[""][0] == ("1", data.Tally(("a", "b"), (1, 1), (1, 0), (1, 0), False))


def test_an_arm_without_events_so_far() -> None:
    log = {"arm": ["a", "b"], "reward": [1, 0], "at": [1, 2]}
    assert data.tally(log, TIMED).over_time[""][0] == ("1", data.Tally(("a", "b"), (1, 0), (1, 0), (1, 0), True))
    assert data.tally(log).over_time == {}


def test_days_hours_and_numbers() -> None:
    start = datetime(2026, 3, 1, 22, 15)
    hours = [start + timedelta(minutes=40 * each) for each in range(5)]
    assert labels(hours) == [f"2026-03-0{day} {hour}:00" for day, hour in ((1, 22), (1, 23), (2, "00"))]
    assert labels([str(each) for each in hours]) == labels(hours)
    assert labels([f"{each.isoformat()}.5+02:00" for each in hours]) == labels(hours)
    assert labels([start, start + timedelta(days=3)]) == ["2026-03-01", "2026-03-04"]
    assert labels([date(2026, 3, 2), date(2026, 3, 1)]) == labels(["2026-03-01", "2026-03-02"])
    assert labels([3, 1, 2, 3]) == labels(["3", " 1", "2", "3"]) == ["1", "2", "3"]
    assert labels([0.5, 0.25]) == ["0.25", "0.5"]
    assert labels([1969, -5]) == ["-5", "1969"]
    assert labels(["1969-12-31", "1970-01-02"]) == ["1969-12-31", "1970-01-02"]
    assert labels([7, 7]) == ["7"]


def test_many_steps_are_thinned_and_the_last_one_stays() -> None:
    found = labels([*range(1, 1201)])
    assert len(found) == times.MOST_STEPS
    assert found == [str(3 * each) for each in range(1, 401)]
    found = labels([each / 7 for each in range(100_000)])
    assert len(found) == times.MOST_STEPS
    assert float(found[-1]) == pytest.approx(99_999 / 7)


@pytest.mark.parametrize(
    ("values", "came"),
    [
        (["31/01/2026", "01/02/2026"], "'31/01/2026'"),
        (["2026-01-01", "yesterday"], "'yesterday'"),
        (["2026-01-01", "7"], "both"),
        ([True, False], "Boolean"),
        ([["x"], ["y"]], "List"),
    ],
)
def test_times_that_are_not_understood(values: list[Any], came: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"column 'at': expected numbers, or dates such as .*, got {came}"):
        labels(values)


@pytest.mark.parametrize("missing", [None, "later", "2026-02-31"])
def test_a_time_that_is_missing_is_named(missing: str | None) -> None:
    late = ["2026-01-01"] * (times.FIRST_VALUES + 1) + [missing]
    came = "nothing" if missing is None else repr(missing)
    with pytest.raises(InvalidParameter, match=rf"column 'at': expected numbers, or .*, got {came} in row 1,002"):
        labels(late)
    table = {"arm": ["a", "b"], "views": [5, 5], "clicks": [1, 1], "at": [1.0, None]}
    with pytest.raises(InvalidParameter, match=r"column 'at': expected numbers, or .*, got nothing in row 2"):
        data.tally(table, TIMED)
    with pytest.raises(InvalidParameter, match=r"column 'at': expected numbers, or .*, got both"):
        data.tally([{"arm": ["a"], "reward": [1], "at": [each]} for each in (1, "2026-01-01")], TIMED)
