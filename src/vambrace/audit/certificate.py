"""How many fake events would overturn this result?

Setting    A finished test or bandit log: for each arm the number of its events and the sum of their rewards. The winner
           has the largest mean. An attacker may have changed the log, by an unknown total.
Algorithm  Undo every attack of cost C on the winner and one rival, in every split. The winner stands at C if after each
           of them a test of this pair rejects that the winner's mean is at most the rival's. The budget of a rival is
           the largest such C; the budget of the certificate is the smallest budget of its rivals.
Threats    alter: rewards were changed, by C in total (the attack of the paper). inject: C events were invented; undoing
           removes successes of the winner and failures of the rival. suppress: C events are missing; undoing adds
           failures of the winner and successes of the rival. If all events of an arm may be fake, it can have any mean.
Tests      Each of the K - 1 pairs at delta / (K - 1), one-sided. "fixed", for sample sizes set in advance and one
           look: Fisher's exact test. "adaptive", for bandits and for peeking: an e-process (see `coins`). For rewards
           that are not 0 or 1, in both designs: supermartingales of sums and squares (see `means`).
           Under inject and suppress the sizes set in advance are those of the genuine log. It is one of the logs that
           undoing gives, and its test holds there; the number of logged events may depend on what the attacker saw.
           If a log is closed at a fixed size, the attacker chooses how many events are genuine: that is adaptive.
Guarantee  Let b be a best arm. With probability 1 - delta no other arm is certified at a budget that the attack did not
           exceed: another arm w is certified only if the test of the pair (w, b) rejects; there are K - 1 such arms.
           If several arms are exactly equal and best, each of them is a right answer; that *some* arm is certified then
           has a probability of at most delta K / (K - 1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from vambrace import validation
from vambrace.audit import questions, words
from vambrace.audit.history import Moment
from vambrace.audit.questions import MOST_EVENTS, Arm, Design, Question, Threat

if TYPE_CHECKING:
    import altair

UNIT_RANGE = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The cheapest attack after which a rival may be best: what was done to the winner, and what to the rival.

    Attributes:
        rival: The arm that may then be best.
        on_winner: The cost spent on the winner.
        on_rival: The cost spent on the rival.
        only_winner: What it would cost on the winner alone.
        only_rival: What it would cost on the rival alone.
    """

    rival: str
    on_winner: int | float
    on_rival: int | float
    only_winner: int | float
    only_rival: int | float


