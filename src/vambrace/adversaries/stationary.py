"""Attacks whose rule stays while the policy does: they are written as `respond`, and this is their `alter`."""

from typing import Any

import numpy as np

from vambrace.kernels import Slot, kernel
from vambrace.protocols import Adversary
from vambrace.sampling import Stream, uniform

respond, look = Slot("respond"), Slot("look")
LOOK: Any = Slot("LOOK")


@kernel
def alter(state: Any, t: int, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Any]:
    if LOOK:
        state = look(state, t, view)
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
