"""`red_team`: search for the worst attack against a policy, and measure it in fresh games."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from vambrace import validation
from vambrace.adversaries import Inject, Script
from vambrace.engine.delays import Delay
from vambrace.errors import InvalidParameter
from vambrace.parameters import spec_of
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Environment, Policy
from vambrace.redteam import suite
from vambrace.redteam.games import Games, Played
from vambrace.redteam.goals import Goal
from vambrace.redteam.race import standard_error
from vambrace.redteam.search import Effort, Search, Threat, Watch, effort_for, injected
from vambrace.redteam.shuffling import has_order

EffortName = Literal["quick", "standard", "thorough"]
WIDE = 2.0  # standard errors on each side of a mean: an interval of 95 %
FRESH = "report"


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The worst attack that was found with one budget, in fresh games.

    Attributes:
        budget: What the attack may spend.
        attack: The attack, which can be replayed.
        played: Its fresh games.
        fixed: The fresh games of the worst attack of the fixed suite; None: that is the winner.
    """

    budget: float
    attack: Adversary
    played: Played
    fixed: tuple[Adversary, Played] | None

    @property
    def spec(self) -> str:
        """The attack as a text that can be replayed."""
        return spec_of(self.attack)

    @property
    def words(self) -> str:
        """The attack in words."""
        return self.attack.words if isinstance(self.attack, Script) else f"{self.attack.name}: {self.attack.aim}"

    @property
    def regret(self) -> float:
        """The mean regret in fresh games."""
        return self.played.regret

    @property
    def interval(self) -> tuple[float, float]:
        """An interval of 95 % for it."""
        return interval(self.played.regrets)

    def summary(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        low, high = self.interval
        found = {"budget": self.budget, "regret": self.regret, "interval": [low, high], "score": self.played.score}
        found |= {"attack": self.spec, "words": self.words, "cost": self.played.cost}
        name, games = self.fixed or (self.attack, self.played)
        return found | {"fixed_attack": spec_of(name), "fixed_regret": games.regret}


@dataclass(frozen=True, kw_only=True)
class RedTeam:
    """What `vb.red_team` found. Print it for the answer and the recipe of each budget.

    Attributes:
        SCALE: The headings of `scale`.
        TABLE: The headings of `table`.
        policy: The policy that was attacked.
        environment: The arms.
        horizon: The number of rounds.
        goal: What the attacker wants.
        worst: The worst attack of each budget, by budget.
        clean: The fresh games without attack.
        random: The regret of random play.
        everything: The regret of playing the worst arm only: all that can be lost.
        games: How many games were played.
        shuffled: Whether every game had its own order of the arms.
        skipped: Attacks of the suite that do not apply, and why.
        threat: "alter": rewards were altered; "inject": fake visitors were added.
        conditions: Late and lost answers, in words; empty: none.

    >>> import vambrace as vb
    >>> options = {"budgets": 9, "horizon": 50, "attacks": [vb.Conceal()], "games": 40, "effort": "quick"}
    >>> vb.red_team(vb.UCB1(alpha=1), vb.Bernoulli([0.9, 0.5]), **options).everything
    20.0
    """

    SCALE: ClassVar = ("the policy", "regret", "of all that can be lost")
    TABLE: ClassVar = ("budget", "regret", "interval", "spent", "worst of the suite", "attack")

    policy: Policy
    environment: Environment
    horizon: int
    goal: Goal
    worst: Mapping[float, Worst]
    clean: Played
    random: float
    everything: float
    games: int
    shuffled: bool
    skipped: Mapping[str, str]
    threat: Threat = "alter"
    conditions: str = ""

    def scale(self) -> list[list[str]]:
        """What the regrets can be compared with, as texts."""
        return scale_of(self)

    def table(self) -> list[list[str]]:
        """One row of texts for each budget."""
        rows = []
        for each in self.worst.values():
            suite_worst = each.played if each.fixed is None else each.fixed[1]
            figures = [f"{each.budget:,g}", f"{each.regret:,.0f}", "[{:,.0f}, {:,.0f}]".format(*each.interval)]
            rows.append([*figures, f"{each.played.cost:,.1f}", f"{suite_worst.regret:,.0f}", each.spec])
        return rows

    def summary(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        found: dict[str, Any] = {"policy": spec_of(self.policy), "environment": spec_of(self.environment)}
        found |= {"horizon": self.horizon, "goal": self.goal.words, "clean_regret": self.clean.regret}
        found |= {"random": self.random, "everything": self.everything, "games": self.games}
        found |= {"replications": len(self.clean.scores), "shuffled": self.shuffled, "threat": self.threat}
        found |= {"conditions": self.conditions}
        return found | {"worst": [each.summary() for each in self.worst.values()], "skipped": dict(self.skipped)}

    def answer(self, worst: Worst) -> str:
        """One sentence about one budget.

        Args:
            worst: What was found with it.
        """
        made = self.goal.text(worst.played.score).replace("lose", "loses", 1).replace("play", "plays", 1)
        low, high = worst.interval
        regret = "" if self.goal.measure == "regret" else f": a regret of {worst.regret:,.0f} [{low:,.0f}, {high:,.0f}]"
        fakes = ("fake event" if self.threat == "alter" else "fake visitor") + "s" * (worst.budget != 1)
        return f"With {worst.budget:,g} {fakes} {named(self)} {made}{regret}"

    def __str__(self) -> str:
        marks = {"no attack": self.clean.regret, "random play": self.random, "everything lost": self.everything}
        scale = ", ".join(f"{name} {regret:,.0f}" for name, regret in marks.items())
        lines = [f"{named(self)}, {self.horizon:,} rounds: {scale}"]
        for each in self.worst.values():
            lines += [f"  {self.answer(each)}", f"    {each.words}", f"    {each.spec}"]
        return "\n".join(lines)


def red_team(
    policy: Policy,
    environment: Environment,
    *,
    budgets: float | Sequence[float],
    horizon: int,
    goal: str | Goal = "loss 50%",
    effort: EffortName = "standard",
    threat: Threat = "alter",
    seed: int = 0,
    attacks: Sequence[Adversary] | None = None,
    games: int | None = None,
    delay: Delay | None = None,
    lost: float = 0.0,
    threads: int | None = None,
    progress: bool | None = None,
) -> RedTeam:
    """Search for the attack that hurts a policy most, and measure it in fresh games.

    The attacks of the suite and a family of scripts (`vb.Script`) race over the same games; the best scripts are
    changed a little and race again. `vb.LookAhead` races too in games of up to 10,000 rounds with prompt answers,
    unless the effort is "quick" or `attacks` are given. Every game has its own order of the arms, if that is possible.

    Args:
        policy: The policy to attack; wrap a bandit of your own in `vb.Foreign`.
        environment: The arms.
        budgets: What the attacker may spend: a number, or several.
        horizon: The number of rounds of a game.
        goal: "loss 50%" (of all that can be lost), "arm 4 90%" (of the rounds), "best 10%" (at most) or "regret 5000".
        effort: "quick", "standard" or "thorough": how many games at most.
        threat: "alter": the attacker alters rewards; "inject": it adds `budget` fake visitors, without their regret.
        seed: The same seed gives the same answer, on any number of threads.
        attacks: The fixed attacks that race too; None: the suite, or, for "inject", visitors who hide the best arm.
        games: About the most games of the search at each budget, for slow bandits; None: by the effort.
        delay: How late answers arrive, such as vb.Delay.fixed(1_000); None: at once.
        lost: The share of answers that never arrive.
        threads: The number of games played at the same time; None: one per core.
        progress: Show a progress bar; None: if standard error is a terminal and it takes longer than a second.

    >>> import vambrace as vb
    >>> options = {"budgets": 12, "horizon": 300, "attacks": [vb.Conceal()], "games": 60, "effort": "quick"}
    >>> print(vb.red_team(vb.UCB1(alpha=1), vb.Bernoulli([0.9, 0.5]), **options))
    ucb1:alpha=1, 300 rounds: no attack 9, random play 60, everything lost 120
      With 12 fake events ucb1:alpha=1 loses 63.5 % of all that can be lost: a regret of 76 [54, 98]
        conceal: hides the best arm
        conceal:budget=12
    """
    made = Goal.parse(goal)
    arena = Games(policy, environment, horizon=horizon, goal=made, seed=seed, threads=threads, delay=delay, lost=lost)
    sizes = sorted(dict.fromkeys(_budgets(budgets)))
    chosen = _effort(effort, games, arena)
    fixed, skipped = _fixed_attacks(attacks, threat, arena)
    looking = effort != "quick" and attacks is None
    with ProgressBar(f"attacking {policy.name}", len(sizes) * chosen.about, show=progress, unit="games") as bar:
        search = Search(arena, fixed, chosen, shown_on(bar, made), threat, looking=looking)
        found = {each: _measured(search, each, search.run(each), chosen.report) for each in sizes}
        (clean,) = arena.play([None], FRESH, chosen.report)
    about = arena.about() | {"shuffled": has_order(environment), "skipped": search.skipped | skipped, "threat": threat}
    return RedTeam(goal=made, worst=found, clean=clean, **about)


def shown_on(bar: ProgressBar, goal: Goal) -> Watch:
    """A watch that shows the games played and what the best attack so far makes the policy do."""
    return lambda played, best, score: bar.update(played, f"{best.budget:,.4g} made it {goal.text(score)}")


def _effort(name: EffortName, games: int | None, arena: Games) -> Effort:
    """How many games to play: by the name, or about `games` at most."""
    validation.choice("effort", name, get_args(EffortName))
    chosen = effort_for(name, arena)
    if games is None:
        return chosen
    most = validation.whole("games", games, low=20, high=10**9)
    fewer = min(chosen.report, max(8, most // 6))
    return chosen._replace(games=most, report=fewer, final=min(chosen.final, fewer // 4))


def _fixed_attacks(
    attacks: Sequence[Adversary] | None, threat: Threat, arena: Games
) -> tuple[list[Adversary], dict[str, str]]:
    """The fixed attacks that race too, and those that cannot; scripts are what the search makes."""
    validation.choice("threat", threat, get_args(Threat))
    if attacks is not None:
        fixed = suite.checked_attacks(attacks)
        for each in fixed:
            if (each.strength == "injecting") != (threat == "inject"):
                raise InvalidParameter(f"attacks: expected attacks of the threat {threat}, got {spec_of(each)}")
        return fixed, {}
    if threat == "inject":
        best = "".join("-" if mean == arena.means.max() else "0" for mean in arena.means)
        return [injected(Script(modes=best), peek=False)], {}
    fixed, skipped = suite.every_attack()
    return fixed, {name: why for name, why in skipped.items() if name not in (Script.name, Inject.name)}


def _measured(search: Search, budget: float, winner: Adversary, games: int) -> Worst:
    """The winner, and the best fixed attack, in fresh games."""
    fixed = [each for each in search.best_fixed(budget) if each != winner]
    played = search.games.play([winner, *fixed], FRESH, games)
    return Worst(budget=budget, attack=winner, played=played[0], fixed=(fixed[0], played[1]) if fixed else None)


def named(report: Any) -> str:
    """The policy of a report, and late and lost answers."""
    return f"{spec_of(report.policy)} ({report.conditions})" if report.conditions else spec_of(report.policy)


def scale_of(report: Any) -> list[list[str]]:
    """No attack, random play and everything lost: regrets, also as shares."""
    marks = {"without attack": report.clean.regret, "plays at random": report.random}
    marks |= {"always plays the worst arm": report.everything}
    return [[name, f"{regret:,.0f}", f"{100 * regret / report.everything:.1f} %"] for name, regret in marks.items()]


def interval(values: Any) -> tuple[float, float]:
    """An interval of 95 % for the mean."""
    mean, wide = float(np.mean(values)), WIDE * standard_error(values)
    return mean - wide, mean + wide


def _budgets(budgets: Any) -> list[float]:
    listed = budgets if validation.is_sequence(budgets) else [budgets]
    sizes = [validation.budget(each, finite=True) for each in listed]
    if not sizes or min(sizes) == 0:
        raise InvalidParameter(f"budgets: expected numbers above 0, got {budgets!r}")
    return sizes
