"""Which column means what; a doubt is an error."""

from pathlib import Path

import polars as pl
import pytest

from small_log import FRAME, READING, TALLY, read
from vambrace import data
from vambrace.data import columns
from vambrace.errors import InvalidParameter


def test_one_column_is_not_two() -> None:
    log = {"arm": [1, 2], "exp": [1, 1], "reward": [1, 0]}
    for arm, reward, group in (("arm", "reward", "arm"), ("arm", "arm", "exp"), ("arm", "exp", "exp")):
        with pytest.raises(InvalidParameter, match=r"dict: expected a column of its own for each use, got '(arm|exp)'"):
            data.tally(log, data.Columns(group, arm, reward))


def test_names_that_differ_in_case_only_can_both_be_named() -> None:
    log = {"Arm": ["x", "y"], "arm": ["a", "b"], "reward": [1, 0]}
    assert data.tally(log, data.Columns(arm="Arm")).tests[""].labels == ("x", "y")
    assert data.tally(log, data.Columns(arm="arm")).tests[""].labels == ("a", "b")


def test_the_page_lists_the_names_that_are_understood() -> None:
    page = (Path(__file__).parents[2] / "docs" / "certify.md").read_text(encoding="utf-8")
    for name in (*columns.ARMS, *columns.REWARDS, *columns.EVENTS, *columns.SUCCESSES):
        assert f"`{name}`" in page


def test_pieces_are_pieces_of_the_same(tmp_path: Path) -> None:
    other = FRAME.rename({"reward": "clicked"})
    with pytest.raises(
        InvalidParameter, match=r"dataframe: expected the columns of dataframe \(arm, reward; .*\), got arm, clicked"
    ):
        data.tally([FRAME, other])
    with pytest.raises(InvalidParameter, match=r"got arm, events, successes"):
        data.tally([FRAME, {"arm": ["a", "b"], "events": [5, 5], "successes": [1, 2]}])
    assert data.tally([FRAME, FRAME.rename({"arm": " ARM "})]).tests[""].events == (2, 6)


def test_no_column_is_in_the_way() -> None:
    names = ["row of the source", "row", "empty", "room", "number", "written", "total", "between", "len"]
    log = FRAME.with_columns(pl.lit(7).alias(name) for name in names)
    assert read(log) == READING
    assert data.read_test(log, data.Columns()) == (TALLY, None)
    assert data.read_test(log.with_columns(reward=pl.col("reward") / 4 + 0), data.Columns())[1] == (
        0.0,
        0.0,
        0.25,
        0.25,
    )
    with pytest.raises(InvalidParameter, match="got 9 in row 5"):
        data.tally(log.vstack(log[:1].with_columns(reward=pl.lit(9, pl.Int64))))
    table = pl.DataFrame({"arm": ["a", "b"], "events": [5, 6], "successes": [1, 2]})
    table = table.with_columns(pl.lit(7).alias(name) for name in names)
    assert data.tally(table).tests[""] == data.Tally(("a", "b"), (5, 6), (1, 2), (1, 2), True)
