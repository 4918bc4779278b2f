"""The study of tiny games: no attack is above the optimal one, and the simplest are near it."""

from pathlib import Path

import numpy as np
import pytest

import pages
import truth
import vambrace as vb
from vambrace.redteam.optimum import Optimum, optimal_attack


@pytest.mark.slow  # about four minutes
def test_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is measured, and may lie above the optimum by chance; the others are exact."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    games = truth.shares(60)
    searched = games.pop(truth.SEARCH)
    assert np.mean([*searched.values()]) > 0.95
    assert truth.above(searched) == 0
    found = {name: list(each.values()) for name, each in games.items()}
    assert all(-1e-9 < max(each) <= 1 + 1e-9 for each in found.values())
    assert np.mean(found["best of the nine scripts"]) > 0.95
    ahead = [np.mean(found[f"look ahead, {name}"]) for name in ("1 round", "3 rounds", "all rounds")]
    assert 0.6 < ahead[0] < ahead[1] < ahead[2] < 1.0


def test_games_are_tiny_and_the_same_every_time() -> None:
    first, again = list(truth.games(30)), list(truth.games(30))
    assert first == again
    assert all(8 <= game.horizon <= 14 and 1 <= game.budget <= 4 for game in first)
    assert {game.policy for game in first} == {*truth.VICTIMS}


def test_a_share_is_of_what_the_best_attack_adds() -> None:
    best = Optimum(3.0, 1.0, {})
    assert [truth.share(value, best) for value in (1.0, 2.0, 3.0)] == [0.0, 0.5, 1.0]
    game = truth.TinyGame(vb.UCB1(), (0.9, 0.5), 1, 8)
    swapped = game._replace(means=(0.5, 0.9))
    both = (optimal_attack(*game).regret + optimal_attack(*swapped).regret) / 2
    assert truth.optimum(game).regret == both


def test_what_was_measured_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    measured: list[int] = []

    def measure() -> dict[str, int]:
        measured.append(1)
        return {"regret": len(measured)}

    assert [pages.remembered("some", key, measure)["regret"] for key in ("a", "b", "a")] == [1, 2, 1]
    pages._known.cache_clear()  # as another process would find it
    assert pages.remembered("some", "b", measure)["regret"] == 2
