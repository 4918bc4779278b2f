"""Logs added up: in one pass, in pieces, from a stream, and never more in memory than it takes."""

import gzip
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vambrace import logs
from vambrace.errors import InvalidParameter

FRAME = pl.DataFrame({"arm": ["b", "a", "b", "b"], "reward": [1, 0, 1, 0]})
TALLY = logs.Tally(("a", "b"), (1, 3), (0, 2), True)
READING = logs.Reading({"": TALLY}, {"arm": "arm", "reward": "reward"})


def written(ending: str) -> bytes:
    file = io.BytesIO()
    if "parquet" in ending:
        FRAME.write_parquet(file)
    elif "jsonl" in ending:
        FRAME.write_ndjson(file)
    else:
        FRAME.write_csv(file, separator="\t" if "tsv" in ending else ",")
    return gzip.compress(file.getvalue()) if ending.endswith(".gz") else file.getvalue()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".tsv.gz", ".jsonl.gz"])
def test_a_stream_shows_what_it_is(ending: str) -> None:
    with logs.spooled(io.BytesIO(written(ending)), "standard input") as spooled:
        assert spooled.path.name == f"spooled{ending.removesuffix('.gz')}"
        assert logs.tally(spooled) == logs.tally([spooled]) == READING
        assert logs.title([spooled, FRAME]) == "standard input and 1 more"
    assert not spooled.path.parent.exists()


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"\x1f\x8bjunk", b"PAR1", b"\xff\xfe\x00", b"{"])
def test_a_stream_of_anything_is_one_line(content: bytes) -> None:
    with logs.spooled(io.BytesIO(content), "standard input") as spooled:
        with pytest.raises(InvalidParameter) as caught:
            logs.tally(spooled)
        assert str(caught.value).startswith("standard input: ")
        assert "\n" not in str(caught.value)


rewards = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), rewards), min_size=1, max_size=30), st.data())
def test_sums_are_those_of_a_plain_loop(rows: list[tuple[str, str, float]], data: Any) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    pieces = [
        {"exp": [x for x, _, _ in part], "arm": [a for _, a, _ in part], "reward": [r for _, _, r in part]}
        for part in (rows[:cut], rows[cut:])
        if part
    ]
    found = logs.tally(pieces, logs.Wanted(group="exp")).tests
    assert list(found) == sorted({test for test, _, _ in rows})
    for test, tally in found.items():
        mine = [(arm, reward) for name, arm, reward in rows if name == test]
        assert tally.labels == tuple(sorted({arm for arm, _ in mine}))
        per_arm = [[reward for arm, reward in mine if arm == label] for label in tally.labels]
        assert tally.events == tuple(len(each) for each in per_arm)
        assert tally.totals == pytest.approx([sum(each) for each in per_arm])
        assert tally.binary == all(reward in (0.0, 1.0) for _, reward in mine)


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=1, max_size=20),
)
def test_a_range_is_shifted_and_stretched(low: float, width: float, units: list[float]) -> None:
    high = low + width
    values = [low if unit == 0.0 else high if unit == 1.0 else (low + high) / 2 for unit in units]
    (tally,) = logs.tally({"arm": ["a"] * len(values), "reward": values}, reward_range=(low, high)).tests.values()
    assert tally.totals[0] == pytest.approx(sum(units), abs=1e-5)
    assert 0 <= tally.totals[0] <= len(units)
    assert tally.binary == (0.5 not in units)


def test_the_arms_of_a_table_keep_their_order_and_those_of_a_log_get_one() -> None:
    table = {"arm": ["10", "9", "b"], "events": [5, 5, 5], "successes": [1, 2, 3]}
    assert logs.tally(table).tests[""].labels == ("10", "9", "b")
    assert logs.tally({"arm": [10, 9, 11], "reward": [0, 1, 1]}).tests[""].labels == ("9", "10", "11")


def test_one_column_is_not_two() -> None:
    log = {"arm": [1, 2], "exp": [1, 1], "reward": [1, 0]}
    for arm, reward, group in (("arm", "reward", "arm"), ("arm", "arm", "exp"), ("arm", "exp", "exp")):
        with pytest.raises(InvalidParameter, match=r"dict: expected a column of its own for each use, got '(arm|exp)'"):
            logs.tally(log, logs.Wanted(arm, reward, group=group))


def test_names_that_differ_in_case_only_can_both_be_named() -> None:
    log = {"Arm": ["x", "y"], "arm": ["a", "b"], "reward": [1, 0]}
    assert logs.tally(log, logs.Wanted(arm="Arm")).tests[""].labels == ("x", "y")
    assert logs.tally(log, logs.Wanted(arm="arm")).tests[""].labels == ("a", "b")


def test_pieces_that_belong_to_different_tests_are_not_mixed() -> None:
    pieces = [FRAME.with_columns(test=pl.lit(name)) for name in ("one", "two")]
    with pytest.raises(
        InvalidParameter, match="expected one test, or the group 'test' to tell them apart, got 2 tests"
    ):
        logs.tally(pieces)
    assert logs.tally(pieces, logs.Wanted(group="test")).tests == {"one": TALLY, "two": TALLY}
    assert logs.tally(pieces[0]).tests == {"": TALLY}


def test_a_log_is_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One aggregation."""
    path = tmp_path / "log.parquet"
    FRAME.write_parquet(path)
    collected: list[str] = []
    collect = pl.LazyFrame.collect

    def watched(frame: pl.LazyFrame, **options: Any) -> Any:
        assert options["engine"] == "streaming"
        plan = frame.explain()
        if "log.parquet" in plan:
            collected.append(plan)
        return collect(frame, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    logs.tally(path)
    assert len(collected) == 1
    assert "AGGREGATE" in collected[0]


def test_nothing_at_all() -> None:
    with pytest.raises(InvalidParameter, match="log: expected at least one file, got none"):
        logs.tally([])
    with pytest.raises(InvalidParameter, match="log: expected the name of a file, a Polars or pandas frame"):
        logs.tally(3)
    with pytest.raises(InvalidParameter, match="dict: expected at least one row, got none"):
        logs.tally({"arm": [], "reward": []})