@dataclass(frozen=True, kw_only=True)
class Rival:
    """An arm that the winner is compared with; low and high are the ends of its own interval without attack."""

    label: str
    events: int
    mean: float
    low: float
    high: float
    budget: int | float | None  # the largest attack at which the winner still beats it; None: not even without attack
    overturned_at: int | float  # the least attack after which, undone, it would look at least as good as the winner
    attack: Attack | None  # the cheapest one that ends the guarantee against it


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The best arm, and up to which attack that is certain: what `vb.certify` returns. Print it for a sentence.

    All means and, unless they are whole events, all budgets are in the units of the log's own rewards.

    Attributes:
        winner: The arm with the largest mean.
        certified: Whether it beats every rival, at least without attack.
        budget: The largest attack that it certainly survives; 0: one fake event might overturn it; None: not certified.
        overturned_at: The least attack after which another arm would look at least as good: larger than the budget.
        cheapest: The cheapest attack beyond the budget; None: not certified.
        share_of_winner: The budget as a share of the winner's successes (of its total reward if rewards are altered in
            part, of its events if they are not 0 or 1 and events are injected or suppressed).
        share_of_events: The budget as a share of all events, if it is a number of events.
        more_events: About how many more events at these means would certify the winner; None: certified, or hopeless.
        events: The number of events of all arms together.
        delta: The probability with which the certificate may be wrong.
        threat: What may have been done to the log: "alter", "inject" or "suppress".
        design: How the test was run: "adaptive" or "fixed".
        binary: Whether every reward is one of the two ends of the range.
        winner_events: The number of events of the winner.
        winner_mean: The mean of its rewards.
        winner_low: The lower end of its own interval without attack, valid with probability 1 - delta for this arm.
        winner_high: The upper end.
        rivals: The other arms, in the order of the log.
        reward_range: The least and the largest possible reward.
        unit: What rewards are counted in, such as "EUR".
        over_time: What was certain as the log grew, if a column of times was given.
        columns: Which column of the log was used for what.
        notes: What you should know about how the log was read.

    >>> import vambrace as vb
    >>> certificate = vb.certify({"arm": ["old", "new"], "views": [50_000, 50_000], "clicks": [600, 1_000]})
    >>> print(certificate)
    new beats every other arm unless at least 178 of the 100,000 events were altered.
    >>> certificate.winner, certificate.budget, certificate.overturned_at
    ('new', 177, 400)
    >>> certificate.cheapest.on_winner, certificate.cheapest.on_rival
    (0, 178)
    """

    winner: str
    certified: bool
    budget: int | float | None
    overturned_at: int | float
    cheapest: Attack | None
    share_of_winner: float | None
    share_of_events: float | None
    more_events: int | None
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
    reward_range: tuple[float, float] = UNIT_RANGE
    unit: str = ""
    over_time: tuple[Moment, ...] = ()
    columns: dict[str, str] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def not_ruled_out(self, budget: float) -> tuple[str, ...]:
        """The arms that may be best if the attack had this budget: the winner, and those that it may fail to beat.

        Args:
            budget: How many events may be fake.
        """
        budget = validation.budget(budget)
        return (self.winner, *(rival.label for rival in self.rivals if self._may_win_at(rival) <= budget))

    def ruled_out_steps(self) -> list[tuple[int | float, tuple[str, ...]]]:
        """Each budget from which on more arms cannot be ruled out, and all such arms; the first budget is zero."""
        return [(budget, self.not_ruled_out(budget)) for budget, _ in self.joining()]

    def joining(self) -> list[tuple[int | float, tuple[str, ...]]]:
        """The same steps, each with only the arms that are new there."""
        steps: dict[int | float, list[str]] = {0: [self.winner]}
        for rival in self.rivals:
            steps.setdefault(self._may_win_at(rival), []).append(rival.label)
        return [(budget, tuple(steps[budget])) for budget in sorted(steps)]

    def closest(self, n_arms: int) -> list[Rival]:
        """The rivals that need the smallest attacks to win, by mean, largest first.

        Args:
            n_arms: How many arms to show, the winner included.
        """
        rivals = sorted(self.rivals, key=lambda rival: (self._may_win_at(rival), -rival.mean))[: n_arms - 1]
        return sorted(rivals, key=lambda rival: -rival.mean)

    def sentences(self) -> list[str]:
        """Everything that the certificate says, in plain sentences, the most important one first."""
        return words.sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and sentences, ready for JSON."""
        steps = [{"budget": budget, "joining": list(labels)} for budget, labels in self.joining()]
        over_time = [moment._asdict() for moment in self.over_time]
        said = {"verdict": str(self), "sentences": self.sentences()}
        return {**asdict(self), "over_time": over_time, "steps": steps, **said}

    def plot(self) -> "altair.LayerChart":
        """The interval of each arm and the budget of each rival (needs the extra `vambrace[report]`)."""
        from vambrace.report.certificates import certificate_figure

        return certificate_figure(self)

    def __str__(self) -> str:
        return words.verdict(self)

    @property
    def whole(self) -> bool:
        """Whether an attack costs one per event; otherwise rewards can be altered in part."""
        return self.binary or self.threat != "alter"

    def _may_win_at(self, rival: Rival) -> int | float:
        """The least budget at which the rival may be best."""
        if rival.budget is None:
            return 0
        return rival.budget + 1 if self.whole else nextafter(rival.budget, inf)


