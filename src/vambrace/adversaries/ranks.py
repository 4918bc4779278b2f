"""The arms that an attack needs to know: the best ones, which it hides, or the one that it promotes."""

from typing import Annotated

import numpy as np

from vambrace import validation
from vambrace.parameters import Range
from vambrace.protocols import Flags, Floats, Game

HowMany = Annotated[int, Range(1, validation.MOST_ROUNDS)]
TIE = 1e-9  # means that differ by less are equal


def best_arms(means: Floats, count: int = 1) -> Flags:
    """Which arms are the `count` best, or as good as the last of these; never the worst arm, nor one that is as bad.

    >>> best_arms(np.array([0.5, 0.9, 0.9])).tolist()
    [False, True, True]
    >>> best_arms(np.array([0.9, 0.8, 0.7, 0.7]), 3).tolist()
    [True, True, False, False]
    """
    level = np.sort(means)[::-1][:count][-1]
    flags: Flags = (means > level - TIE) & (means > means.min() + TIE)
    return flags


def best_of_the_others(means: Floats, arms: Flags) -> int:
    """The best arm that is not among these, ties to the lowest index; -1 if there is none.

    >>> best_of_the_others(np.array([0.5, 0.9, 0.9]), np.array([False, True, True]))
    0
    """
    return int(np.where(arms, -np.inf, means).argmax()) if arms.any() and not arms.all() else -1


def promoted_arm(target: int | None, game: Game) -> int:
    """The given target, or the worst arm; black-box attacks use the means for nothing else."""
    return validation.arm("target", target, len(game.means), default=int(game.means.argmin()))
