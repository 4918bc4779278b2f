"""Every fixed attack that applies to a policy, at every budget, in one call; `red_team` searches for worse ones.

A low regret under one attack proves nothing: the attack may be the wrong one, or unable to spend its budget. So the
score of a policy is its worst regret under these attacks, and the report names attacks that had little effect. Every
game has its own order of the arms: ties go to the lowest arm, so an order may shield the best arm.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vambrace import registry, validation
from vambrace.adversaries import EliminationRush, Mimic
from vambrace.engine.result import Result
from vambrace.engine.simulation import Engine
from vambrace.errors import GameFault, InvalidParameter, NotApplicable
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Environment, Policy
from vambrace.redteam.games import checked_policy, in_parallel, one_game, workers_for

if TYPE_CHECKING:
    import polars

UNSPENT = "left more than half its budget unspent"
HARMLESS = "regret below that without attack"
BY_CHANCE = "regret below that without attack, within noise"
DEPTHS = (1.2, 4.0)  # of Mimic, besides its default: which is worst depends on the policy
NOISE = 2.0  # a difference of fewer standard errors may be chance


@dataclasses.dataclass(frozen=True, kw_only=True)
class Attacked:
    """One attack at one budget."""

    budget: float
    result: Result
    warnings: tuple[str, ...]

    @property
    def attack(self) -> str:
        """The attack's name and parameters without the budget; "none" without attack."""
        return registry.spec_of(self.result.adversary, without="budget")

    @property
    def regret(self) -> float:
        """Mean pseudo regret at the horizon."""
        return float(self.result.pseudo_regret[:, -1].mean())

    @property
    def cost(self) -> float:
        """What the attack spent, on average."""
        return float(self.result.cost[:, -1].mean())

    def summary(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        error = self.result.summary()["pseudo_regret"]["standard_error"]
        found = {"budget": self.budget, "attack": self.attack, "regret": self.regret, "standard_error": error}
        return found | {"cost": self.cost, "engine": self.result.engine, "warnings": list(self.warnings)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttackReport:
    """What `vb.attack_suite` found. Print it for the worst regret of each budget, and warnings.

    Attributes:
        rows: One for each attack and budget, with `budget`, `attack`, `regret`, `cost`, `warnings` and `result`.
        clean: The `vb.Result` without attack.
        skipped: Attacks that do not apply, and why.
        policy: The policy that was attacked.
        environment: The arms.

    >>> import vambrace as vb
    >>> env, attacks = vb.Bernoulli([0.9, 0.5]), [vb.Conceal(), vb.RandomFlips()]
    >>> report = vb.attack_suite(vb.UCB1(), env, budgets=[0, 60], horizon=2_000, attacks=attacks, replications=2)
    >>> [(row.budget, row.attack, round(row.regret)) for row in report.rows]
    [(0.0, 'none', 23), (60.0, 'conceal', 781), (60.0, 'random-flips', 29)]
    >>> report.worst[60].attack
    'conceal'
    """

    policy: Policy
    environment: Environment
    clean: Result
    rows: tuple[Attacked, ...]
    skipped: Mapping[str, str]

    @property
    def worst(self) -> dict[float, Attacked]:
        """For each budget the attack that caused the largest mean regret."""
        budgets = dict.fromkeys(row.budget for row in self.rows)
        rows = {each: [row for row in self.rows if row.budget == each] for each in budgets}
        return {each: max(rows[each], key=lambda row: row.regret) for each in budgets}

    @property
    def warnings(self) -> list[str]:
        """Which figures cannot be trusted, and why."""
        so = "do not trust its figure, a better attack may do more"
        return [f"{row.attack} at budget {row.budget:g}: {each}; {so}" for row in self.rows for each in row.warnings]

    def summary(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        clean = self.clean.summary()
        return {
            **{name: clean[name] for name in ("policy", "environment", "horizon", "replications", "seed")},
            "clean_regret": clean["pseudo_regret"]["mean"],
            "worst": [row.summary() for row in self.worst.values()],
            "attacks": [row.summary() for row in self.rows],
            "skipped": dict(self.skipped),
        }

    def to_frame(self) -> "polars.DataFrame":
        """A Polars frame, one row for each attack and budget."""
        import polars

        rows = [row.summary() for row in self.rows]
        frame = polars.DataFrame([row | {"warnings": "; ".join(row["warnings"])} for row in rows])
        return frame.cast({"standard_error": polars.Float64})  # also if each is None, after one replication

    def __str__(self) -> str:
        note = f", {self.environment.note}" if self.environment.note else ""
        lines = [f"{registry.spec_of(self.policy)}, {self.clean.horizon:,} rounds{note}: worst regret of these attacks"]
        for budget, row in self.worst.items():
            by = "without attack" if row.result.adversary is None else f"by {row.attack}, which spent {row.cost:,.1f}"
            lines.append(f"  budget {budget:g}: {row.regret:,.1f} {by}")
        return "\n".join([*lines, *(f"  warning: {warning}" for warning in self.warnings)])


def attack_suite(
    policy: Policy,
    environment: Environment,
    *,
    budgets: Sequence[float],
    horizon: int,
    replications: int = 20,
    seed: int = 0,
    attacks: Sequence[Adversary] | None = None,
    bounded: bool = True,
    engine: Engine = "auto",
    threads: int | None = None,
    progress: bool | None = None,
) -> AttackReport:
    """Play a policy against every attack that applies to it, at every budget.

    Args:
        policy: The policy to attack; wrap a bandit of your own in `vb.Foreign`.
        environment: The arms.
        budgets: What the attacker may spend; 0 is the game without attack.
        horizon: The number of rounds of a game.
        replications: The number of games for each attack and budget.
        seed: The seed of the random numbers.
        attacks: The attacks to try; their own budgets are replaced. None: all registered ones.
        bounded: Clip altered rewards to [0, 1].
        engine: "auto", "rounds" or "leap", as in `vb.simulate`.
        threads: The number of games played at the same time; None: one per core.
        progress: Show a progress bar; None: if standard error is a terminal and it takes longer than a second.

    Every attack meets the same games, each with its own order of the arms, by the seed: ties go to the lowest arm. A
    white-box attack applies if the policy's state has the fields that it reads; `skipped` has those that do not apply.
    Warnings name attacks that did less than they could; the worst attack of a budget may leave some of it unspent.

    >>> import vambrace as vb
    >>> env, attacks = vb.Bernoulli([0.9, 0.5]), [vb.Conceal(), vb.RandomFlips()]
    >>> report = vb.attack_suite(vb.UCB1(), env, budgets=[0, 60], horizon=2_000, attacks=attacks, replications=2)
    >>> print(report)
    ucb1, 2,000 rounds: worst regret of these attacks
      budget 0: 23.2 without attack
      budget 60: 781.2 by conceal, which spent 42.5
    """
    _check(policy, budgets)
    sizes = dict.fromkeys(validation.budget(budget, finite=True) for budget in budgets)
    chosen, skipped = every_attack() if attacks is None else (checked_attacks(attacks), {})
    games = [(size, attack) for size in sizes for attack in (chosen if size > 0 else [None])]
    options: dict[str, Any] = {"horizon": horizon, "engine": engine, "bounded": bounded}
    options |= {"replications": replications, "seed": seed, "threads": threads}
    rows = []
    with ProgressBar(f"attacking {policy.name}", 1 + len(games), show=progress) as bar:
        clean = _play(policy, environment, None, **options)
        for done, (size, attack) in enumerate(games, start=1):
            bar.update(done)
            try:
                rows.append(_row(policy, environment, attack, size, clean, options))
            except (NotApplicable, GameFault) as error:  # keep the results of the other attacks
                skipped[registry.spec_of(attack, without="budget")] = str(error)
    report = AttackReport(policy=policy, environment=clean.environment, clean=clean, rows=tuple(rows), skipped=skipped)
    return dataclasses.replace(report, rows=_winners_trusted(report))


def _check(policy: Any, budgets: Any) -> None:
    checked_policy(policy)
    if not validation.is_sequence(budgets) or len(budgets) == 0:
        raise InvalidParameter(f"budgets: expected a sequence of numbers such as [0, 10, 100], got {budgets!r}")


def _row(
    policy: Policy,
    environment: Environment,
    attack: Adversary | None,
    size: float,
    clean: Result,
    options: dict[str, Any],
) -> Attacked:
    """One attack at one budget."""
    if attack is None:
        return Attacked(budget=0.0, result=clean, warnings=())
    sized = dataclasses.replace(attack, budget=size)  # type: ignore[type-var]
    result = _play(policy, environment, sized, **options)
    return Attacked(budget=size, result=result, warnings=_doubts(result, clean, size))


def _winners_trusted(report: AttackReport) -> tuple[Attacked, ...]:
    """The rows; no doubt about the worst attack of a budget because it needed less than that budget."""
    winners = [*report.worst.values()]
    return tuple(
        dataclasses.replace(row, warnings=tuple(each for each in row.warnings if each != UNSPENT))
        if any(row is winner for winner in winners)
        else row
        for row in report.rows
    )


def checked_attacks(attacks: Any) -> list[Adversary]:
    """Attacks that a caller passed: at least one, and dataclasses, whose budget can be replaced."""
    if not validation.is_sequence(attacks) or not all(isinstance(attack, Adversary) for attack in attacks):
        raise InvalidParameter(f"attacks: expected a sequence of vambrace.Adversary objects, got {attacks!r}")
    if len(attacks) == 0:
        raise InvalidParameter("attacks: expected at least one, or None for all that are registered, got none")
    for attack in attacks:
        if not dataclasses.is_dataclass(attack):
            raise InvalidParameter(f"attacks: expected dataclasses, whose budget can be replaced, got {attack!r}")
    return list(attacks)


def every_attack() -> tuple[list[Adversary], dict[str, str]]:
    """One object of each registered attack, variants of two, and the attacks that need more parameters."""
    found, why = registry.specimens("adversary", budget=0.0), "expected to be passed in attacks, with its parameters"
    others = [name for name in registry.known("adversary") if name not in found]
    variants: list[Adversary] = [Mimic(depth=depth) for depth in DEPTHS if "mimic" in found]
    variants += [EliminationRush(stop_when_dropped=True)] if "elimination-rush" in found else []
    missing = {name: f"{name}: {why}, got none of them" for name in others}
    slow = [name for name, attack in found.items() if attack.work > 1]
    missing |= {name: f"{name}: expected to be passed in attacks, because it is slow" for name in slow}
    return [*(attack for name, attack in found.items() if name not in slow), *variants], missing


def _play(
    policy: Policy,
    environment: Environment,
    attack: Adversary | None,
    *,
    replications: int,
    seed: int,
    threads: int | None,
    **options: Any,
) -> Result:
    """Games in which the arms stand in any order; the result has the arms in their own order."""
    replications, seed = validation.whole("replications", replications, low=1, high=10**9), validation.seed(seed)

    def play(game: int) -> Result:
        return one_game(policy, environment, attack, seed + game, (seed, game), **options)

    found = in_parallel(play, range(replications), workers_for(policy, threads), set(), lambda _: attack)
    arrays: dict[str, Any] = {}
    for name in ("pulls", "pseudo_regret", "cost", "realized", "observed"):
        columns = [getattr(each, name) for each in found]
        arrays[name] = None if columns[0] is None else np.concatenate(columns)
    return dataclasses.replace(found[0], replications=replications, seed=seed, **arrays)


def _doubts(result: Result, clean: Result, budget: float) -> tuple[str, ...]:
    doubts = []
    if result.cost[:, -1].mean() < budget / 2:
        doubts.append(UNSPENT)
    attacked, alone = result.pseudo_regret[:, -1], clean.pseudo_regret[:, -1]
    if attacked.mean() < alone.mean():
        noise = float(np.sqrt((attacked.var() + alone.var()) / max(1, len(alone) - 1)))
        doubts.append(BY_CHANCE if alone.mean() - attacked.mean() <= NOISE * noise else HARMLESS)
    return tuple(doubts)
