"""How many fake events would overturn this result?

Setting    A finished test or bandit log: so many events of each arm and the sum of their rewards in [0, 1]. The winner
           has the largest mean. An attacker may have tampered with the log, up to a total that nobody knows.
Algorithm  Undo every attack of cost C on the winner and one rival, in every split. The winner stands at C if after each
           of them its lower confidence limit is above the rival's upper one. The budget of a rival is the largest such
           C, that of the certificate the least of its rivals'.
Threats    alter: rewards were changed, by C in total (the attack of the paper). inject: C events were made up; undone,
           the winner loses successes and the rival failures. suppress: C events are missing; undone, the winner gets
           failures and the rival successes. An arm all of whose events may be made up can have any mean.
Bounds     design "fixed", for sample sizes set in advance and one look: exact binomial (Clopper and Pearson 1934) for
           0/1 rewards, else Chernoff's, each side of each arm at delta / 2K. "adaptive", for bandits and for peeking:
           the same at delta / 2K * 6 / (pi n)^2 for n events, which holds at every n at once.
           Under inject and suppress the sizes set in advance are those of the genuine log. It is among the logs that
           are undone, and its limits hold there; how many events are logged may depend on what the attacker saw.
           A log that is closed at a size lets him choose how many are genuine: that is adaptive.
Guarantee  With probability 1 - delta no arm but a best one is certified at a budget that the attack kept to.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from math import floor, inf, nextafter
from typing import TYPE_CHECKING, Any

from vambrace import validation
from vambrace.audit.limits import THREATS, Arm, lower_limit, question
from vambrace.audit.splits import cheapest_attack
from vambrace.errors import InvalidParameter
from vambrace.kernels import compiled

if TYPE_CHECKING:
    import altair

DESIGNS = ("adaptive", "fixed")
RESOLUTION = 1e-9  # of a budget that is not a whole number
MOST_EVENTS = 10**9  # of an arm: beyond it the search for the worst split would lose to rounding


@dataclass(frozen=True, kw_only=True)
class Rival:
    """An arm that the winner is compared with; low and high are the ends of its interval without any attack."""

    label: str
    events: int
    mean: float
    low: float
    high: float
    budget: int | float  # the most at which the winner stands against it; 0 also if it does not even without an attack


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Which arm is best, and up to which attack that is certain: what `vb.certify` returns. Print it for a sentence.

    Attributes:
        winner: The arm with the best mean.
        certified: Whether it beats every rival, at least without an attack.
        budget: The largest attack that it surely survives: at worst, so many fake events.
        rivals: One for each other arm.

    >>> import vambrace as vb
    >>> certificate = vb.certify({"arm": ["old", "new"], "views": [50_000, 50_000], "clicks": [600, 1_000]})
    >>> print(certificate)
    new beats every other arm unless at least 14 of the 100,000 events were altered.
    >>> certificate.winner, certificate.budget
    ('new', 13)
    """

    winner: str
    certified: bool  # whether it stands against every rival, at least without an attack
    budget: int | float
    events: int  # of all arms
    delta: float
    threat: str
    design: str
    binary: bool
    winner_events: int
    winner_mean: float
    winner_low: float
    winner_high: float
    rivals: tuple[Rival, ...]
    columns: dict[str, str] = field(default_factory=dict, compare=False)  # of the log: which one was used for what

    def not_ruled_out(self, budget: float) -> tuple[str, ...]:
        """The arms that may be best if the attack had this budget: the winner, and those it does not stand against."""
        budget = validation.budget(budget)
        return (self.winner, *(rival.label for rival in self.rivals if not self._stands(rival, budget)))

    def ruled_out_steps(self) -> list[tuple[int | float, tuple[str, ...]]]:
        """Each least budget at which more arms cannot be ruled out, and all that then cannot; the first is zero."""
        ends = sorted({rival.budget for rival in self.rivals if self._stands(rival, 0.0)})
        return [(budget, self.not_ruled_out(budget)) for budget in (0, *(self._above(end) for end in ends))]

    def joining(self) -> list[tuple[int | float, tuple[str, ...]]]:
        """The same steps, but of the arms only those that join."""
        steps: dict[int | float, list[str]] = {0: [self.winner]}
        for rival in self.rivals:
            least = self._above(rival.budget) if self._stands(rival, 0.0) else 0
            steps.setdefault(least, []).append(rival.label)
        return [(budget, tuple(steps[budget])) for budget in sorted(steps)]

    def closest(self, n_arms: int) -> list[Rival]:
        """Of so many arms the rivals: those that it takes the least to let win, from the largest mean to the least."""
        rivals = sorted(self.rivals, key=lambda rival: (rival.budget, -rival.mean))[: n_arms - 1]
        return sorted(rivals, key=lambda rival: -rival.mean)

    def to_json(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        steps = [{"budget": budget, "joining": list(labels)} for budget, labels in self.joining()]
        return {
            **asdict(self),
            "rivals": [asdict(rival) for rival in self.rivals],
            "steps": steps,
            "verdict": str(self),
        }

    def plot(self) -> "altair.LayerChart":
        """The interval of each arm and the budget of each rival (needs the extra `vambrace[report]`)."""
        from vambrace.report.certificate_figure import certificate_figure

        return certificate_figure(self)

    def __str__(self) -> str:
        if not self.certified:
            return f"No arm is certified: {self._obstacle()}."
        claim = f"{self.winner} beats every other arm unless"
        if not self._whole:
            total = f"{floor(100 * self.budget) / 100:,.2f}"
            return f"{claim} the rewards of the {self.events:,} events were altered by more than {total} in total."
        needed = int(self.budget) + 1
        verb = "was" if needed == 1 else "were"
        if self.threat == "suppress":
            noun = "event" if needed == 1 else "events"
            return f"{claim} at least {needed:,} {noun} {verb} suppressed beside the {self.events:,} that are known."
        return f"{claim} at least {needed:,} of the {self.events:,} events {verb} {self.threat.rstrip('e')}ed."

    @property
    def _whole(self) -> bool:
        return self.binary or self.threat != "alter"

    def _above(self, budget: float) -> float:
        return budget + 1 if self._whole else max(budget + RESOLUTION, nextafter(budget, inf))

    def _stands(self, rival: Rival, budget: float) -> bool:
        return self.winner_low > rival.high and (budget < rival.budget + 1 if self._whole else budget <= rival.budget)

    def _obstacle(self) -> str:
        tied = [rival.label for rival in self.rivals if rival.mean == self.winner_mean]
        if tied:
            return f"{few([self.winner, *tied], last=' and ')} share the largest mean"
        without = "if no event was suppressed" if self.threat == "suppress" else "without fake events"
        return f"even {without} {self.winner} is not separated from {few(self.not_ruled_out(0)[1:])}"


def few(labels: Sequence[str], last: str = ", ", most: int = 5) -> str:
    """Names in a sentence, or the first of many."""
    if len(labels) > most:
        return f"{', '.join(labels[: most - 1])} and {len(labels) - most + 1:,} more"
    return last.join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)


