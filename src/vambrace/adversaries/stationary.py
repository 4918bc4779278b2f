"""Attacks whose rule is the same in every round: they are written as `respond`, and this is their `alter`."""

from typing import Any

import numpy as np

from vambrace.kernel import Slot, kernel
from vambrace.protocols import Adversary
from vambrace.sampling import Stream, uniform

respond = Slot("respond")


@kernel
def alter(state: Any, t: int, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Any]:
    chance, altered = respond(state, view, arm, reward)
    if not 0.0 <= chance <= 1.0:
        return np.nan, state  # which the engine reports
    if chance >= 1.0 or (chance > 0.0 and uniform(rng) < chance):
        return altered, state
    return reward, state


class StationaryAdversary(Adversary):
    """A strong adversary that offers `respond`; both engines can run it."""

    strength = "strong"
    alter = staticmethod(alter)
