"""Excel files: sheets, titles above the header, and types of cells."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

import vambrace as vb
from small_log import FRAME, TALLY
from vambrace import data
from vambrace.errors import InvalidParameter

LOG: list[list[Any]] = [list(FRAME.columns), *map(list, FRAME.rows())]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                for column, field in enumerate(row):
                    if field is not None:
                        sheet.write(at, column, field)
    return path


def test_one_sheet_or_a_named_one(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", Results=LOG)
    assert data.tally(path).tests == data.tally(path, part=data.Part("Results")).tests == {"": TALLY}
    two = workbook(tmp_path / "two.xlsx", Notes=[["nothing"]], Results=LOG)
    assert data.tally(two, part=data.Part("Results")).tests == {"": TALLY}
    assert vb.Replay.from_file(file=str(two), sheet="Results").labels == ("a", "b")
    with pytest.raises(InvalidParameter, match=r"expected the name of one .* \(sheet\), got none; it has 'Notes', 'Re"):
        data.tally(two)
    with pytest.raises(
        InvalidParameter, match=r"sheet: expected one of the sheets of .*, got 'results'; it has 'Notes'"
    ):
        data.tally(two, part=data.Part("results"))
    with pytest.raises(
        InvalidParameter, match="expected a header with at least two columns, got none in sheet 'Notes'"
    ):
        data.tally(two, part=data.Part("Notes"))


def test_what_stands_above_and_below_the_table(tmp_path: Path) -> None:
    above: list[list[Any]] = [[], ["Report of July"], [None, None], []]
    path = workbook(tmp_path / "x.xlsx", Results=[*above, *LOG, [None, None], ["  "]])
    with pytest.raises(InvalidParameter, match="column 'arm': expected a name, got '  ' in row 6"):
        data.tally(path)
    path = workbook(tmp_path / "y.xlsx", Results=[*above, *([None, *row] for row in LOG), [], []])
    assert data.tally(path).tests == {"": TALLY}


def test_cells_keep_their_values(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["arm", "reward", "at"],
        [1, 1 / 3, datetime(2026, 1, 5)],
        [2, 0.1, datetime(2026, 1, 9)],
        [1, 1, "2026-01-07"],
    ]
    path = workbook(tmp_path / "x.xlsx", Results=[*rows[:3], [1, 1, datetime(2026, 1, 7)]])
    found = data.tally(path, data.Columns(time="at"))
    assert found.tests[""].labels == ("1", "2")
    assert found.tests[""].totals == (1 / 3 + 1, 0.1)
    assert [label for label, _ in found.over_time[""]] == ["2026-01-05", "2026-01-07", "2026-01-09"]
    mixed = workbook(tmp_path / "y.xlsx", Results=rows)
    assert [label for label, _ in data.tally(mixed, data.Columns(time="at")).over_time[""]][1] == "2026-01-07"


def test_a_stream_and_what_is_no_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", Results=LOG)
    with path.open("rb") as file, data.spooled(file, "standard input") as spooled:
        assert data.tally(spooled).tests == {"": TALLY}
    path.write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(InvalidParameter, match=r"x\.xlsx: expected an Excel workbook \(\.xlsx\), got calamine error"):
        data.tally(path)
