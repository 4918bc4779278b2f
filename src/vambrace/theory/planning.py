"""Planning: how long must a game be so that a gap is found although `budget` events may be fake, and what does it cost?

`armour_planning` has the part of KL-UCB-WR. For SE-WR:

An arm is dropped *for certain* after n pulls of each arm if the rule drops it in the worst case that its guarantee
allows: chance has moved both means against us as far as the radius allows, and the attacker has spent the whole budget
against us.

paper   4 (sqrt(L / n) + C / n) < gap, L = ln(2KT/delta)   E1
tight   2 (sqrt(L' / n) + C / n) < gap, L' = ln(KT/delta)
kl      The best arm's raw mean is the lowest m with n kl(m, rate) <= L and the other arm's the highest m with
        n kl(m, rate - gap) <= L. Then the attacker takes c from the best arm's total and adds C - c to the other's.
        The rule must drop the other arm for every c.

With probability 1 - delta (1 - 2 delta for tight, which needs both directions of a difference of means) no game takes
longer. A *typical* game is decided sooner: its empirical means are the true ones, and only the attacker, who spends the
whole budget against us, delays the drop.
"""

import textwrap
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from vambrace import validation
from vambrace.policies.radii import PAPER, PIECES, RADII, TIGHT, Rule, kl, make_rule, separated
from vambrace.theory.armour_planning import ArmourPlan, armour_plan

UNIFORM = "no arm can be eliminated within this horizon: this would be uniform play"
ASSUMPTIONS = (
    "every other arm lies this gap below the best (arms further below go sooner), and the attacker spends the whole "
    "budget against us. At the latest: with the worst luck that the guarantee allows. Typically: with average luck"
)
PAGE = 80  # columns


