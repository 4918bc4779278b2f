"""Tables that lose nothing, however narrow the terminal is."""

from pathlib import Path

import pytest

import own_file
from command_line import Run, assert_mistake, widest
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


OWN: dict[str, list[str]] = {
    "simulate": ["mine.py:my-greedy", "--attack", "mine.py:Slander:budget=5", "--replications", "2"],
    "attack": ["mine.py:Greedy", "--budgets", "5", "--attack", "mine.py:slander", "--replications", "2"],
}


@pytest.mark.parametrize("name", OWN)
def test_a_file_of_the_user_is_named_like_anything_else(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(own_file.TEXT, encoding="utf-8")
    done = run(name, *OWN[name], "--env", "mine.py:up-to:tops=1/0.5", "--horizon", "200", "--threads", "1")
    assert (done.code, done.err) == (0, "")
    assert "mine.py:" in done.out
    twice = run("attack", "ucb1", "--means", "0.9,0.5", "--budgets", "5", "--attack", "mine.py:Slander:budget=3")
    assert "both set the budget; drop budget=3 from --attack" in twice.err
    assert_mistake(run("simulate", "mine.py:Greed", "--means", "0.9,0.5"))
