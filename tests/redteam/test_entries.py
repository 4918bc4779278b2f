"""Entries: what is written is what is read, and a mistake in a file is told with its place."""

from math import inf
from pathlib import Path

import pytest

from small_board import entry, score
from vambrace.errors import InvalidParameter
from vambrace.redteam.entries import Broken, Figure, read, write


def test_what_is_written_is_read(tmp_path: Path) -> None:
    endless = Broken(attack="none", budgets=(1.5, 2.0), events=Figure(inf, 80.0, inf))
    odd = entry('quote " and \\ and é', tiny=score(1.0, 2.25, 3.0, 1e-7), small=score(0.0, 0.1, 0.2, 0.3))
    odd = odd.model_copy(
        update={"contests": {**odd.contests, "small": odd.contests["small"].model_copy(update={"breakdown": endless})}}
    )
    write(odd, tmp_path / "odd.toml")
    assert read(tmp_path / "odd.toml") == odd
    text = (tmp_path / "odd.toml").read_text(encoding="utf-8")
    assert "events = [inf, 80.0, inf]" in text
    assert [*tmp_path.iterdir()] == [tmp_path / "odd.toml"]


def test_an_entry_without_contests(tmp_path: Path) -> None:
    write(entry("new"), tmp_path / "new.toml")
    assert read(tmp_path / "new.toml") == entry("new")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "a"', "name = a", r"a.toml: expected a TOML file, got Invalid value"),
        ('name = "a"', "", r"a.toml: name: expected a value, got none"),
        ('name = "a"', 'nam = "a"', r"a.toml: name: expected a value, got none"),
        ('name = "a"', 'name = "a"\nstars = 5', r"a.toml: stars: expected no such key, got 5"),
        ("rounds = 150", 'rounds = "many"', r"a.toml: contests.tiny.rounds: expected a valid integer.*, got 'many'"),
        ("regret = [1.0, 0.0, 2.0]", "regret = [1.0, -1.0, 2.0]", r"contests.tiny.regret.1: expected greater than or"),
        ("regret = [1.0, 0.0, 2.0]", "regret = [1.0, 0.0]", r"contests.tiny.regret"),
        ("regret = [1.0, 0.0, 2.0]", "regret = [nan, 0.0, 2.0]", r"contests.tiny.regret.0: expected .*, got nan"),
        ("budget = 10.0", "budget = 0", r"contests.tiny.attacks.0.budget: expected greater than 0, got 0"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "a.toml"
    write(entry("a", tiny=score(1.0, 2.0, 3.0, 4.0)), path)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidParameter, match=message):
        read(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameter, match=r"a.toml: expected a TOML file, got 'utf-8' codec"):
        read(tmp_path / "a.toml")