@dataclass(frozen=True, kw_only=True)
class RadiusPlan:
    """What one radius of SE-WR needs; None for pulls: more than any game has.

    The regret is the largest expected one: the gap for each pull of another arm until the gap is resolved, and for
    every round if the guarantee fails; that of uniform play if the horizon is too short.
    """

    radius: str
    pulls: int | None  # of each arm until the gap is resolved for certain
    typical: int | None  # pulls of each arm until a typical game resolves it
    round: int | None  # at which it is certain: pulls times arms
    regret: float
    fits: bool  # whether it is certain within the horizon
    likely: bool  # whether a typical game resolves it within the horizon
    largest_budget: int | None  # the most fake events with which it is certain; None: not even without fake events


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What SE-WR needs to find a gap, for each radius, and KL-UCB-WR: what `vb.plan` returns. Print it for a verdict.

    Attributes:
        armour: The `ArmourPlan` of KL-UCB-WR: settled, quiet_regret, attacked_regret, most_regret, largest_budget.
        rows: One `RadiusPlan` for each radius: pulls, typical, round, regret, fits, likely, largest_budget.
        arms: The number of arms.
        rate: The mean reward of the best arm.
        gap: The smallest gap worth finding.
        budget: How many events may be fake.
        horizon: The number of rounds.
        delta: The probability that the guarantee fails.

    >>> import vambrace as vb
    >>> plan = vb.plan(arms=4, rate=0.015, gap=0.005, budget=100, horizon=10**7)
    >>> plan.feasible
    True
    >>> print(plan.verdict)
    radius kl resolves a gap of 0.005 by round 2,401,276 of 10,000,000
    """

    arms: int
    rate: float
    gap: float
    budget: float
    horizon: int
    delta: float
    rows: tuple[RadiusPlan, ...]
    armour: ArmourPlan

    @property
    def feasible(self) -> bool:
        """Whether any radius is certain to resolve the gap within the horizon."""
        return any(row.fits for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        return {**asdict(self), "rows": [*map(asdict, self.rows)], "verdict": self.verdict, "assumed": ASSUMPTIONS}

    @property
    def verdict(self) -> str:
        """The plan in one sentence."""
        if self.feasible:
            row = min((row for row in self.rows if row.fits), key=lambda row: row.pulls or 0)
            return f"radius {row.radius} resolves a gap of {self.gap:g} by round {row.round:,} of {self.horizon:,}"
        likely = [row for row in self.rows if row.likely]
        if not likely:
            return UNIFORM
        row = min(likely, key=lambda row: row.typical or 0)
        return (
            f"no arm is certain to be eliminated within this horizon; a typical game with radius {row.radius} resolves "
            f"a gap of {self.gap:g} by round {(row.typical or 0) * self.arms:,}"
        )

    def __str__(self) -> str:
        title = (
            f"{self.arms} arms, rate {self.rate:g}, gap {self.gap:g}, budget {self.budget:,g}, "
            f"{self.horizon:,} rounds, delta {self.delta:g}"
        )
        tables = ["KL-UCB-WR", *_lines(self._armour_cells()), "", "SE-WR", *_lines(*map(_cells, self.rows))]
        sound = self.feasible or any(row.likely for row in self.rows)
        hopeless = " and ".join(row.radius for row in self.rows if not (row.fits or row.likely))
        failing = [f"SE-WR with radius {hopeless}: {UNIFORM}."] if sound and hopeless else []
        texts = (f"KL-UCB-WR: {self.armour.verdict}.", *failing, f"SE-WR: {self.verdict}.", f"Assumed: {ASSUMPTIONS}.")
        sentences = [textwrap.fill(text, PAGE, break_on_hyphens=False) for text in texts]
        return "\n".join([textwrap.fill(title, PAGE), "", *tables, "", *sentences])

    def _armour_cells(self) -> dict[str, str]:
        armour = self.armour
        return {
            "pulls of each other arm, typically": _short(armour.settled, "more than the horizon has"),
            "regret if nobody attacks": _short(armour.quiet_regret, "", ",.1f"),
            "regret if the whole budget is spent": _short(armour.attacked_regret, "", ",.1f"),
            "regret, at most": _short(armour.most_regret, "no useful guarantee", ",.1f"),
            "regret of random play": _short(armour.random_regret, "", ",.1f"),
            f"largest budget at {armour.loss:.0%} of that": _short(armour.largest_budget, "none"),
        }


def plan(
    *, arms: int, rate: float, gap: float, budget: float, horizon: int, delta: float | None = None, loss: float = 0.5
) -> Plan:
    """How many pulls it takes to find a gap, what they cost, and how many fake events the horizon can carry.

    Args:
        arms: The number of arms.
        rate: The mean reward of the best arm.
        gap: The smallest gap worth finding: the others have the mean rate - gap.
        budget: How many events may be fake.
        horizon: The number of rounds.
        delta: The probability that the guarantee fails; None: arms / horizon.
        loss: The share of what random play loses that you accept: how many fake events can KL-UCB-WR survive at it?

    >>> import vambrace as vb
    >>> found = vb.plan(arms=2, rate=0.5, gap=0.1, budget=100, horizon=100_000)
    >>> [(row.radius, row.pulls, row.fits) for row in found.rows]
    [('paper', 45600, True), ('tight', 12901, True), ('kl', 22778, True)]
    >>> round(found.armour.quiet_regret), round(found.armour.attacked_regret), found.armour.largest_budget
    (215, 337, 1368)
    """
    arms = validation.whole("arms", arms, low=2, high=10**6)
    arms, horizon = validation.game_size(arms, horizon)
    rate = validation.number("rate", rate, low=0.0, high=1.0, open_low=True)
    gap = validation.number("gap", gap, low=0.0, high=rate, open_low=True)
    budget = validation.budget(budget, finite=True)
    chance = validation.delta(delta) or arms / horizon

    def row(radius: str) -> RadiusPlan:
        def certain(pulls: int, fakes: float) -> bool:
            return _resolved(make_rule(radius, arms, horizon, chance, fakes), rate, gap, pulls, unlucky=True)

        rule = make_rule(radius, arms, horizon, chance, budget)
        typical = _first(lambda n: _resolved(rule, rate, gap, n, unlucky=False), 1, validation.MOST_ROUNDS)
        pulls = _first(lambda n: certain(n, budget), 1, validation.MOST_ROUNDS)
        fits = pulls is not None and pulls * arms <= horizon
        too_large = _first(lambda fakes: not certain(horizon // arms, fakes), 0, horizon)
        failing = chance * (2.0 if radius == "tight" else 1.0)
        played = (arms - 1) * pulls if fits and pulls is not None else horizon - horizon // arms
        lost = played + failing * horizon
        return RadiusPlan(
            radius=radius,
            pulls=pulls,
            typical=typical,
            round=None if pulls is None else pulls * arms,
            regret=gap * min(lost, horizon),
            fits=fits,
            likely=typical is not None and typical * arms <= horizon,
            largest_budget=too_large - 1 if too_large else None,
        )

    rows = tuple(row(radius) for radius in RADII)
    loss = validation.number("loss", loss, low=0.0, high=1.0, open_low=True)
    armour = armour_plan(arms, rate, gap, budget, horizon, chance, loss)
    return Plan(arms=arms, rate=rate, gap=gap, budget=budget, horizon=horizon, delta=chance, rows=rows, armour=armour)


def _cells(row: RadiusPlan) -> dict[str, str]:
    return {
        "radius": row.radius,
        "pulls of each arm, at the latest": _short(row.pulls, "never"),
        "pulls of each arm, typically": _short(row.typical, "never"),
        "round, at the latest": _short(row.round, "never"),
        "regret, at most": _short(row.regret, "", ",.1f"),
        "gap found within the horizon": "yes" if row.fits else "typically" if row.likely else "no",
        "largest budget for that": _short(row.largest_budget, "none"),
    }


def _short(value: float | None, missing: str, layout: str = ",") -> str:
    """A number as text, with three digits if the whole of it is too wide for a column."""
    if value is None:
        return missing
    text = f"{value:{layout}}"
    return text if len(text) <= 14 else f"{value:.2e}"


def _lines(*columns: dict[str, str]) -> list[str]:
    """The lines of a table: what all columns call their cells, and the cells of each."""
    heading, *widths = (max(map(len, texts)) for texts in (columns[0], *(column.values() for column in columns)))
    rows = {key: [column[key] for column in columns] for key in columns[0]}
    return ["  ".join([key.ljust(heading), *map(str.rjust, row, widths)]) for key, row in rows.items()]


def _resolved(rule: Rule, rate: float, gap: float, pulls: int, *, unlucky: bool) -> bool:
    """Whether after `pulls` pulls of each arm the rule drops an arm of mean rate - gap under every attack.

    With `unlucky` also for all empirical means that the guarantee allows; otherwise these are the true means.
    """
    fakes = rule.budget / pulls
    if rule.radius == PAPER:
        chance = sqrt(rule.log_single / pulls)
        return (4.0 * (chance + fakes) if unlucky else 2.0 * chance + 3.0 * fakes) < gap
    if rule.radius == TIGHT:
        chance = sqrt(rule.log_equal / pulls)
        return (2.0 * chance if unlucky else chance) + 2.0 * fakes < gap
    level = rule.log_single / pulls if unlucky else 0.0
    high, low = pulls * _unlucky(rate, 0.0, level), pulls * _unlucky(rate - gap, 1.0, level)
    # The attacker's splits are cut into the rule's pieces, with the worse end for both arms. Only the sum of the
    # attacker's piece and of the piece that the rule assumes matters, so the first and the last cover all in between.
    most, least = rule.budget, rule.budget / PIECES
    return separated(rule, high - least, pulls, low + most, pulls) and separated(
        rule, high - most, pulls, low + least, pulls
    )


def _unlucky(mean: float, end: float, level: float) -> float:
    """The empirical mean that lies furthest towards `end` among those with kl(m, mean) <= level."""
    if kl(end, mean) <= level:
        return end
    outside, inside = end, mean
    while (middle := 0.5 * (outside + inside)) not in (outside, inside):
        if kl(middle, mean) <= level:
            inside = middle
        else:
            outside = middle
    return outside


def _first(true: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least number in [low, high] for which a condition is true that stays true above it; None: there is none."""
    numbers = range(low, high + 1)
    place = bisect_left(numbers, True, key=true)
    return numbers[place] if place < len(numbers) else None