def certify_counts(
    events: Sequence[int],
    totals: Sequence[float],
    labels: Sequence[str] | None = None,
    *,
    delta: float = 0.05,
    threat: str = "alter",
    design: str = "adaptive",
    binary: bool = True,
    columns: Mapping[str, str] | None = None,
) -> Certificate:
    """Which arm is best, and how many fake events it would take to overturn that.

    Args:
        events: Of each arm, at least one.
        totals: The sum of each arm's rewards.
        labels: The names of the arms; None: arm 0, arm 1, ...
        delta: The chance that a wrong arm is certified.
        threat: What an attacker may have done with the log: alter rewards, inject events, suppress events.
        design: Adaptive: collected by a bandit, or looked at more than once; fixed: one look, and the number of genuine
            events of each arm was set in advance.
        binary: Whether every reward is 0 or 1; else anything in [0, 1].

    columns where the counts come from, for the record

    >>> certificate = certify_counts([5000, 5000, 2000], [500, 1000, 120], ["A", "B", "C"])
    >>> print(certificate)
    B beats every other arm unless at least 117 of the 12,000 events were altered.
    >>> certificate.ruled_out_steps()
    [(0, ('B',)), (117, ('B', 'C')), (171, ('B', 'A', 'C'))]
    """
    binary = validation.flag("binary", binary)
    threat = validation.choice("threat", threat, THREATS)
    design = validation.choice("design", design, DESIGNS)
    delta = validation.number("delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    counts = [
        validation.whole(f"events[{k}]", n, low=1, high=MOST_EVENTS)
        for k, n in enumerate(validation.listed("events", events))
    ]
    if len(counts) < 2:
        raise InvalidParameter("events: expected at least two arms, got one")
    sums = [
        float(validation.whole(f"totals[{k}]", total, low=0, high=counts[k]))
        if binary
        else validation.number(f"totals[{k}]", total, low=0.0, high=counts[k])
        for k, total in enumerate(validation.listed("totals", totals, len(counts)))
    ]
    names = _names(labels, len(counts))
    asked = question(len(counts), delta, threat, design, exact=binary)
    limit, attack = compiled(lower_limit, {}), compiled(cheapest_attack, {})
    means = [total / n for total, n in zip(sums, counts, strict=True)]
    won = [Arm(total, float(n)) for total, n in zip(sums, counts, strict=True)]
    lost = [Arm(n - total, float(n)) for total, n in zip(sums, counts, strict=True)]
    lows = [limit(asked, arm, 0.0) for arm in won]
    highs = [1.0 - limit(asked, arm, 0.0) for arm in lost]
    best = means.index(max(means))
    whole = binary or threat != "alter"

    @cache  # many rivals of thousands have the same counts
    def budget(rival: Arm) -> int | float:
        cost = attack(asked, won[best], rival, whole)
        return max(int(cost) - 1, 0) if whole else max(min(cost - RESOLUTION, nextafter(cost, 0.0)), 0.0)

    rivals = tuple(
        Rival(label=names[k], events=counts[k], mean=means[k], low=lows[k], high=highs[k], budget=budget(lost[k]))
        for k in range(len(counts))
        if k != best
    )
    return Certificate(
        winner=names[best],
        certified=all(lows[best] > rival.high for rival in rivals),
        budget=min(rival.budget for rival in rivals),
        events=sum(counts),
        delta=delta,
        threat=threat,
        design=design,
        binary=binary,
        winner_events=counts[best],
        winner_mean=means[best],
        winner_low=lows[best],
        winner_high=highs[best],
        rivals=rivals,
        columns=dict(columns or {}),
    )


def _names(labels: Sequence[str] | None, n_arms: int) -> list[str]:
    if labels is None:
        return [f"arm {k}" for k in range(n_arms)]
    names = [str(label) for label in validation.listed("labels", labels, n_arms)]
    if len(set(names)) < n_arms:
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise InvalidParameter(f"labels: expected a name of its own for each arm, got {twice!r} twice")
    return names
