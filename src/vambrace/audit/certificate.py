"""How many fake events would overturn this result?

Setting    A finished test or bandit log: for each arm the number of its events and the sum of their rewards in [0, 1].
           The winner has the largest mean. An attacker may have changed the log, by an unknown total.
Algorithm  Undo every attack of cost C on the winner and one rival, in every split. The winner stands at C if after each
           of them its lower confidence limit is above the rival's upper limit. The budget of a rival is the largest
           such C; the budget of the certificate is the smallest budget of its rivals.
Threats    alter: rewards were changed, by C in total (the attack of the paper). inject: C events were invented; undoing
           removes successes of the winner and failures of the rival. suppress: C events are missing; undoing adds
           failures of the winner and successes of the rival. If all events of an arm may be fake, it can have any mean.
Bounds     design "fixed", for sample sizes set in advance and one look: exact binomial (Clopper and Pearson 1934) for
           0/1 rewards, otherwise Chernoff's, each side of each arm at delta / 2K. "adaptive", for bandits and for
           peeking: the same at delta / 2K * 6 / (pi n)^2 for n events, which holds at every n at once.
           Under inject and suppress the sizes set in advance are those of the genuine log. It is one of the logs that
           undoing gives, and its limits hold there; the number of logged events may depend on what the attacker saw.
           If a log is closed at a fixed size, the attacker chooses how many events are genuine: that is adaptive.
Guarantee  With probability 1 - delta only a best arm is certified at a budget that the attack did not exceed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from math import floor, inf, nextafter
from typing import TYPE_CHECKING, Any

from vambrace import validation
from vambrace.audit.limits import Arm, Design, Threat, lower_limit, make_criterion
from vambrace.audit.splits import cheapest_attack
from vambrace.kernels import compiled

if TYPE_CHECKING:
    import altair

RESOLUTION = 1e-9  # of a budget that is not an integer
MOST_EVENTS = 10**9  # of an arm: with more, rounding would spoil the search for the worst split


@dataclass(frozen=True, kw_only=True)
class Rival:
    """An arm that the winner is compared with; low and high are the ends of its interval without attack."""

    label: str
    events: int
    mean: float
    low: float
    high: float
    budget: int | float | None  # the largest attack at which the winner still beats it; None: not even without attack


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The best arm, and up to which attack that is certain: what `vb.certify` returns. Print it for a sentence.

    Attributes:
        winner: The arm with the largest mean.
        certified: Whether it beats every rival, at least without attack.
        budget: The largest attack that it certainly survives; 0: one fake event might overturn it; None: not certified.
        events: The number of events of all arms together.
        delta: The probability with which the certificate may be wrong.
        threat: What may have been done to the log: "alter", "inject" or "suppress".
        design: How the test was run: "adaptive" or "fixed".
        binary: Whether every reward is 0 or 1.
        winner_events: The number of events of the winner.
        winner_mean: The mean of its rewards.
        winner_low: The lower end of its confidence interval without attack.
        winner_high: The upper end.
        rivals: The other arms, in the order of the log.
        columns: Which column of the log was used for what.
        notes: What you should know about how the log was read.

    >>> import vambrace as vb
    >>> certificate = vb.certify({"arm": ["old", "new"], "views": [50_000, 50_000], "clicks": [600, 1_000]})
    >>> print(certificate)
    new beats every other arm unless at least 14 of the 100,000 events were altered.
    >>> certificate.winner, certificate.budget
    ('new', 13)
    """

    winner: str
    certified: bool
    budget: int | float | None
    events: int
    delta: float
    threat: Threat
    design: Design
    binary: bool
    winner_events: int
    winner_mean: float
    winner_low: float
    winner_high: float
    rivals: tuple[Rival, ...]
    columns: dict[str, str] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def not_ruled_out(self, budget: float) -> tuple[str, ...]:
        """The arms that may be best if the attack had this budget: the winner, and those that it may fail to beat.

        Args:
            budget: How many events may be fake.
        """
        budget = validation.budget(budget)
        return (self.winner, *(rival.label for rival in self.rivals if self._overturned_at(rival) <= budget))

    def ruled_out_steps(self) -> list[tuple[int | float, tuple[str, ...]]]:
        """Each budget from which on more arms cannot be ruled out, and all such arms; the first budget is zero."""
        return [(budget, self.not_ruled_out(budget)) for budget, _ in self.joining()]

    def joining(self) -> list[tuple[int | float, tuple[str, ...]]]:
        """The same steps, each with only the arms that are new there."""
        steps: dict[int | float, list[str]] = {0: [self.winner]}
        for rival in self.rivals:
            steps.setdefault(self._overturned_at(rival), []).append(rival.label)
        return [(budget, tuple(steps[budget])) for budget in sorted(steps)]

    def closest(self, n_arms: int) -> list[Rival]:
        """The rivals that need the smallest attacks to win, by mean, largest first.

        Args:
            n_arms: How many arms to show, the winner included.
        """
        rivals = sorted(self.rivals, key=lambda rival: (self._overturned_at(rival), -rival.mean))[: n_arms - 1]
        return sorted(rivals, key=lambda rival: -rival.mean)

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        steps = [{"budget": budget, "joining": list(labels)} for budget, labels in self.joining()]
        return {**asdict(self), "steps": steps, "verdict": str(self)}

    def plot(self) -> "altair.LayerChart":
        """The interval of each arm and the budget of each rival (needs the extra `vambrace[report]`)."""
        from vambrace.report.certificates import certificate_figure

        return certificate_figure(self)

    def __str__(self) -> str:
        if self.budget is None:
            return f"No arm is certified: {self._obstacle()}."
        claim = f"{self.winner} beats every other arm unless"
        if not self._whole:
            total = f"{floor(100 * self.budget) / 100:,.2f}"
            return f"{claim} the rewards of the {self.events:,} events were altered by more than {total} in total."
        needed = int(self.budget) + 1
        noun, verb = ("event", "was") if needed == 1 else ("events", "were")
        if self.threat == "suppress":
            return f"{claim} at least {needed:,} {noun} {verb} suppressed beside the {self.events:,} that are known."
        return f"{claim} at least {needed:,} of the {self.events:,} events {verb} {self.threat.rstrip('e')}ed."

    @property
    def _whole(self) -> bool:
        """Whether an attack costs one per event; otherwise rewards can be altered in part."""
        return self.binary or self.threat != "alter"

    def _overturned_at(self, rival: Rival) -> int | float:
        """The least budget at which the rival may be best."""
        if rival.budget is None:
            return 0
        return rival.budget + 1 if self._whole else nextafter(rival.budget, inf)

    def _obstacle(self) -> str:
        tied = [rival.label for rival in self.rivals if rival.mean == self.winner_mean]
        if tied:
            return f"{in_words([self.winner, *tied], last=' and ')} share the largest mean"
        without = "if no event was suppressed" if self.threat == "suppress" else "without fake events"
        return f"even {without} {self.winner} is not separated from {in_words(self.not_ruled_out(0)[1:])}"


