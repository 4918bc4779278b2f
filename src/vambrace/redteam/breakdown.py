"""The break-down point: the least budget with which some attack of the search reaches a goal.

Bracket     The budget doubles until a search reaches the goal; each search begins with what the one before has found.
Narrow      Bisection on a logarithmic scale, with a search at each budget.
Measure     The attacks that reached the goal with the least budgets, a few of different kinds, play fresh games at a
            grid of budgets around the least. The break-down point is where the larger mean score crosses the goal. Its
            interval reaches from the last budget at which the goal is above the interval of that mean to the first at
            which it is below. Scores are made monotone: an attacker who can spend more can do as much. A second grid
            fills that interval, with more games. A bandit that is plain Python has no time for it: only the first
            and the last budget play more games, until both are certain.

Most games under attack are one of two: the policy is broken, or it is not. If all games of a budget are broken, their
standard error is 0, although one of a hundred may not be: enough to miss a goal that a broken game just exceeds. So the
interval of a mean counts two more games at each extreme, as Agresti and Coull (1998) do for proportions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log, sqrt
from typing import Any, ClassVar, get_args

import numpy as np

from vambrace import validation
from vambrace.adversaries import Script
from vambrace.engine.delays import Delay
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Environment, Floats, Policy
from vambrace.redteam import suite
from vambrace.redteam.games import Games, Played
from vambrace.redteam.goals import Goal
from vambrace.redteam.race import standard_error
from vambrace.redteam.search import Effort, Search, effort_for, resized
from vambrace.redteam.team import WIDE, EffortName, RedTeam, named, scale_of, shown_on

FIRST = 4.0  # the first budget that is tried
FACTOR = (2.0, 4.0)  # from one budget to the next until the goal is reached; for plain Python, which is slow
STEPS = (4, 2)  # of the bisection between the last two of them; the same
KINDS = (3, 1)  # attacks that play the grids; the same
GRID = (9, 4)  # budgets of the first grid, and of the second; the same, which has no second grid
DEEPER = 16  # times as many games of the worst attack in the second grid
DOUBLED = (2, 4, 8)  # times as many games of the first and the last budget, while they are in doubt; for plain Python
EXTREMES = 2  # games at each extreme that an interval counts besides those that were played
AROUND = 1.5  # the grid reaches from the break-down point divided by this to its product with this
WIDEST = 4.0  # times the budget of the search: where the grid ends at last
STEP = 1.2  # from one budget to the next where the grid is made wider
SHARE = 8  # a search is this much shorter than one of `red_team`, since there are many
FRESH = "break"
GROWTH = {"log T": log, "√T": sqrt, "T": float}


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """What `vb.breakdown` found. Print it for one sentence.

    Attributes:
        SCALE: The headings of `scale`.
        TABLE: The headings of `table`.
        policy: The policy that was attacked.
        environment: The arms.
        horizon: The number of rounds.
        goal: What the attacker wants.
        budget: The least budget that reaches the goal; infinite: none that was tried did; 0: no attack is needed.
        low: The lower end of an interval of 95 %.
        high: The upper end.
        attack: The attack that reaches it; None: none does.
        budgets: The budgets of the fresh games.
        attacks: The attack that does most at each of them.
        scores: Its mean score.
        errors: Its standard errors.
        regrets: The mean regret at each of them.
        clean: The games without attack.
        random: The regret of random play.
        everything: All that can be lost.
        games: How many games were played.
        conditions: Late and lost answers, in words; empty: none.

    >>> import vambrace as vb
    >>> class Greedy:
    ...     def __init__(self, n_arms, horizon, seed):
    ...         self.pulls, self.sums = [1] * n_arms, [1.0] * n_arms
    ...
    ...     def ask(self):
    ...         means = [total / n for total, n in zip(self.sums, self.pulls)]
    ...         return means.index(max(means))
    ...
    ...     def tell(self, arm, reward):
    ...         self.pulls[arm] += 1
    ...         self.sums[arm] += reward
    >>> own = vb.Foreign(make=Greedy, name="own")
    >>> print(vb.breakdown(own, vb.Bernoulli([0.9, 0.5]), horizon=200, effort="quick", progress=False))
    2 fake events [1, 3] make own lose half of all that can be lost in 200 rounds; the attack: show 0 on arm 0
    """

    SCALE: ClassVar = RedTeam.SCALE
    TABLE: ClassVar = ("budget", "score ± standard error", "regret", "attack")

    policy: Policy
    environment: Environment
    horizon: int
    goal: Goal
    budget: float
    low: float
    high: float
    attack: Adversary | None
    budgets: Sequence[float]
    attacks: Sequence[Adversary]
    scores: Sequence[float]
    errors: Sequence[float]
    regrets: Sequence[float]
    clean: Played
    random: float
    everything: float
    games: int
    conditions: str = ""

    @property
    def words(self) -> str:
        """The attack in words; empty if there is none."""
        if self.attack is None:
            return ""
        return self.attack.words if isinstance(self.attack, Script) else f"{self.attack.name}, {self.attack.aim}"

    def scale(self) -> list[list[str]]:
        """What the regrets can be compared with, as texts."""
        return scale_of(self)

    def table(self) -> list[list[str]]:
        """One row of texts for each budget of the fresh games."""
        names = [spec_of(each, without="budget") for each in self.attacks]
        rows = zip(self.budgets, self.scores, self.errors, self.regrets, names, strict=True)
        return [[f"{budget:,g}", f"{s:,.3f} ± {e:,.3f}", f"{r:,.0f}", name] for budget, s, e, r, name in rows]

    def summary(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        found: dict[str, Any] = {"policy": spec_of(self.policy), "environment": spec_of(self.environment)}
        found |= {"horizon": self.horizon, "goal": self.goal.words, "attack": spec_of(self.attack), "words": self.words}
        numbers = {"budget": self.budget, "low": self.low, "high": self.high}
        found |= {name: None if value == inf else value for name, value in numbers.items()}
        found |= {name: list(getattr(self, name)) for name in ("budgets", "scores", "errors", "regrets")}
        found |= {"clean_regret": self.clean.regret, "random": self.random, "everything": self.everything}
        return found | {"games": self.games, "conditions": self.conditions}

    def __str__(self) -> str:
        name, rounds = named(self), f"in {self.horizon:,} rounds"
        if self.budget == 0.0:
            return f"no attack is needed to make {name} {self.goal.words} {rounds}"
        if self.attack is None:
            return f"no attack of the search made {name} {self.goal.words} {rounds}"
        high = "more" if self.high == inf else f"{ceil(self.high):,}"
        number = f"{ceil(self.budget):,} fake event{'s' * (self.budget > 1)} [{floor(self.low):,}, {high}]"
        return f"{number} make{'s' * (self.budget <= 1)} {name} {self.goal.words} {rounds}; the attack: {self.words}"


def breakdown(
    policy: Policy,
    environment: Environment,
    *,
    horizon: int,
    goal: str | Goal = "loss 50%",
    effort: EffortName = "standard",
    seed: int = 0,
    attacks: Sequence[Adversary] | None = None,
    delay: Delay | None = None,
    lost: float = 0.0,
    threads: int | None = None,
    progress: bool | None = None,
) -> Breakdown:
    """Find the least budget with which an attack reaches a goal against a policy, with an interval.

    Args:
        policy: The policy to attack; wrap a bandit of your own in `vb.Foreign`.
        environment: The arms.
        horizon: The number of rounds of a game.
        goal: What the attacker wants, such as "loss 50%" or "best 10%"; `vb.red_team` explains them.
        effort: "quick", "standard" or "thorough": how many games at most.
        seed: The same seed gives the same answer, on any number of threads.
        attacks: The fixed attacks that race too; None: the suite, or none against a bandit that is plain Python.
        delay: How late answers arrive, such as vb.Delay.fixed(1_000); None: at once.
        lost: The share of answers that never arrive.
        threads: The number of games played at the same time; None: one per core.
        progress: Show a progress bar; None: if standard error is a terminal and it takes longer than a second.

    >>> import vambrace as vb
    >>> env, goal = vb.Bernoulli([1.0, 0.5]), "arm 1 90%"
    >>> found = vb.breakdown(vb.UCB1(), env, horizon=9, goal=goal, attacks=[vb.Conceal()], effort="quick")
    >>> print(found)
    no attack of the search made ucb1 play arm 1 in 90 % of the rounds in 9 rounds
    """
    made = Goal.parse(goal)
    validation.choice("effort", effort, get_args(EffortName))
    games = Games(policy, environment, horizon=horizon, goal=made, seed=seed, threads=threads, delay=delay, lost=lost)
    whole = effort_for(effort, games)
    part = Effort(max(24, whole.games // SHARE), max(8, whole.report // 2), whole.report // 2 * games.is_compiled)
    fixed = _fixed_attacks(attacks, games)
    with ProgressBar(f"breaking {policy.name}", None, show=progress) as bar:
        (clean,) = games.play([None], FRESH, whole.report)
        needed = clean.score < made.level
        search = Search(games, fixed if needed else [], part, shown_on(bar, made))
        attacks = least_attacks(search, part.report) if needed else []
        grid = _grid(games, attacks, whole.report) if attacks else {}
    found = ends([*grid], [played for _, played in grid.values()], made.level) if needed else (0.0, 0.0, 0.0)
    best = next((attack for each, (attack, _) in grid.items() if each >= found[0]), None)
    return Breakdown(
        goal=made,
        budget=found[0],
        low=found[1],
        high=found[2],
        attack=None if best is None else resized(best, found[0])[-1],
        clean=clean,
        **games.about(),
        **_columns(grid),
    )


def _columns(grid: dict[float, tuple[Adversary, Played]]) -> dict[str, Any]:
    table = [played for _, played in grid.values()]
    return {
        "budgets": [*grid],
        "attacks": [attack for attack, _ in grid.values()],
        "scores": [each.score for each in table],
        "errors": [standard_error(each.scores) for each in table],
        "regrets": [each.regret for each in table],
    }


def _fixed_attacks(attacks: Sequence[Adversary] | None, games: Games) -> list[Adversary]:
    """The fixed attacks that race too: scripts alone where every game is dear."""
    every = suite.every_attack()[0] if games.is_compiled else []
    return every if attacks is None else suite.checked_attacks(attacks)


def least_attacks(search: Search, games: int) -> list[Adversary]:
    """A few attacks of different kinds that reach the goal, the one with the least budget first."""
    found: list[Adversary] = []

    def is_reached(budget: float) -> bool:
        attack = search.run(budget)
        score = search.games.play([attack], "search", games)[0].score
        if score >= search.games.goal.level:
            found.insert(0, attack)
        return score >= search.games.goal.level

    low, high, factor = 0.0, FIRST, FACTOR[not search.games.is_compiled]
    while not is_reached(high):
        if high >= search.games.horizon:
            return []
        low, high = high, min(factor * high, float(search.games.horizon))
    for _ in range(STEPS[not search.games.is_compiled]):
        middle = float(f"{sqrt(low * high) if low > 0 else high / 2:.3g}")
        low, high = (low, middle) if is_reached(middle) else (middle, high)
    kinds = {getattr(each, "modes", each.name): each for each in reversed(found)}
    return sorted(kinds.values(), key=lambda each: each.budget)[: KINDS[not search.games.is_compiled]]


def _grid(games: Games, attacks: Sequence[Adversary], fresh: int) -> dict[float, tuple[Adversary, Played]]:
    """Budgets around the least of some attacks, and the fresh games of the worst with each; wider until they decide."""
    level, least, slow = games.goal.level, attacks[0].budget, not games.is_compiled
    known: dict[float, tuple[Adversary, Played]] = {}

    def add(budgets: Sequence[float], times: int = 1) -> tuple[float, float, float]:
        for budget in (float(f"{each:.4g}") for each in budgets):
            sizes = [resized(attack, budget)[-1] for attack in attacks]
            played = games.play(sizes, FRESH, fresh)
            worst = sizes[int(np.argmax([each.score for each in played]))]
            known[budget] = worst, games.play([worst], FRESH, times * fresh)[0]
        return ends(sorted(known), [known[each][1] for each in sorted(known)], level)

    point, low, high = add(np.geomspace(least / AROUND, least * AROUND, GRID[slow]).tolist())
    while point == inf and max(known) < WIDEST * least:
        point, low, high = add([max(known) * STEP])
    if slow:
        for times in DOUBLED:
            in_doubt = [min(known)] * (low == 0.0) + [max(known)] * (high == inf)
            point, low, high = add(in_doubt, times)
    while low == 0.0 and min(known) > 1.0:
        point, low, high = add([min(known) / STEP])
    if not slow:
        inner = np.geomspace(max(low, min(known)), min(high, max(known)), GRID[slow]).tolist()
        point, low, high = add(inner, DEEPER)
    while high == inf and max(known) < WIDEST * least:
        point, low, high = add([max(known) * STEP])
    return {each: known[each] for each in sorted(known)}


def ends(budgets: Sequence[float], played: Sequence[Played], level: float) -> tuple[float, float, float]:
    """The budget at which games reach a level, and the two ends of its interval."""
    if not played:
        return inf, inf, inf
    extremes = (min(each.scores.min() for each in played), max(each.scores.max() for each in played))
    lows, highs = np.transpose([limits(each.scores, *extremes) for each in played])
    rising = np.maximum.accumulate([each.score for each in played])
    above, below, point = (np.flatnonzero(each >= level) for each in (highs, lows, rising))
    if len(point) == 0:
        return inf, budgets[above[0] - 1] if len(above) and above[0] > 0 else budgets[-1], inf
    i = int(point[0])
    share = (level - rising[i - 1]) / (rising[i] - rising[i - 1]) if i > 0 else 0.0
    middle = budgets[i - 1] + share * (budgets[i] - budgets[i - 1]) if i > 0 else budgets[0]
    low = budgets[above[0] - 1] if above[0] > 0 else 0.0
    return float(f"{middle:.4g}"), low, budgets[below[0]] if len(below) else inf


def limits(scores: Floats, lowest: float, highest: float) -> tuple[float, float]:
    """An interval of 95 % for a mean, with a few more scores at each extreme: rare games may not have been seen."""
    more = np.concatenate([scores, np.repeat([lowest, highest], EXTREMES)])
    mean, wide = float(more.mean()), WIDE * standard_error(more)
    return mean - wide, mean + wide


def growth(horizons: Sequence[int], budgets: Sequence[float]) -> tuple[str, float]:
    """How break-down points grow with the horizon: "log T", "√T" or "T", and the factor (least squares of logarithms).

    Args:
        horizons: The horizons, at least two.
        budgets: The break-down point of each.

    >>> growth([100, 10_000, 1_000_000], [9.0, 21.0, 28.0])[0]
    'log T'
    """
    if len(horizons) < 2 or len(horizons) != len(budgets):
        raise InvalidParameter(f"horizons: expected at least two, each with a budget, got {len(horizons)}")
    found = []
    for name, function in GROWTH.items():
        ratios = np.log([budget / function(horizon) for horizon, budget in zip(horizons, budgets, strict=True)])
        found.append((float(ratios.var()), name, float(np.exp(ratios.mean()))))
    return min(found)[1:]
