"""The page of the leaderboard: the answer first, ranked, sortable, quiet in a browser, and whole without a script."""

import re
from math import inf
from pathlib import Path

import pytest

from browser import Visitor
from small_board import entry, score, small_board
from vambrace.redteam.entries import Figure
from vambrace.report import leaderboard

__all__ = ["small_board"]
pytestmark = pytest.mark.usefixtures("small_board")
A = entry("a", tiny=score(1, 9, 30, 31), small=score(1, 2, 60, 60, events=Figure(inf, 80.0, inf)))
B = entry("b:x=1,y=2", tiny=score(5, 6, 20, 99), small=score(9, 9, 50, 70, events=Figure(3.0, 2.0, 4.0)))
C = entry("<c>", tiny=score(0, 1, 10, 100, events=Figure(0.0, 0.0, 0.0)))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    leaderboard.save([A, B, C], tmp_path / "board.html", made_by="test 1")
    return tmp_path / "board.html"


def names(text: str) -> list[list[str]]:
    tables = re.findall(r"<tbody>(.*?)</tbody>", text, re.DOTALL)
    return [re.findall(r'<th scope="row">(.*?) <small>', each) for each in tables]


def test_without_a_script_all_is_there_and_ranked(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\u200b", "")
    assert names(text) == [["b:x=1,y=2", "a"], ["&lt;c&gt;", "b:x=1,y=2", "a"], ["b:x=1,y=2", "a"]]
    body = text.partition("<script>")[0]
    assert "<h1>Of 2 bandits, b:x=1,y=2 loses least to the worst attacks that were found" in body
    assert "not all contests are played yet: &lt;c&gt;." in body
    for cell in ("20 <small>[19, 21]</small>", "0 <small>by itself</small>", ">not found<", "3 <small>[2, 4]</small>"):
        assert cell in body
    assert body.count('scope="col"') == 6 + 2 * 7
    assert "<button" not in body


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_quiet(visit: Visitor, page: Path, width: int, dark: bool) -> None:
    seen = visit(page.as_uri(), width=width, dark=dark)
    seen.page.click("details summary")
    assert (seen.complaints, seen.elsewhere) == ([], [])
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_heading_sorts_its_table_by_numbers_and_back(visit: Visitor, page: Path) -> None:
    seen = visit(page.as_uri())
    seen.page.click("#tiny summary")
    rows = "#tiny tbody th"

    def order(heading: str) -> list[str]:
        seen.page.click(f"#tiny th button:text-is('{heading}')")
        return [each.partition("\u200b")[0].split()[0] for each in seen.page.locator(rows).all_inner_texts()]

    assert order("1,000 fakes") == ["a", "b:", "<c>"]  # 31, 99, 100: as texts 100 would come first
    assert order("1,000 fakes") == ["<c>", "b:", "a"]
    assert order("no attack") == ["<c>", "a", "b:"]
    assert order("bandit") == ["<c>", "a", "b:"]
    sorted_by = seen.page.locator("#tiny th[aria-sort]")
    assert sorted_by.all_inner_texts() == ["bandit ▲"] or sorted_by.count() == 1
    assert order("breaks with") == ["<c>", "a", "b:"]
    assert seen.complaints == []
