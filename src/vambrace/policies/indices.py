"""The arm with the largest index, where an arm's index depends on its own rewards only: MOSS, UCB-WR, CW-OFUL, greedy.

An answer then moves one index, mostly the leader's, and the leader stays as long as it is above the best of the others.
"""

from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Floats, Integers


class Board(NamedTuple):
    """An index for each arm; infinite for one that has no answer yet, so that it comes first."""

    indices: Floats
    leader: int  # the largest index, ties to the lowest arm
    rival: float  # the largest index of the others


def make_board(n_arms: int) -> Board:
    """No answers."""
    return Board(np.full(n_arms, np.inf), leader=0, rival=np.inf)


@kernel
def posted(board: Board, arm: int, index: float) -> Board:
    """The board with a new index for one arm."""
    board.indices[arm] = index
    if arm == board.leader and index > board.rival:
        return board
    return _ranked(board.indices)


@rare_kernel
def _ranked(indices: Floats) -> Board:
    leader, highest, rival = 0, -np.inf, -np.inf
    for k in range(len(indices)):
        index = indices[k]
        if index > highest:
            leader, highest, rival = k, index, highest
        elif index > rival:
            rival = index
    return Board(indices, leader, rival)


@kernel
def mean_so_far(totals: Floats, counts: Integers, arm: int) -> float:
    """The mean of an arm's answers, zero if there are none."""
    return totals[arm] / counts[arm] if counts[arm] > 0 else 0.0
