"""A leaderboard of two tiny contests with short searches, for tests."""

from collections.abc import Iterator

import pytest

from vambrace.redteam import measuring
from vambrace.redteam.contests import CONTESTS, Contest
from vambrace.redteam.entries import Attacked, Broken, Entry, Figure, Score
from vambrace.redteam.search import Effort

TINY = (
    Contest("tiny", "Tiny", (0.9, 0.2), "for tests", rounds=150),
    Contest("small", "Small", (0.8, 0.5, 0.1), "for tests", rounds=100),
)


@pytest.fixture
def small_board(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two tiny contests instead of five, and searches of a few games."""
    before = dict(CONTESTS)
    CONTESTS.clear()
    CONTESTS.update({each.name: each for each in TINY})
    monkeypatch.setattr(measuring, "FIXED", ())
    monkeypatch.setattr(measuring, "SEARCH", (Effort(40, 8, 0), Effort(30, 8, 0)))
    monkeypatch.setattr(measuring, "BREAKING", Effort(24, 8, 0))
    yield
    CONTESTS.clear()
    CONTESTS.update(before)  # in their order


def figure(value: float, wide: float = 1.0) -> Figure:
    return Figure(value, max(0.0, value - wide), value + wide)


def score(clean: float, *worst: float, events: Figure | None = None) -> Score:
    """A score that nobody played: the regret without attack, and the worst at 10, 100 and 1,000."""
    attacks = [
        Attacked(budget=budget, attack=f"conceal:budget={budget}", regret=figure(regret))
        for budget, regret in zip((10, 100, 1000), worst, strict=True)
    ]
    return Score(
        arms="bernoulli:means=0.9/0.2",
        rounds=150,
        games=8,
        seed=2026,
        version="test",
        regret=figure(clean),
        attacks=tuple(attacks),
        breakdown=Broken(attack="none", budgets=(), events=events or figure(20.0, 5.0)),
    )


def entry(name: str, **contests: Score) -> Entry:
    return Entry(name=name, bandit=name, library="vambrace", contests=contests)
