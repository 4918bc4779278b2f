"""The best arm and the second best: what attacks on the best arm need to know."""

import numpy as np

from vambrace.protocols import Floats


def two_best(means: Floats) -> tuple[int, int]:
    """The best arm and the runner-up, ties to the lowest index; twice the same arm if there is only one.

    >>> two_best(np.array([0.5, 0.9, 0.9]))
    (1, 2)
    """
    best = int(means.argmax())
    others = means.copy()
    others[best] = -np.inf
    return best, int(others.argmax())