def in_words(labels: Sequence[str], last: str = ", ", most: int = 5) -> str:
    """Names in a sentence; if there are more than `most`, the first ones and how many follow."""
    if len(labels) > most:
        return f"{', '.join(labels[: most - 1])} and {len(labels) - most + 1:,} more"
    return last.join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)


def certify_counts(
    events: Sequence[int],
    totals: Sequence[float],
    labels: Sequence[str] | None = None,
    *,
    delta: float = 0.05,
    threat: Threat = "alter",
    design: Design = "adaptive",
    binary: bool = True,
    columns: Mapping[str, str] | None = None,
) -> Certificate:
    """The certificate of counts that were checked before; the options are those of `certify`.

    Arms without `labels` are called arm 0, arm 1, ... Unless `binary`, rewards may be any number in [0, 1].

    >>> certificate = certify_counts([5000, 5000, 2000], [500, 1000, 120], ["A", "B", "C"])
    >>> certificate.ruled_out_steps()
    [(0, ('B',)), (117, ('B', 'C')), (171, ('B', 'A', 'C'))]
    """
    labels = labels or [f"arm {k}" for k in range(len(events))]
    criterion, whole = make_criterion(len(events), delta, threat, design, exact=binary), binary or threat != "alter"
    limit, attack = compiled(lower_limit, {}), compiled(cheapest_attack, {})
    won = [Arm(float(total), float(n)) for total, n in zip(totals, events, strict=True)]
    lost = [Arm(arm.events - arm.successes, arm.events) for arm in won]
    means = [arm.successes / arm.events for arm in won]
    best = means.index(max(means))

    @cache  # many rivals of thousands have the same counts
    def budget(rival: Arm) -> int | float | None:
        """The largest attack at which the winner beats the rival."""
        if limit(criterion, won[best], 0.0) <= 1.0 - limit(criterion, rival, 0.0):
            return None
        cost = attack(criterion, won[best], rival, whole)
        return max(int(cost) - 1, 0) if whole else max(min(cost - RESOLUTION, nextafter(cost, 0.0)), 0.0)

    rivals = []
    for k, label in enumerate(labels):
        low, high = limit(criterion, won[k], 0.0), 1.0 - limit(criterion, lost[k], 0.0)
        most = None if k == best else budget(lost[k])
        rivals.append(Rival(label=label, events=events[k], mean=means[k], low=low, high=high, budget=most))
    winner = rivals.pop(best)
    budgets = [rival.budget for rival in rivals if rival.budget is not None]
    certified = len(budgets) == len(rivals)
    return Certificate(
        winner=winner.label,
        certified=certified,
        budget=min(budgets) if certified else None,
        events=sum(events),
        delta=delta,
        threat=threat,
        design=design,
        binary=binary,
        winner_events=winner.events,
        winner_mean=winner.mean,
        winner_low=winner.low,
        winner_high=winner.high,
        rivals=tuple(rivals),
        columns=dict(columns or {}),
    )
