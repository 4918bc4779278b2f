"""The board: ranked by the worst regret at 100 fake events, with the ratio to the price of armour."""

from math import inf
from pathlib import Path

import pytest

from small_board import TINY, entry, figure, score, small_board
from vambrace.errors import InvalidParameter
from vambrace.redteam import board
from vambrace.redteam.entries import Figure, write

__all__ = ["small_board"]
pytestmark = pytest.mark.usefixtures("small_board")
A = entry("a", tiny=score(1, 9, 30, 31), small=score(1, 2, 60, 60))
B = entry("b", tiny=score(5, 6, 20, 99), small=score(9, 9, 50, 70, events=Figure(3.0, 2.0, 4.0)))
C = entry("c", tiny=score(0, 1, 10, 100))


def test_contests_are_ranked_by_the_worst_regret_at_100() -> None:
    assert [row.entry.name for row in board.ranked([A, B, C], TINY[0])] == ["c", "b", "a"]
    assert [row.entry.name for row in board.ranked([A, B, C], TINY[1])] == ["b", "a"]


def test_shares_are_of_all_that_can_be_lost() -> None:
    """Tiny: 150 rounds with a largest gap of 0.7, that is 105. Small: 100 with 0.7, that is 70."""
    (row,) = board.overall([A, C])
    assert row.entry is A
    assert row.regret is None
    assert row.lost[100].value == pytest.approx((30 / 105 + 60 / 70) / 2)
    assert row.lost[0].value == pytest.approx((1 / 105 + 1 / 70) / 2)
    wide = ((1 / 105) ** 2 + (1 / 70) ** 2) ** 0.5 / 2
    assert row.lost[100].high - row.lost[100].value == pytest.approx(wide)


def test_the_whole_board_takes_those_who_played_all_and_the_least_break_down() -> None:
    rows = board.overall([A, B, C])
    assert [row.entry.name for row in rows] == ["b", "a"]
    assert rows[0].broken == Figure(3.0, 2.0, 4.0)


def test_the_ratio_is_regret_over_price() -> None:
    """Two worse arms, so the price of surviving 20 [15, 25] is 40 [30, 50]; the regret is 8 [7, 9]."""
    assert board.ratio(score(8, 8, 8, 8), TINY[1]) == pytest.approx((8 / 40, 7 / 50, 9 / 30))
    for events in (figure(0.0, 0.0), Figure(inf, 80.0, inf)):
        assert board.ratio(score(8, 8, 8, 8, events=events), TINY[1]) is None
    assert board.ratio(score(8, 8, 8, 8, events=Figure(2.0, 0.0, inf)), TINY[1]) == (2.0, 0.0, inf)


def test_the_answer_says_who_is_best_and_who_breaks_first() -> None:
    assert board.answer(board.overall([A, B, C])) == (
        "Of 2 bandits, b loses least to the worst attacks that were found: with 100 fake events 45 % of all that can "
        "be lost, on average over 2 contests; b breaks with 3 fake events."
    )
    assert board.answer([]) == "No bandit has played every contest yet."


def test_a_folder_without_entries_and_one_with_a_name_twice(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="entries: expected a folder with TOML files, got none in"):
        board.load(tmp_path / "nothing")
    write(A, tmp_path / "a.toml")
    assert board.load(tmp_path) == [A]
    write(A, tmp_path / "again.toml")
    with pytest.raises(InvalidParameter, match="entries: expected each name once, got 'a' twice"):
        board.load(tmp_path)
