"""Entries are measured, resumed, played again and compared; whoever changes a number is found out."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from small_board import small_board
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.redteam import leaderboard, measuring
from vambrace.redteam.entries import read
from vambrace.redteam.search import Search

__all__ = ["small_board"]
pytestmark = pytest.mark.usefixtures("small_board")
MINE = """
import random

from vambrace import UCB1

POLICY = UCB1(alpha=1)


class Mine:
    library = "mine 1.0"

    def __init__(self, n_arms, horizon, seed):
        self.paid, self.pulls, self.random = [1.0] * n_arms, [1] * n_arms, random.Random(seed)

    def ask(self):
        if self.random.random() < 0.1:
            return self.random.randrange(len(self.paid))
        means = [paid / pulls for paid, pulls in zip(self.paid, self.pulls)]
        return means.index(max(means))

    def tell(self, arm, reward):
        self.paid[arm] += reward
        self.pulls[arm] += 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "river.py").write_text(MINE, encoding="utf-8")  # the name of a library is no obstacle
    return tmp_path


KNOWN: dict[str, str] = {}


def entered(folder: Path) -> Path:
    """An entry of UCB1, which is measured once."""
    path = folder / "entry.toml"
    if not KNOWN:
        leaderboard.enter("ucb1", path)
        KNOWN["ucb1"] = path.read_text(encoding="utf-8")
    path.write_text(KNOWN["ucb1"], encoding="utf-8")
    return path


@pytest.mark.parametrize("text", ["ucb1", "river.py:Mine", "river.py:POLICY"])
def test_an_entry_is_measured_and_its_replay_agrees(folder: Path, text: str) -> None:
    path = folder / "entry.toml"
    entry = leaderboard.enter(text, path)
    assert read(path) == entry
    assert [*entry.contests] == ["tiny", "small"]
    assert entry.library == {"ucb1": "vambrace", "river.py:Mine": "mine 1.0", "river.py:POLICY": ""}[text]
    for name, score in entry.contests.items():
        assert leaderboard.replayed(entry, name, folder).figures() == score.figures()
        assert [each.budget for each in score.attacks] == [10, 100, 1000]
        worst = [each.regret.value for each in score.attacks]
        assert worst[2] > 3 * score.regret.value
        low, high = score.breakdown.events.low, score.breakdown.events.high
        assert low <= score.breakdown.events.value <= high
    assert leaderboard.mistakes(path) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"regret = \[(\d)", r"regret = [9\1", "tiny: regret without attack: expected "),
        (r"(budget = 100.0\n.*\nregret = \[)[\d.]+", r"\g<1>1.25", "tiny: worst regret at 100: expected .*, got 1.25 "),
        (r"(budget = 10.0\n.*\nregret = \[[\d.]+, )[\d.]+", r"\g<1>0.0", "tiny: worst regret at 10: expected "),
        (r"events = \[[\d.]+", "events = [9999.0", "tiny: break-down budget: expected .*, got 9,999 "),
        (r"(events = \[[\d.]+, )[\d.]+", r"\g<1>9999.0", "tiny: break-down budget: expected at most 1,?0"),
        (r"rounds = 150", "rounds = 149", "tiny: rounds: expected 150, got 149"),
        (r"means=0.9/0.2", "means=0.9/0.1", "tiny: arms: expected bernoulli:means=0.9/0.2, got"),
        (r"seed = 2026", "seed = 7", "tiny: seed: expected 2026, got 7"),
        (r"games = 8", "games = 2", "tiny: games: expected 8, got 2"),
        (r"budget = 1000.0", "budget = 999.0", "tiny: budgets: expected "),
        (r"contests\.tiny", "contests.tinny", "tinny: unknown contest 'tinny'; did you mean 'tiny'?"),
    ],
)
def test_a_forged_entry_is_caught(folder: Path, old: str, new: str, message: str) -> None:
    path = entered(folder)
    text = path.read_text(encoding="utf-8")
    forged = re.sub(old, new, text, count=0 if "contests" in old else 1)
    assert forged != text
    path.write_text(forged, encoding="utf-8")
    (mistake,) = leaderboard.mistakes(path)
    assert re.match(f"entry.toml: {message}", mistake)


