"""What a learner knows of each arm, in words and numbers."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from vambrace.live.core import Core
from vambrace.live.events import Label

TAIL = 0.025  # each end of a plain interval is wrong with this probability
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ArmReport:
    """What a learner knows of one arm.

    Attributes:
        arm: Its label.
        status: "open"; "dropped": the policy will not play it again; "retired": you closed it.
        answers: The number of rewards that the policy has learned from.
        rate: Their mean; None: there are none.
        plain: The 95 % interval of the rate if nothing is fake; None: no answers yet.
        armoured: The interval that the policy itself works with, which no attack within its budget can move away from
            the true rate; None: it has none.
        share: The share of all decisions that played this arm.
        waiting: The number of its open decisions.
        needed: About how many more of its answers, at the present rates, until the policy drops it or puts it behind
            the best one; None: not known, or there is nothing to wait for.
    """

    arm: Label
    status: Literal["open", "dropped", "retired"]
    answers: int
    rate: float | None
    plain: Interval | None
    armoured: Interval | None
    share: float
    waiting: int
    needed: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a learner knows of each arm: what `Learner.explain` returns.

    Attributes:
        policy: The policy.
        decisions: The number of decisions so far.
        arms: A report for each arm.

    >>> import vambrace as vb
    >>> learner = vb.SEWR(budget=5, radius="tight").learner(arms=["old", "new"], horizon=10_000)
    >>> for _ in range(100):
    ...     decision = learner.ask()
    ...     _ = learner.tell(decision, reward=float(decision.arm == "new"))
    >>> print(learner.explain())
    """

    policy: str
    decisions: int
    arms: tuple[ArmReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self)


def explained(core: Core) -> Explanation:
    """What a learner knows of each arm."""
    return Explanation(core.policy.name, core.asked, ())
