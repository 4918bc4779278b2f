"""Tables that lose nothing, however narrow the terminal is."""

import pytest

from command_line import widest
from vambrace.cli import common

COLUMNS = ("arm", "events", "names")
ROWS = (("[old]", "12", "one two three four five six seven eight nine ten"), ("ネコ\x1b[2J", "3", "eleven"))


def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str) -> str:
    monkeypatch.setenv("COLUMNS", columns)
    common.print_table("a title", COLUMNS, ROWS)
    return capsys.readouterr().out


def test_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(monkeypatch, capsys, "100").splitlines()
    assert lines[0] == "a title"
    assert [line.rstrip() for line in lines[2:6]] == [
        "arm          events  names",
        "───────────  ──────  ────────────────────────────────────────────────",
        "[old]        12      one two three four five six seven eight nine ten",
        "ネコ\\x1b[2J  3       eleven",  # two columns each
    ]


def test_the_last_column_is_wrapped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(monkeypatch, capsys, "60")
    assert widest(text) <= 60
    assert "one two three four five six seven eight\n" + " " * 21 + "nine ten\n" in text


def test_the_cells_of_a_row_below_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(monkeypatch, capsys, "50") == (
        "a title\n\n"
        "[old]\n    events  12\n    names   one two three four five six seven eight nine ten\n"
        "ネコ\\x1b[2J\n    events  3\n    names   eleven\n\n"
    )


def test_a_table_in_a_pipe_has_its_rows_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    common.print_table("", COLUMNS, [("x" * 90, "1", "y" * 90)])
    assert f"{'x' * 90}  1       {'y' * 90}\n" in capsys.readouterr().out
