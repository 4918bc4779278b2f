"""Conceal: hide the best arm.

Setting     Strong; knows which arm is best (oracle means).
Algorithm   Return 0 whenever the concealed arm is pulled, while the budget lasts.   Theorem 1
Effect      Any policy suffers floor(C / e) (floor(K/2) - 1) e on some instance; e = 1 here (E14). A policy without
            armour drops or starves the best arm after a few hundred fake events.
Reading     With ``stop_when_dropped`` the attack looks into an eliminating policy and saves its money once the arm is
            out (white box).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from vambrace import validation
from vambrace.kernel import kernel
from vambrace.protocols import Adversary, Floats
from vambrace.sampling import Stream


class State(NamedTuple):
    """The arm to hide."""

    arm: int


@kernel
def alter(state: State, t: int, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, State]:
    return (0.0 if arm == state.arm else reward), state


@kernel
def alter_until_dropped(state: State, t: int, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, State]:
    return (0.0 if arm == state.arm and not view.arms.dropped[arm] else reward), state


@dataclass(frozen=True, kw_only=True)
class Conceal(Adversary):
    """Make the best arm look worthless.

    >>> import vambrace as vb
    >>> result = vb.simulate(vb.SE(), vb.Bernoulli([0.9, 0.8]), vb.Conceal(budget=300), horizon=20_000, seed=1)
    >>> int(result.pulls[0].argmax())
    1
    """

    name = "conceal"
    reference = "Theorem 1"
    strength = "strong"
    knowledge = "oracle means"

    budget: float = float("inf")
    arm: int | None = None  # None: the best
    stop_when_dropped: bool = False

    def __post_init__(self) -> None:
        validation.budget(self.budget)
        validation.optional_arm("arm", self.arm)
        validation.flag("stop_when_dropped", self.stop_when_dropped)

    @property
    def alter(self) -> Any:  # type: ignore[override]
        """The kernel: with or without a look at the policy."""
        return alter_until_dropped if self.stop_when_dropped else alter

    @property
    def reads(self) -> tuple[str, ...]:
        """The table of arms, where the attack is to stop in time."""
        return ("arms",) if self.stop_when_dropped else ()

    def init(self, means: Floats, horizon: int) -> State:
        """The best arm unless told otherwise."""
        return State(validation.arm("arm", self.arm, len(means), default=int(means.argmax())))
