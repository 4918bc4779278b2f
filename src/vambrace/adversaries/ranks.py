"""The arms that an attack needs to know: the two best ones, or the one that it promotes."""

import numpy as np

from vambrace import validation
from vambrace.protocols import Floats, Game


def two_best(means: Floats) -> tuple[int, int]:
    """The best arm and the runner-up, ties to the lowest index; twice the same arm if there is only one.

    >>> two_best(np.array([0.5, 0.9, 0.9]))
    (1, 2)
    """
    order = np.argsort(-means, kind="stable")
    return int(order[0]), int(order[:2][-1])


def promoted_arm(target: int | None, game: Game) -> int:
    """The given target, or the worst arm; black-box attacks use the means for nothing else."""
    return validation.arm("target", target, len(game.means), default=int(game.means.argmin()))
