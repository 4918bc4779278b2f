"""Goals: texts, scores from pulls, and arms for which they mean nothing."""

import numpy as np
import pytest

from vambrace.errors import InvalidParameter
from vambrace.redteam.goals import Goal

MEANS, PULLS = np.array([0.5, 0.9, 0.9, 0.1]), np.array([[1, 2, 3, 4], [0, 5, 5, 0], [0, 0, 0, 10]])


@pytest.mark.parametrize(
    ("text", "level", "scores"),
    [
        ("loss 50%", 0.5, [(0.4 + 3.2) / 8, 0.0, 1.0]),
        ("arm 2 90%", 0.9, [0.3, 0.5, 0.0]),
        ("best 10 %", 0.9, [0.5, 0.0, 1.0]),
        ("regret 3.5", 3.5, [3.6, 0.0, 8.0]),
    ],
)
def test_scores(text: str, level: float, scores: list[float]) -> None:
    goal = Goal.parse(text)
    assert goal.level == pytest.approx(level)
    assert goal.scores(MEANS, PULLS) == pytest.approx(scores)
    assert Goal.parse(goal) is goal


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("loss 50%", "lose half of all that can be lost", "lose 25.0 % of all that can be lost"),
        ("loss 12.5%", "lose 12.5 % of all that can be lost", "lose 25.0 % of all that can be lost"),
        ("arm 2 90%", "play arm 2 in 90 % of the rounds", "play arm 2 in 25.0 % of the rounds"),
        ("best 10%", "play the best arm in less than 10 % of the rounds", "play the best arm in 75.0 % of the rounds"),
        ("regret 5000", "lose 5,000", "lose 0"),
    ],
)
def test_words(text: str, words: str, found: str) -> None:
    assert Goal.parse(text).words == words
    assert Goal.parse(text).text(0.25) == found


@pytest.mark.parametrize("text", ["", "half", "loss 50", "arm 90%", "loss 101%", "regret -1", "arm x 90%", None])
def test_texts_that_are_no_goals(text: object) -> None:
    with pytest.raises(InvalidParameter, match=r"goal: expected "):
        Goal.parse(text)


def test_arms_for_which_a_goal_means_nothing() -> None:
    with pytest.raises(InvalidParameter, match=r"goal: arm: expected a whole number in \[0, 3\], got 4"):
        Goal.parse("arm 4 90%").check(MEANS)
    with pytest.raises(InvalidParameter, match=r"environment: expected arms that differ"):
        Goal.parse("loss 50%").check(np.array([0.5, 0.5]))
    Goal.parse("arm 1 90%").check(np.array([0.5, 0.5]))
