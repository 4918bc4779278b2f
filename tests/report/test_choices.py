"""The page of a choice."""

import re
from pathlib import Path

import pytest

import vambrace as vb
from browser import Visitor, chromium, visit  # noqa: F401
from vambrace.redteam.choice import DEARER, Armour, Score
from vambrace.report import choices

LONG = "se-wr-stop:budget=1000,radius=tight"


def choice(*, dearer: bool = False) -> vb.Choice:
    """A choice with made up figures, whose names are as long as they get."""
    numbers = (0.0, 100.0, 1000.0)
    scores = [
        Score(
            policy=policy,
            fakes=fakes,
            regret=1_000.0 * (k + 1),
            standard_error=12.0,
            attack="exponential-threshold",
            spent=min(fakes, 100.0),
            behind=1_000.0 * k,
            behind_error=17.0,
        )
        for k, policy in enumerate(("thompson", LONG))
        for fakes in numbers
    ]
    costs = {"cost": 1_000.0, "cost_error": 17.0, "damage": 500.0, "damage_error": 5.0, "helps": True}
    armour = [
        Armour(fakes=fakes, armoured=LONG, plain="thompson", **costs, dearer=dearer)  # type: ignore[arg-type]
        for fakes in numbers[1:]
    ]
    return vb.Choice(
        winners=dict.fromkeys(numbers, "thompson"),
        unknown="thompson",
        excess=0.0,
        unknown_promised=False,
        scores=tuple(scores),
        armour=tuple(armour),
        unpromised=numbers[1:],
        random=9_000.0,
        means=(0.03, 0.02),
        horizon=10**6,
        fakes=numbers,
        replications=40,
        seed=0,
        standing=("thompson", LONG),
        others={"ms-se-wr:share=true,radius=tight": (5_000.0, 6_000.0, 7_000.0)},
        policies=("thompson", LONG, "ms-se-wr:share=true,radius=tight"),
        attacks=("conceal", "exponential-threshold"),
    )


def test_the_page_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    choices.save(choice(dearer=True), tmp_path / "x.html", made_by="vambrace 1", source="<b>.csv")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    for part in ("use thompson", "&lt;b&gt;.csv", DEARER, "vambrace 1", "left out on the way"):
        assert part in text
    assert "<b>" not in text
    assert not re.search(r"<(script|link|img|iframe)|https?://", text)
    assert text.count("<th ") == text.count('<th scope="')
    choices.save(choice(), tmp_path / "x.html", made_by="vambrace 1")
    assert DEARER not in (tmp_path / "x.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_browser_shows_it_without_complaint(
    visit: Visitor,  # noqa: F811
    tmp_path: Path,
    width: int,
    dark: bool,
) -> None:
    choices.save(choice(dearer=True), tmp_path / "x.html", made_by="m")
    seen = visit((tmp_path / "x.html").as_uri(), width=width, dark=dark)
    assert (seen.complaints, seen.elsewhere) == ([], [])
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
