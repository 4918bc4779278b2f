"""Attacks whose rule stays the same while the policy does: they define `respond`; `alter` is derived from it here."""

from functools import cache
from typing import Any

import numpy as np

from vambrace.kernels import kernel
from vambrace.protocols import Adversary, Round
from vambrace.sampling import Stream, uniform
from vambrace.signatures import Alter


@cache
def altering(respond: Any, look: Any) -> Alter:
    """The `alter` that follows from a rule."""

    @kernel
    def follow(state: Any, view: Any, arm: int, reward: float, rng: Stream) -> tuple[float, Any]:
        chance, altered = respond(state, view, arm, reward)
        if not 0.0 <= chance <= 1.0:
            return np.nan, state  # the engine reports it
        if chance >= 1.0 or (chance > 0.0 and uniform(rng) < chance):
            return altered, state
        return reward, state

    if look is None:

        @kernel
        def alter(state: Any, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Any]:
            return follow(state, view, arm, reward, rng)

        return alter

    @kernel
    def look_and_alter(state: Any, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Any]:
        return follow(look(state, round, view), view, arm, reward, rng)

    return look_and_alter


class StationaryAdversary(Adversary):
    """A strong attack that defines `respond`; both engines can run it."""

    strength = "strong"

    @property
    def alter(self) -> Alter:  # type: ignore[override]
        """Apply `respond`, round by round."""
        rule: tuple[Any, Any] = self.respond, self.look
        return altering(*rule)
