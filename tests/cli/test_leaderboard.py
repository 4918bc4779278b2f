"""The command of the leaderboard."""

import json
from pathlib import Path

import pytest

from command_line import MINE, Run, assert_mistake
from small_board import entry, score, small_board
from vambrace.redteam.entries import read, write

__all__ = ["small_board"]
pytestmark = pytest.mark.usefixtures("small_board")


def test_enter_check_and_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE, encoding="utf-8")
    done = run("leaderboard", "enter", "mine.py:Mine", "--entries", "entries", "--title", "my own")
    assert done.code == 0
    assert "The entry: entries/mine-mine.toml" in done.out
    assert done.out.split().count("Tiny") == 1
    found = read(Path("entries/mine-mine.toml"))
    assert (found.name, found.bandit, [*found.contests]) == ("my own", "../mine.py:Mine", ["tiny", "small"])
    assert "1 entry played again: every figure agrees." in run("leaderboard", "check", "--entries", "entries").out
    assert run("leaderboard", "check", "mine-mine.toml", "--entries", "entries").code == 0
    done = run("leaderboard", "--entries", "entries", "--html", "board.html")
    assert done.out.startswith("Of 1 bandit, my own loses least")
    assert "my own" in Path("board.html").read_text(encoding="utf-8")
    (entry,) = json.loads(run("leaderboard", "page", "--entries", "entries", "--json").out)
    assert entry["name"] == "my own"


def test_check_fails_where_a_figure_is_forged(run: Run, tmp_path: Path) -> None:
    write(entry("ucb1", tiny=score(1, 2, 3, 4)), tmp_path / "forged.toml")
    done = run("leaderboard", "check", str(tmp_path / "forged.toml"))
    assert done.code == 1
    assert "forged.toml: tiny: worst regret at 100: expected " in done.out
    assert json.loads(run("leaderboard", "check", str(tmp_path / "forged.toml"), "--json").out)["entries"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ["enter"],
        ["enter", "ucb1", "moss", "--title", "two"],
        ["enter", "nothing.py:Mine"],
        ["check"],
        ["pge"],
        ["page", "--entries", "nowhere"],
        ["page", "ucb1"],
        ["page", "--html", "board.pdf"],
    ],
)
def test_mistakes(run: Run, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_mistake(run("leaderboard", *words))
