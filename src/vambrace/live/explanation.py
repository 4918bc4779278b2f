"""What a learner knows of each arm, in words and numbers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import log
from typing import Any, Literal

from vambrace.live.events import Label
from vambrace.live.knowledge import Knowledge, Record
from vambrace.statistics import least_chance

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
        needed: About how many more of its answers, at the present rates, until it falls behind: until the policy drops
            it, or its armoured interval is below the best rate. 0: it is behind. None: not known, or it is the best.
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
    se-wr after 100 decisions
    arm  answers     rate  95 % if none is fake           armoured  share  status   waits for
    old       28    0.00%       0.00% to 12.34%    0.00% to 76.28%  28.0%  dropped
    new       72  100.00%     95.01% to 100.00%  56.62% to 100.00%  72.0%  open
    """

    policy: str
    decisions: int
    arms: tuple[ArmReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """A table with a line for each arm."""
        lines: list[tuple[str, ...]] = [
            ("arm", "answers", "rate", "95 % if none is fake", "armoured", "share", "status", "waits for")
        ]
        lines += [_line(each) for each in self.arms]
        if all(each.armoured is None for each in self.arms):
            lines = [(*line[:4], *line[5:]) for line in lines]
        last = len(lines[0]) - 3  # the column of the last number
        columns = []
        for at, cells in enumerate(zip(*lines, strict=True)):
            width = max(map(len, cells))
            columns.append([cell.rjust(width) if 0 < at <= last else cell.ljust(width) for cell in cells])
        rows = ("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))
        return "\n".join([f"{self.policy} after {self.decisions:,} decisions", *rows])


def explained(core: Knowledge) -> Explanation:
    """What a learner knows of each arm."""
    waiting = [0] * len(core.arms)
    for decision in core.open.values():
        waiting[decision.arm] += 1
    reports = (_report(core, arm, record, waiting[arm]) for arm, record in enumerate(core.arms))
    return Explanation(core.policy.name, core.asked, tuple(reports))


def explanation_of(content: Mapping[str, Any]) -> Explanation:
    """The explanation that `to_dict` made, also after a journey as JSON; what else is there is left out."""
    names = [field.name for field in fields(ArmReport)]
    pairs = ("plain", "armoured")  # lists in JSON
    arms = []
    for each in content["arms"]:
        values = {name: each[name] for name in names}
        arms.append(ArmReport(**values | {name: values[name] and tuple(values[name]) for name in pairs}))
    return Explanation(content["policy"], content["decisions"], tuple(arms))


def _report(core: Knowledge, arm: int, record: Record, waiting: int) -> ArmReport:
    standing = core.policy.standing(core.state, arm)
    dropped = standing is not None and standing.dropped
    return ArmReport(
        arm=record.label,
        status="retired" if record.retired else "dropped" if dropped else "open",
        answers=record.answers,
        rate=record.total / record.answers if record.answers else None,
        plain=_plain(record),
        armoured=None if standing is None else (float(standing.low), float(standing.high)),
        share=record.asked / core.asked if core.asked else 0.0,
        waiting=waiting,
        needed=None if standing is None or record.retired else standing.needed,
    )


def _plain(record: Record) -> Interval | None:
    """The exact interval of Clopper and Pearson for rewards of 0 and 1, and Chernoff's for others."""
    if record.answers == 0:
        return None
    level, answers, total = log(TAIL), float(record.answers), record.total
    low = least_chance(total, answers, level, record.binary)
    return low, 1.0 - least_chance(answers - total, answers, level, record.binary)


def _line(report: ArmReport) -> tuple[str, ...]:
    waits = [f"about {report.needed:,} more answers to fall behind"] if report.needed else []
    waits += [f"{report.waiting:,} open decision{'s' * (report.waiting > 1)}"] if report.waiting else []
    rate = "" if report.rate is None else f"{report.rate:.2%}"
    intervals = (_ends(report.plain), _ends(report.armoured))
    return (
        str(report.arm),
        f"{report.answers:,}",
        rate,
        *intervals,
        f"{report.share:.1%}",
        report.status,
        ", ".join(waits),
    )


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval[0]:.2%} to {interval[1]:.2%}"
