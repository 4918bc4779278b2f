"""The leaderboard of the documentation: its pages are what the entries say, and the entries come again."""

import re
from pathlib import Path

import pytest

import board as study
import pages
from vambrace.redteam import board, leaderboard
from vambrace.redteam.contests import CONTESTS
from vambrace.redteam.entries import Entry, read, write

PAGE = (pages.DOCS / "leaderboard.md").read_text(encoding="utf-8")
ENTRIES = board.load(study.FOLDER)


def test_the_pages_say_what_the_entries_say() -> None:
    assert pages.between(PAGE, study.MARK, study.page(ENTRIES)) == PAGE, "python studies/board.py --pages-only"
    html = (pages.DOCS / "assets" / "leaderboard.html").read_text(encoding="utf-8")
    assert board.answer(board.overall(ENTRIES)) in html.replace("\u00a0", " ")
    assert html.count("<tr>") == len(board.overall(ENTRIES)) + sum(len(each.contests) for each in ENTRIES) + 6


def test_every_contest_is_described() -> None:
    for contest in CONTESTS.values():
        row = re.search(rf"^\| {contest.title} \| (.*?) \|", PAGE, re.MULTILINE)
        assert row is not None
        shown = [float(each) for each in re.findall(r"[\d.]+", row[1])]
        assert shown == pytest.approx([*contest.means[: len(shown) - 1], contest.means[-1]])


@pytest.mark.parametrize("path", sorted(study.FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_an_entry_belongs_to_the_board(path: Path) -> None:
    entry = read(path)
    assert path == study.path_of(entry.name)
    assert study.wanted()[entry.name] == entry.bandit
    for name, score in entry.contests.items():
        assert leaderboard._rules(name, score) == []


def test_the_figures_of_an_entry_come_again(tmp_path: Path) -> None:
    whole = read(study.path_of("ucb1"))
    write(whole.model_copy(update={"contests": {"two": whole.contests["two"]}}), tmp_path / "ucb1.toml")
    assert leaderboard.mistakes(tmp_path / "ucb1.toml") == []


@pytest.mark.slow  # about three minutes
@pytest.mark.parametrize("entry", [each for each in ENTRIES if ".py:" not in each.bandit], ids=lambda each: each.name)
def test_the_figures_of_all_our_policies_come_again(entry: Entry) -> None:
    assert leaderboard.mistakes(study.path_of(entry.name)) == []