def certify_counts(
    events: Sequence[int],
    totals: Sequence[float],
    labels: Sequence[str] | None = None,
    *,
    squares: Sequence[float] | None = None,
    delta: float = 0.05,
    threat: Threat = "alter",
    design: Design = "adaptive",
    binary: bool = True,
    reward_range: tuple[float, float] = UNIT_RANGE,
    unit: str = "",
    columns: Mapping[str, str] | None = None,
    over_time: Sequence[Moment] = (),
) -> Certificate:
    """The certificate of counts that were checked before; the options are those of `certify`.

    Arms without `labels` are called arm 0, arm 1, ... Unless `binary`, rewards may be any number in [0, 1], after the
    range was rescaled to it, as in the totals and the sums of squares. Without `squares` the largest are assumed.

    >>> certificate = certify_counts([5000, 5000, 2000], [500, 1000, 120], ["A", "B", "C"])
    >>> certificate.ruled_out_steps()
    [(0, ('B',)), (181, ('B', 'C')), (307, ('B', 'A', 'C'))]
    """
    labels = labels or [f"arm {k}" for k in range(len(events))]
    question = Question(len(events), delta, threat, design, binary)
    known = totals if binary or squares is None else squares
    arms = [Arm(*each) for each in zip(events, totals, known, strict=True)]
    best = winner_of(arms)
    make = _rival_maker(question, arms[best], reward_range)
    found = [make(label, arm) for label, arm in zip(labels, arms, strict=True)]
    winner, rivals = found[best], (*found[:best], *found[best + 1 :])
    return Certificate(
        **_answer(question, arms, best, rivals, reward_range),
        winner=winner.label,
        overturned_at=min(rival.overturned_at for rival in rivals),
        events=sum(events),
        delta=delta,
        threat=threat,
        design=design,
        binary=binary,
        winner_events=winner.events,
        winner_mean=winner.mean,
        winner_low=winner.low,
        winner_high=winner.high,
        rivals=rivals,
        reward_range=reward_range,
        unit=unit,
        over_time=tuple(over_time),
        columns=dict(columns or {}),
    )


def _answer(
    question: Question, arms: Sequence[Arm], best: int, rivals: Sequence[Rival], reward_range: tuple[float, float]
) -> dict[str, Any]:
    """Whether the winner is certified, up to which budget, and the fields that follow from that."""
    closest = min(rivals, key=lambda rival: -1 if rival.budget is None else rival.budget)
    budget = closest.budget
    if budget is None:
        nothing = dict.fromkeys(("budget", "cheapest", "share_of_winner", "share_of_events"))
        return {"certified": False, **nothing, "more_events": _more_events(question, arms, best)}
    winner, (low, high) = arms[best], reward_range
    part = winner.total if question.binary else winner.total * (high - low) if not question.whole else winner.events
    return {
        "certified": True,
        "budget": budget,
        "cheapest": closest.attack,
        "share_of_winner": budget / part if part > 0 else None,
        "share_of_events": budget / sum(arm.events for arm in arms) if question.whole else None,
        "more_events": None,
    }


def winner_of(arms: Sequence[Arm]) -> int:
    """The arm with the largest mean; the first of several."""
    means = [arm.mean for arm in arms]
    return means.index(max(means))


def _rival_maker(question: Question, best: Arm, reward_range: tuple[float, float]) -> Any:
    """A function that makes the row of an arm, in the units of the log."""
    low, high = reward_range

    @cache  # many rivals of thousands have the same counts
    def numbers(arm: Arm) -> tuple[Any, ...]:
        cheapest = question.cheapest(question.pair(best, arm))
        costs = [int(each) if question.whole else each * (high - low) for each in cheapest]
        looks = questions.overturned_at(question, best, arm)
        looks = max(looks, costs[0] + 1) if question.whole else looks * (high - low)  # bounds are sometimes crude
        return question.interval(arm), costs, looks, cheapest.budget < 0

    def make(label: str, arm: Arm) -> Rival:
        interval, (budget, *costs), looks, is_open = numbers(arm)
        names = ("on_winner", "on_rival", "only_winner", "only_rival")
        mean, *ends = (each * (high - low) + low for each in (arm.mean, *interval))
        return Rival(
            label=label,
            events=arm.events,
            mean=mean,
            low=ends[0],
            high=ends[1],
            budget=None if is_open else budget,
            overturned_at=looks,
            attack=None if is_open else Attack(rival=label, **dict(zip(names, costs, strict=True))),
        )

    return make


def _more_events(question: Question, arms: Sequence[Arm], best: int) -> int | None:
    """How many more events would certify the winner at the same means, to two digits; None: too many."""
    factor, most = 1.0, MOST_EVENTS / max(arm.events for arm in arms)
    for arm in dict.fromkeys(arm for k, arm in enumerate(arms) if k != best):
        if arm.mean >= arms[best].mean or factor == inf:
            return None
        factor = question.growth(question.pair(arms[best], arm), factor, most)
    if factor == inf:
        return None
    more = int((factor - 1.0) * sum(arm.events for arm in arms)) + 1
    size = 10 ** max(len(str(more)) - 2, 0)
    return -(-more // size) * size
