"""Logs added up: in one pass, in pieces, and never more in memory than it takes."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_log import FRAME, TALLY
from vambrace import data
from vambrace.data import tables
from vambrace.errors import InvalidParameter

rewards = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), rewards), min_size=1, max_size=30), st.data())
def test_sums_are_those_of_a_plain_loop(rows: list[tuple[str, str, float]], draws: Any) -> None:
    cut = draws.draw(st.integers(0, len(rows)))
    pieces = [
        {"exp": [x for x, _, _ in part], "arm": [a for _, a, _ in part], "reward": [r for _, _, r in part]}
        for part in (rows[:cut], rows[cut:])
        if part
    ]
    found = data.tally(pieces, data.Columns(test="exp")).tests
    assert list(found) == sorted({test for test, _, _ in rows})
    for test, tally in found.items():
        mine = [(arm, reward) for name, arm, reward in rows if name == test]
        assert tally.labels == tuple(sorted({arm for arm, _ in mine}))
        per_arm = [[reward for arm, reward in mine if arm == label] for label in tally.labels]
        assert tally.events == tuple(len(each) for each in per_arm)
        assert tally.totals == pytest.approx([sum(each) for each in per_arm])
        assert tally.squares == pytest.approx([sum(reward**2 for reward in each) for each in per_arm])
        assert tally.binary == all(reward in (0.0, 1.0) for _, reward in mine)


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=1, max_size=20),
)
def test_a_range_is_shifted_and_stretched(low: float, width: float, units: list[float]) -> None:
    high = low + width
    values = [low if unit == 0.0 else high if unit == 1.0 else (low + high) / 2 for unit in units]
    (tally,) = data.tally({"arm": ["a"] * len(values), "reward": values}, reward_range=(low, high)).tests.values()
    assert tally.totals[0] == pytest.approx(sum(units), abs=1e-5)
    assert 0 <= tally.totals[0] <= len(units)
    assert tally.binary == (0.5 not in units)


def test_the_arms_of_a_table_keep_their_order_and_those_of_a_log_get_one() -> None:
    table = {"arm": ["10", "9", "b"], "events": [5, 5, 5], "successes": [1, 2, 3]}
    assert data.tally(table).tests[""].labels == ("10", "9", "b")
    assert data.tally({"arm": [10, 9, 11], "reward": [0, 1, 1]}).tests[""].labels == ("9", "10", "11")


def test_pieces_that_belong_to_different_tests_are_not_mixed() -> None:
    pieces = [FRAME.with_columns(test=pl.lit(name)) for name in ("one", "two")]
    for wanted in (data.Columns(), data.Columns(test="test")):
        assert data.tally(pieces, wanted).tests == {"one": TALLY, "two": TALLY}
    assert data.tally(pieces[0]).tests == {"one": TALLY}


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
    data.tally(path)
    assert len(collected) == 1
    assert "AGGREGATE" in collected[0]


@pytest.mark.parametrize("missing", [None, "", "  ", "nan", "NaN", "NULL", "<NA>"])
@pytest.mark.parametrize("key", ["arm", "test"])
def test_a_missing_name_is_no_arm(missing: str | None, key: str) -> None:
    log = FRAME.with_columns(test=pl.lit("t"))
    bad = log.with_columns(pl.when(pl.int_range(4) == 2).then(pl.lit(missing)).otherwise(pl.col(key)).alias(key))
    came = "nothing" if missing is None else repr(missing)
    for source in (bad, bad[1:3].select("test", "arm", events=1, successes="reward")):
        with pytest.raises(InvalidParameter, match=f"column '{key}': expected a name, got {came} in row"):
            data.tally(source, data.Columns(test="test"))


def test_a_number_that_is_none_is_no_arm() -> None:
    with pytest.raises(InvalidParameter, match="column 'arm': expected a name, got 'NaN' in row 2"):
        data.tally({"arm": [1.0, float("nan")], "reward": [0, 1]})
    assert data.tally({"arm": ["none", "NA"], "reward": [0, 1]}).tests[""].labels == ("NA", "none")


@pytest.mark.parametrize("twin", ["b ", " b", "b\u00a0", "b\u200b", "b\t"])
def test_names_that_look_alike_are_not_two_arms(twin: str, tmp_path: Path) -> None:
    both = re.escape(f"{'b'!r} and {twin!r}")
    parts = [FRAME, FRAME.with_columns(pl.col("arm").replace("b", twin))]
    for source in (pl.concat(parts), parts):
        with pytest.raises(InvalidParameter, match=f"column 'arm': expected one way to write each name, got {both}"):
            data.tally(source)
    with pytest.raises(InvalidParameter, match=f"expected one way to write each name, got {both}"):
        data.tally({"exp": ["b", "b", twin], "arm": [1, 2, 1], "reward": [0, 1, 1]}, data.Columns(test="exp"))
    table = {"arm": ["b", twin], "events": [5, 5], "successes": [1, 2]}
    with pytest.raises(InvalidParameter, match=f"expected one way to write each name, got {both}"):
        data.tally(table)
    with pytest.raises(InvalidParameter, match="expected one way to write each name, got"):
        data.read_test(pl.concat(parts), data.Columns())


def test_names_that_are_seen_to_differ_are_arms() -> None:
    with pytest.raises(InvalidParameter, match=r"got '1' and '1\.0'"):
        data.tally([{"arm": [1, 2], "reward": [0, 1]}, {"arm": [1.0], "reward": [1]}])
    for names in (["a", "A"], ["7", "007"], ["1.5", "1.50"], ["a b", "ab"], ["e\u0301", "e"], ["1e2", "100"]):
        assert set(data.tally({"arm": names, "reward": [0, 1]}).tests[""].labels) == {*names}


def test_a_log_that_looks_like_a_table_is_added_up_but_need_not_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = {"arm": ["a", "b", "a"], "views": [1, 1, 1], "clicks": [0, 1, 1]}
    found = data.tally(log)
    assert found.tests[""] == data.Tally(("a", "b"), (2, 1), (1, 1), (1, 1), True)
    assert found.notes == ("Rows of the same arm were added up: 3 rows, 2 arms.",)
    monkeypatch.setattr(tables, "MOST_ROWS", 2)
    with pytest.raises(InvalidParameter, match=r"expected at most 2 rows in a table of counts .*, got more"):
        data.tally(log)


def test_a_narrow_range_is_a_range() -> None:
    for low, high in ((0.0, 1e-300), (-1e-200, 1e-200), (1e6, 1e6 + 1e-9), (0.0, 49.0), (-0.1, 0.2)):
        log = {"arm": ["a", "a", "b"], "reward": [low, high, high]}
        assert data.tally(log, reward_range=(low, high)).tests[""] == data.Tally(
            ("a", "b"), (2, 1), (1, 1), (1, 1), True
        )
    inside = {"arm": ["a", "b"], "reward": [0.0, 1e-200]}
    assert data.tally(inside, reward_range=(-1e-200, 3e-200)).tests[""].totals == (0.25, 0.5)
    with pytest.raises(InvalidParameter, match="got 1e-200 in row 2"):
        data.tally(inside, reward_range=(-1e-200, 0.9e-200))
