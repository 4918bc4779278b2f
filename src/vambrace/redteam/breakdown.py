"""The break-down point: the least budget with which some attack of the search reaches a goal.

Bracket     The budget doubles until a search reaches the goal; each search begins with what the one before has found.
Narrow      Bisection on a logarithmic scale, with a search at each budget.
Measure     The attack that reached the goal with the least budget plays fresh games at a grid of budgets around it. The
            break-down point is where the mean score crosses the goal. Its interval reaches from the last budget at
            which the goal is above the interval of that mean to the first at which it is below. Scores are made
            monotone: an attacker who can spend more can do as much. A second grid fills that interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log, sqrt
from typing import Any, ClassVar, get_args

import numpy as np

from vambrace import validation
from vambrace.adversaries import Script
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Environment, Policy
from vambrace.redteam import suite
from vambrace.redteam.games import Games, Played
from vambrace.redteam.goals import Goal
from vambrace.redteam.race import standard_error
from vambrace.redteam.search import Effort, Search, effort_for, resized
from vambrace.redteam.team import WIDE, EffortName, RedTeam, scale_of

FIRST = 4.0  # the first budget that is tried
FACTOR = (2.0, 4.0)  # from one budget to the next until the goal is reached; for plain Python, which is slow
STEPS = (4, 3)  # of the bisection between the last two of them; the same
GRID = (9, 5)  # budgets of each of the two grids; the same
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
        budget: The least budget that reaches the goal; infinite: none that was tried did.
        low: The lower end of an interval of 95 %.
        high: The upper end.
        attack: The attack that reaches it; None: none does.
        budgets: The budgets of the fresh games.
        scores: The mean score at each of them.
        errors: Its standard errors.
        regrets: The mean regret at each of them.
        clean: The games without attack.
        random: The regret of random play.
        everything: All that can be lost.
        games: How many games were played.

    >>> import vambrace as vb
    >>> env, options = vb.Bernoulli([0.9, 0.5]), {"horizon": 100, "attacks": [vb.Conceal()], "effort": "quick"}
    >>> found = vb.breakdown(vb.UCB1(alpha=1), env, **options)
    >>> found.low <= found.budget <= found.high
    True
    """

    SCALE: ClassVar = RedTeam.SCALE
    TABLE: ClassVar = ("budget", "score", "regret")

    policy: Policy
    environment: Environment
    horizon: int
    goal: Goal
    budget: float
    low: float
    high: float
    attack: Adversary | None
    budgets: Sequence[float]
    scores: Sequence[float]
    errors: Sequence[float]
    regrets: Sequence[float]
    clean: Played
    random: float
    everything: float
    games: int

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
        rows = zip(self.budgets, self.scores, self.errors, self.regrets, strict=True)
        return [[f"{budget:,g}", f"{s:,.3f} ± {e:,.3f}", f"{r:,.0f}"] for budget, s, e, r in rows]

    def summary(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        found: dict[str, Any] = {"policy": spec_of(self.policy), "environment": spec_of(self.environment)}
        found |= {"horizon": self.horizon, "goal": self.goal.words, "attack": spec_of(self.attack), "words": self.words}
        numbers = {"budget": self.budget, "low": self.low, "high": self.high}
        found |= {name: None if value == inf else value for name, value in numbers.items()}
        found |= {name: list(getattr(self, name)) for name in ("budgets", "scores", "errors", "regrets")}
        found |= {"clean_regret": self.clean.regret, "random": self.random, "everything": self.everything}
        return found | {"games": self.games}

    def __str__(self) -> str:
        name, rounds = spec_of(self.policy), f"in {self.horizon:,} rounds"
        if self.attack is None:
            return f"no attack of the search made {name} {self.goal.words} {rounds}"
        high = "more" if self.high == inf else f"{ceil(self.high):,}"
        number = f"{ceil(self.budget):,} fake events [{floor(self.low):,}, {high}]"
        return f"{number} make {name} {self.goal.words} {rounds}; the attack: {self.words}"


def breakdown(
    policy: Policy,
    environment: Environment,
    *,
    horizon: int,
    goal: str | Goal = "loss 50%",
    effort: EffortName = "standard",
    seed: int = 0,
    attacks: Sequence[Adversary] | None = None,
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
        threads: The number of games played at the same time; None: one per core.
        progress: Show a progress bar; None: if standard error is a terminal and it takes longer than a second.

    >>> import vambrace as vb
    >>> env, options = vb.Bernoulli([0.9, 0.5]), {"horizon": 100, "attacks": [vb.Conceal()], "effort": "quick"}
    >>> print(vb.breakdown(vb.UCB1(alpha=1), env, progress=False, **options))
    6 fake events [5, 7] make ucb1:alpha=1 lose half of all that can be lost in 100 rounds; the attack: conceal, hides the best arm
    """  # noqa: E501
    made = Goal.parse(goal)
    validation.choice("effort", effort, get_args(EffortName))
    games = Games(policy, environment, horizon=horizon, goal=made, seed=seed, threads=threads)
    whole = effort_for(effort, games)
    part = Effort(max(24, whole.games // SHARE), max(8, whole.report // 2), whole.report // 2 * games.is_compiled)
    fixed = _fixed_attacks(attacks, games)
    with ProgressBar(f"breaking {policy.name}", None, show=progress) as bar:
        search = Search(games, fixed, part, lambda played, *_: bar.update(played))
        attack = _least(search, part.report)
        grid, table = _grid(games, attack, whole.report) if attack is not None else ([], [])
        (clean,) = games.play([None], FRESH, whole.report)
    found = ends(grid, table, made.level)
    return Breakdown(
        policy=policy,
        environment=environment,
        horizon=games.horizon,
        goal=made,
        budget=found[0],
        low=found[1],
        high=found[2],
        attack=None if attack is None or found[0] == inf else resized(attack, found[0])[-1],
        budgets=grid,
        scores=[each.score for each in table],
        errors=[standard_error(each.scores) for each in table],
        regrets=[each.regret for each in table],
        clean=clean,
        random=games.random,
        everything=games.everything,
        games=games.played,
    )


def _fixed_attacks(attacks: Sequence[Adversary] | None, games: Games) -> list[Adversary]:
    """The fixed attacks that race too: scripts alone where every game is dear."""
    every = suite.every_attack()[0] if games.is_compiled else []
    return every if attacks is None else suite.checked_attacks(attacks)


def _least(search: Search, games: int) -> Adversary | None:
    """The attack that reaches the goal with the least budget."""

    def reaching(budget: float) -> Adversary | None:
        attack = search.run(budget)
        score = search.games.play([attack], "search", games)[0].score
        return attack if score >= search.games.goal.level else None

    low, high, factor = 0.0, FIRST, FACTOR[not search.games.is_compiled]
    while (best := reaching(high)) is None:
        if high >= search.games.horizon:
            return None
        low, high = high, min(factor * high, float(search.games.horizon))
    for _ in range(STEPS[not search.games.is_compiled]):
        middle = float(f"{sqrt(low * high) if low > 0 else high / 2:.3g}")
        found = reaching(middle)
        low, high, best = (low, middle, found) if found is not None else (middle, high, best)
    return best


def _grid(games: Games, attack: Any, fresh: int) -> tuple[list[float], list[Played]]:
    """Budgets around the one of an attack, and its fresh games with each; wider if they do not reach the goal."""
    level, points = games.goal.level, GRID[not games.is_compiled]
    known: dict[float, Played] = {}

    def add(budgets: Sequence[float]) -> list[float]:
        new = [each for each in (float(f"{each:.4g}") for each in budgets) if each not in known]
        known.update(zip(new, games.play([resized(attack, each)[-1] for each in new], FRESH, fresh), strict=True))
        return sorted(known)

    budgets = add(np.geomspace(attack.budget / AROUND, attack.budget * AROUND, points).tolist())
    while known[budgets[-1]].score < level and budgets[-1] < WIDEST * attack.budget:
        budgets = add([budgets[-1] * STEP])
    while known[budgets[0]].score >= level and budgets[0] > 1.0:
        budgets = add([budgets[0] / STEP])
    _, low, high = ends(budgets, [known[each] for each in budgets], level)
    budgets = add(np.geomspace(max(low, budgets[0]), min(high, budgets[-1]), points).tolist())
    return budgets, [known[each] for each in budgets]


def ends(budgets: Sequence[float], played: Sequence[Played], level: float) -> tuple[float, float, float]:
    """The budget at which games reach a level, and the two ends of its interval."""
    if not played:
        return inf, inf, inf
    means = np.array([each.score for each in played])
    errors = WIDE * np.array([standard_error(each.scores) for each in played])
    rising = np.maximum.accumulate(means)
    above = np.flatnonzero(np.maximum.accumulate(means + errors) >= level)
    below = np.flatnonzero(np.maximum.accumulate(means - errors) >= level)
    point = np.flatnonzero(rising >= level)
    if len(point) == 0:
        return inf, budgets[above[0] - 1] if len(above) and above[0] > 0 else budgets[-1], inf
    i = int(point[0])
    share = (level - rising[i - 1]) / (rising[i] - rising[i - 1]) if i > 0 else 0.0
    middle = budgets[i - 1] + share * (budgets[i] - budgets[i - 1]) if i > 0 else budgets[0]
    low = budgets[above[0] - 1] if above[0] > 0 else 0.0
    return float(f"{middle:.4g}"), low, budgets[below[0]] if len(below) else inf


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
