"""Attacks whose rule stays the same while the policy does: they define `respond`; `alter` is derived from it here."""

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np

from vambrace.engine.slots import LOOK, look, respond
from vambrace.kernels import interpreted, kernel
from vambrace.parameters import AttackBudget
from vambrace.protocols import Adversary, Round, Stream
from vambrace.sampling import uniform
from vambrace.signatures import Alter


@kernel
def alter(state: Any, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Any]:
    if LOOK:
        state = look(state, round, view)
    chance, altered = respond(state, view, arm, reward)
    if not 0.0 <= chance <= 1.0:
        return np.nan, state  # the engine reports it
    if chance >= 1.0 or (chance > 0.0 and uniform(rng) < chance):
        return altered, state
    return reward, state


@dataclass(frozen=True, kw_only=True)
class StationaryAdversary(Adversary):
    """A strong attack that defines `respond`; both engines can run it.

    Args:
        budget: What it may spend in total.
    """

    strength: ClassVar[Literal["strong", "medium", "injecting"]] = "strong"

    budget: AttackBudget = inf

    @property
    def alter(self) -> Alter:  # type: ignore[override]
        """Apply `respond`, round by round."""
        return interpreted(alter, {"respond": self.respond, "look": self.look, "LOOK": self.look is not None})