def test_a_renewed_entry_has_the_figures_of_its_attacks(folder: Path) -> None:
    path = entered(folder)
    true = read(path)
    path.write_text(re.sub(r"regret = \[\d", "regret = [9", KNOWN["ucb1"]), encoding="utf-8")
    assert read(path) != true
    leaderboard.renew(path)
    assert read(path) == true


def test_a_weaker_attack_does_not_give_the_figures_of_the_stronger(folder: Path) -> None:
    path = entered(folder)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'(budget = 1000.0\nattack = )".*"', r'\1"none"', text), encoding="utf-8")
    assert [each.split(":")[2] for each in leaderboard.mistakes(path)] == [" worst regret at 1,000"] * 2


def test_a_resumed_run_plays_only_what_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, measured, asked = folder / "entry.toml", measuring.measured, []

    def stopped(policy: Any, contest: Any, **options: Any) -> Any:
        asked.append(contest.name)
        if asked == ["tiny", "small"]:
            raise KeyboardInterrupt
        return measured(policy, contest, **options)

    monkeypatch.setattr(leaderboard, "measured", stopped)
    with pytest.raises(KeyboardInterrupt):
        leaderboard.enter("ucb1", path)
    assert [*read(path).contests] == ["tiny"]
    shown: list[str] = []
    first, second = leaderboard.enter("ucb1", path, watch=shown.append), leaderboard.enter("ucb1", path)
    assert asked == ["tiny", "small", "small"]
    assert shown == ["small"]
    assert first == second == read(path)
    assert leaderboard.mistakes(path) == []


def test_a_file_of_another_bandit_is_not_overwritten(folder: Path) -> None:
    path = entered(folder)
    with pytest.raises(InvalidParameter, match=r"entry.toml: expected an entry of moss, got one of ucb1"):
        leaderboard.enter("moss", path)


def test_attacks_of_others_strengthen_an_entry(folder: Path) -> None:
    """An entry that knows no attack gets those of another one; a second time nothing changes."""
    path, other = entered(folder), folder / "other.toml"
    leaderboard.enter("moss", other)
    honest = read(path).contests["tiny"].worst(1000).value
    attack = r'(budget = \d+.0\nattack = )".*"'
    path.write_text(re.sub(attack, r'\1"none"', path.read_text(encoding="utf-8")), encoding="utf-8")
    assert leaderboard.strengthen(path, [read(other)]) >= 4
    assert read(path).contests["tiny"].worst(1000).value > 0.9 * honest
    assert leaderboard.mistakes(path) == []
    assert leaderboard.strengthen(path, [read(other)]) == 0


def test_a_break_down_budget_above_an_attack_that_is_enough_is_searched_for_anew(folder: Path) -> None:
    path = entered(folder)
    breakdown = r"(\[contests.tiny.breakdown\]\n)attack = .*\nbudgets = .*\nevents = .*"
    nothing = r'\1attack = "none"\nbudgets = []\nevents = [inf, inf, inf]'
    forged = re.sub(breakdown, nothing, path.read_text(encoding="utf-8"))
    path.write_text(forged, encoding="utf-8")
    (mistake,) = leaderboard.mistakes(path)
    assert "tiny: break-down budget: expected at most 10" in mistake
    assert leaderboard.strengthen(path, []) == 0
    assert leaderboard.mistakes(path) == []
    assert read(path).contests["tiny"].breakdown.events.value < 1000


def test_plain_python_meets_the_attacks_of_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {each.attack for score in read(entered(folder)).contests.values() for each in score.attacks}
    met: set[str] = set()
    run: Callable[..., Any] = Search.run

    def watched(self: Any, budget: float) -> Any:
        met.update(spec_of(each) for each in self.winners)
        return run(self, budget)

    monkeypatch.setattr(Search, "run", watched)
    leaderboard.enter("river.py:Mine", folder / "mine.toml")
    assert {each for each in ours if each.startswith("script") and "stop" not in each} <= met
