"""The pages of a search and of a break-down point: the answer first, quiet in a browser, narrow and wide."""

from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from browser import Visitor
from vambrace.report import attacks

ENVIRONMENT = vb.Bernoulli([0.9, 0.5])
OPTIONS: dict[str, Any] = {"horizon": 500, "effort": "quick", "attacks": [vb.Conceal()]}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in ("search", "break", "safe")}
    report = vb.red_team(vb.UCB1(), ENVIRONMENT, budgets=[5, 30], games=60, **OPTIONS)
    attacks.save(report, found["search"], made_by="test 1")
    attacks.save_breakdown(vb.breakdown(vb.UCB1(), ENVIRONMENT, **OPTIONS), found["break"], made_by="test 1")
    never = vb.breakdown(vb.UCB1(), ENVIRONMENT, goal="regret 100000", **OPTIONS | {"horizon": 10})
    attacks.save_breakdown(never, found["safe"], made_by="test 1")
    return found


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("search", "With 30 fake events ucb1 loses "),
        ("break", " make ucb1 lose half of all that can be lost in 500 rounds."),
        ("safe", "No attack of the search made ucb1 lose 1e+05 in 10 rounds."),
    ],
)
def test_the_answer_comes_first_and_the_page_is_quiet(
    visit: Visitor, pages: dict[str, Path], name: str, heading: str, width: int
) -> None:
    seen = visit(pages[name].as_uri(), width=width)
    if name != "safe":
        seen.page.wait_for_selector("body[data-drawn='1']")
    assert heading in seen.page.inner_text("h1")
    assert (seen.complaints, seen.elsewhere) == ([], [])
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    body = seen.page.inner_text("body")
    assert "always plays the worst arm" in body
    assert ("conceal:budget=" in body or "script:budget=" in body) == (name != "safe")
