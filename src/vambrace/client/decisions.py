"""Decisions of a service, and those that are made without it while it is away."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from vambrace import validation
from vambrace.errors import InvalidParameter

DEFAULT: Final = "default"  # the outcome of telling a default decision, and how its id begins

RemoteOutcome = Literal["applied", "duplicate", "conflict", "late", "unknown", "default"]


@dataclass(frozen=True, slots=True)
class RemoteDecision:
    """An arm to play: what `RemoteLearner.ask` returns and `RemoteLearner.tell` needs back.

    Attributes:
        id: A text that nobody can guess, given once. Store it with the event: `tell` accepts it too.
        arm: The label of the arm to play.
        probability: The probability with which the policy chose this arm; None: unknown.
        round: The number of this decision, from one; 0 for a default decision.
        is_default: Whether the service was away, and this is the arm that you gave as `default`. Nothing is learned
            from its answer.

    >>> import vambrace as vb
    >>> vb.connect("http://127.0.0.1:9", "headlines", default="old", patience=0.1).ask().is_default
    True
    """

    id: str
    arm: Any
    probability: float | None
    round: int
    is_default: bool = False


def id_of(decision: RemoteDecision | str) -> str:
    """The id of a decision, or the id itself."""
    key = decision.id if isinstance(decision, RemoteDecision) else decision
    if not isinstance(key, str):
        raise InvalidParameter(f"decision: expected a decision or its id, got {decision!r}")
    return key


def reward_of(value: float) -> float:
    """A reward that a service accepts; checked here, so that one mistake does not refuse a whole batch."""
    return validation.number("reward", value, low=0.0, high=1.0)


def is_default(key: str) -> bool:
    """Whether an id is of a decision that no service knows."""
    return key.startswith(f"{DEFAULT}-")
