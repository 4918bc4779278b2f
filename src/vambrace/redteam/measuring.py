"""What a bandit does in a contest of the leaderboard: the attacks that hurt it most, and the figures that they give.

Search      As `vb.red_team` and `vb.breakdown` do, with the scripts and the attacks of `FIXED`, which are no scripts.
            An attack with a smaller budget, and none at all, count as attacks with a larger one.
Record      The attacks, with all of their parameters, and the budgets of the grid around the break-down point.
Play        Every figure is then computed from that record, in games that had no part in the search. To check an entry
            is to do this step again.

A bandit that is plain Python is slow: it meets scripts only, those first that hurt our policies, in fewer games. Its
break-down point is measured with the attack that broke it at one of the budgets of the board.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from vambrace import registry
from vambrace.adversaries import Script
from vambrace.parameters import spec_of
from vambrace.protocols import Adversary, Policy
from vambrace.redteam.breakdown import AROUND, GRID, WIDEST, ends, least_attacks
from vambrace.redteam.breakdown import STEP as STEP_UP
from vambrace.redteam.candidates import is_armoured
from vambrace.redteam.contests import BUDGETS, GOAL, Contest
from vambrace.redteam.entries import Attacked, Broken, Entry, Figure, Score
from vambrace.redteam.games import Games
from vambrace.redteam.search import STEP, Effort, Search, resized
from vambrace.redteam.team import interval
from vambrace.version import __version__

FIXED = ("exponential-threshold", "phase-burst", "swap", "anti-exp3")  # attacks that are no scripts
SEARCH = (Effort(1_000, 32, 32), Effort(36, 8, 0))  # for each budget; for plain Python
BREAKING = Effort(125, 32, 16)  # of a search for the break-down point, of which there are many
FRESH = "report"
DIGITS = 6  # of the figures in an entry
SEED = 2026


class Recipe(NamedTuple):
    """All that is needed to compute the figures of a contest."""

    worst: Mapping[float, Adversary | None]
    breaking: Adversary | None
    budgets: Sequence[float]
    games: int


def recipe_of(score: Score) -> Recipe:
    """The attacks behind the figures of an entry."""
    worst = {each.budget: registry.adversary(each.attack) for each in score.attacks}
    return Recipe(worst, registry.adversary(score.breakdown.attack), score.breakdown.budgets, score.games)


def measured(policy: Policy, contest: Contest, *, others: Sequence[Entry] = (), threads: int | None = None) -> Score:
    """What a bandit does in a contest: search for attacks, and play the ones that were found.

    Args:
        policy: The bandit.
        contest: The contest.
        others: Entries whose attacks are tried too, if the bandit is plain Python.
        threads: The number of games played at the same time; None: one per core.
    """
    games = games_of(policy, contest, SEED, threads)
    effort = SEARCH[not games.is_compiled]
    fixed = [each for name, each in registry.specimens("adversary", budget=0.0).items() if name in FIXED]
    search = Search(games, fixed if games.is_compiled else [], effort)
    worst: dict[float, Adversary | None] = {}
    for budget in BUDGETS:
        if not games.is_compiled:
            search.winners = [*(each for each in worst.values() if each), *_hurting_others(others, contest, budget)]
        worst[budget] = search.run(budget)
    recipe = with_breaking(games, Recipe(worst, None, [], effort.report))
    breaking = [] if recipe.breaking is None else [recipe.breaking]
    return played(games, recipe._replace(worst=worst_of(games, worst, breaking, effort.report)))


def with_breaking(games: Games, recipe: Recipe) -> Recipe:
    """The recipe with the attack that breaks the bandit with the least budget; its worst attacks are tried too."""
    breaking = _breaking(games, recipe.worst, recipe.games)
    grid = [] if breaking is None else grid_around(games, breaking, recipe.games)
    return recipe._replace(breaking=breaking, budgets=grid)


def contradiction(score: Score, contest: Contest) -> str | None:
    """What is wrong if an attack breaks the bandit for certain with less than the break-down budget; None: nothing."""
    needed, low = GOAL.level * contest.rounds * float(np.ptp(contest.means)), score.breakdown.events.low
    for each in score.attacks:
        if each.regret.low > needed and each.budget < low:
            return (
                f"break-down budget: expected at most {each.budget:,g}, which breaks the bandit, got {low:,g} or more"
            )
    return None


def worst_of(
    games: Games, worst: Mapping[float, Adversary | None], more: Sequence[Adversary], report: int
) -> dict[float, Adversary | None]:
    """For each budget the attack that does most harm, of those that are known and some more, which spend no more."""
    found: dict[float, Adversary | None] = {}
    for budget, known in worst.items():
        rivals = [None, known, *found.values()]
        for each in more:
            rivals += [each] if each.budget <= budget else []
            rivals += resized(each, budget)
        rivals = list(dict.fromkeys(rivals))
        scores = [each.score for each in games.play(rivals, STEP, report)]
        found[budget] = rivals[int(np.argmax(scores))]
    return found


def _hurting_others(others: Sequence[Entry], contest: Contest, budget: float) -> list[Adversary]:
    """The scripts that hurt our policies without armour most, with this budget."""
    found = []
    for entry in others:
        is_ours = contest.name in entry.contests and ".py:" not in entry.bandit
        if is_ours and not is_armoured(registry.policy(entry.bandit)):
            found += [each.attack for each in entry.contests[contest.name].attacks if each.budget == budget]
    made = (registry.adversary(spec) for spec in dict.fromkeys(found))
    return [each for each in made if isinstance(each, Script) and not each.stop_when_dropped]


def games_of(policy: Policy, contest: Contest, seed: int, threads: int | None) -> Games:
    """The games of a bandit in a contest."""
    return Games(policy, contest.environment, horizon=contest.rounds, goal=GOAL, seed=seed, threads=threads)


def _breaking(games: Games, worst: Mapping[float, Adversary | None], report: int) -> Adversary | None:
    """The attack that breaks the bandit with the least budget, or comes nearest to it; None: none is needed."""
    if games.play([None], FRESH, report)[0].score >= GOAL.level:
        return None
    if games.is_compiled:
        search = Search(games, [], BREAKING)
        search.winners += [each for each in worst.values() if each is not None]
        return next(iter(least_attacks(search, BREAKING.report // 2)), None)
    before = (1.0, games.play([None], STEP, report)[0].score)
    nearest: Adversary | None = None
    for budget, attack in worst.items():
        score = games.play([attack], STEP, report)[0].score
        if attack is not None and score >= GOAL.level:
            share = (GOAL.level - before[1]) / (score - before[1])
            return resized(attack, float(before[0] * (budget / before[0]) ** max(share, 0.2)))[-1]
        before, nearest = (budget, score), attack
    return nearest


def grid_around(games: Games, attack: Adversary, report: int) -> list[float]:
    """Budgets around the one at which an attack breaks the bandit, wide enough for both ends of an interval."""
    points, known = GRID[not games.is_compiled], set[float]()

    def add(budgets: Sequence[float]) -> tuple[float, float, float]:
        known.update(float(f"{each:.4g}") for each in budgets)
        return broken_at(games, attack, sorted(known), report)

    _, low, high = add(np.geomspace(attack.budget / AROUND, attack.budget * AROUND, points).tolist())
    while high == inf and max(known) < WIDEST * attack.budget:
        _, low, high = add([max(known) * STEP_UP])
    while low == 0.0 and min(known) > 1.0:
        _, low, high = add([min(known) / STEP_UP])
    add(np.geomspace(max(low, min(known)), min(high, max(known)), points).tolist())
    return sorted(known)


def broken_at(games: Games, attack: Adversary, budgets: Sequence[float], report: int) -> tuple[float, float, float]:
    """The budget at which an attack breaks the bandit, and the two ends of its interval."""
    tried = [resized(attack, each)[-1] for each in budgets]
    return ends(budgets, games.play(tried, FRESH, report), GOAL.level)


def played(games: Games, recipe: Recipe) -> Score:
    """The figures of a contest.

    Args:
        games: The games of the bandit in the contest.
        recipe: The attacks.
    """
    clean, *attacked = games.play([None, *recipe.worst.values()], FRESH, recipe.games)
    breaking = Broken(attack="none", budgets=(), events=_figure((inf, inf, inf)))
    if clean.score >= GOAL.level:
        breaking = Broken(attack="none", budgets=(), events=_figure((0.0, 0.0, 0.0)))
    elif recipe.breaking is not None:
        found = broken_at(games, recipe.breaking, recipe.budgets, recipe.games)
        breaking = Broken(attack=spec_of(recipe.breaking), budgets=tuple(recipe.budgets), events=_figure(found))
    worst = zip(recipe.worst.items(), attacked, strict=True)
    return Score(
        arms=spec_of(games.environment),
        rounds=games.horizon,
        games=recipe.games,
        seed=games.seed,
        version=__version__,
        regret=_mean(clean.regrets),
        attacks=tuple(
            Attacked(budget=budget, attack=spec_of(attack), regret=_mean(each.regrets))
            for (budget, attack), each in worst
        ),
        breakdown=breaking,
    )


def _mean(values: Any) -> Figure:
    return _figure((float(values.mean()), *interval(values)))


def _figure(values: tuple[float, float, float]) -> Figure:
    """A figure as an entry has it: rounded, and not below 0."""
    return Figure(*(float(f"{max(each, 0.0):.{DIGITS}g}") for each in values))
