"""Test the bounds that have explicit constants against the strongest attacks that stay within the budget.

An upper bound and a coverage guarantee may each fail with probability delta. A check counts the failures, takes the
exact lower confidence limit of their frequency, and is violated if that limit is above the allowed frequency. With 400
replications a guarantee of 5 % counts as broken from about 43 failures on. An attack that spends little of its budget
proves nothing, and fails the check too. The lower bound of Theorem 1 may never fail; all policies play its game.
`evidence_checks` computes what cannot be counted: whether a policy uses the delta that it was given.
`price_checks` has the checks of KL-UCB-WR and of the price of armour.
"""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from vambrace import theory, validation
from vambrace.adversaries import Conceal, EliminationRush, JunUCB, RandomFlips, Swap
from vambrace.engine.result import Result
from vambrace.engine.simulation import simulate
from vambrace.environments import Bernoulli, Deterministic
from vambrace.policies import SEWR
from vambrace.policies.radii import RADII, Radius
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Policy
from vambrace.registry import spec_of, specimens
from vambrace.statistics import lower_limit
from vambrace.theory import evidence_checks, price_checks
from vambrace.theory.checks import DELTA, Check, counted, judged

FALSE_ALARM = 1e-3  # the chance that a verification of true bounds reports a violation
INSTANCES = (  # means, horizon, budget
    ((0.9, 0.7, 0.5, 0.3), 50_000, 0.0),
    ((0.9, 0.7, 0.5, 0.3), 50_000, 200.0),
    (tuple((95 - 5 * arm) / 100 for arm in range(10)), 1_000_000, 1000.0),
    ((0.55, 0.45), 300_000, 300.0),
)


def verify(*, replications: int = 400, seed: int = 2026, progress: bool | None = None) -> list[Check]:
    """Run every check."""
    known = [(radius, game, attack) for radius in RADII for game in INSTANCES for attack in _attacks(game[2])]
    games = [*(partial(_known_budget, *each) for each in known), *price_checks.games(INSTANCES)]
    replications = validation.whole("replications", replications, low=_fewest(len(games)), high=10**6)
    players = price_checks.players()
    steps = len(games) + 1 + len(players)
    observed: list[dict[str, Any]] = []
    with ProgressBar("verifying", steps, show=progress) as bar:
        for done, play in enumerate(games, start=1):
            observed += play(replications, seed, progress)
            bar.update(done)
        observed += _concealment_game(min(replications, 20), seed)
        observed += [*evidence_checks.known_budget(armoured), *evidence_checks.own_budget(price_checks.armoured)]
        for done, policy in enumerate(players, start=len(games) + 2):
            observed += price_checks.lower_bound(policy, replications, seed)
            bar.update(done)
    return [judged(found, FALSE_ALARM / len(observed)) for found in observed]


def _fewest(games: int) -> int:
    """The fewest replications that detect a guarantee that always fails; a game has at most four checks."""
    count = 1
    while lower_limit(count, count, FALSE_ALARM / (4 * games + 100)) <= 2 * DELTA:
        count += 1
    return count


def armoured(budget: float, radius: Radius) -> Policy:
    """The policy to test."""
    return SEWR(budget=budget, delta=DELTA, radius=radius)


def _attacks(budget: float) -> list[Adversary | None]:
    """The strongest attacks of the package, and random noise; each has the budget that the policy assumes."""
    if budget == 0.0:
        return [None]
    return [
        Conceal(budget=budget, stop_when_dropped=True),
        EliminationRush(budget=budget, stop_when_dropped=True),
        Swap(budget=budget),
        JunUCB(budget=budget),
        RandomFlips(budget=budget, rate=0.2),
    ]


def _known_budget(
    radius: Radius, instance: Any, attack: Adversary | None, replications: int, seed: int, progress: bool | None
) -> Iterator[Any]:
    """Check the bounds of SE-WR, and that the best arm stays."""
    means, horizon, budget = instance
    options: dict[str, Any] = {"horizon": horizon, "replications": replications, "seed": seed, "progress": progress}
    result = simulate(armoured(budget, radius), Bernoulli(means), attack, checkpoints=1, **options)
    regret, best = result.pseudo_regret[:, -1], int(np.argmax(means))
    about = {
        "instance": f"K = {len(means)}, T = {horizon:,}, C = {budget:g}",
        "attack": spec_of(attack) if attack else "none",
        "replications": replications,
        "spent": float(result.cost[:, -1].mean()) / budget if attack else None,
    }
    yield about | counted(f"SE-WR {radius} keeps the best arm", None, ~_kept(result, best), DELTA)
    gaps = sorted(means[best] - mean for mean in means)[1:]
    trial = SEWR(budget=budget, delta=DELTA, radius=radius)
    allowed = 2 * DELTA if radius == "tight" else DELTA  # both directions of a difference of means must hold
    for bound in theory.promises(trial, gaps, horizon=horizon, budget=budget):
        yield about | counted(bound.name, regret / bound.value, ~(regret <= bound.value), allowed)


def _kept(result: Result, best: int) -> Any:
    """Whether the best arm is active: pulled as often as any other, up to the last sweep."""
    return result.pulls[:, best] >= result.pulls.max(axis=1) - 1


def _concealment_game(replications: int, seed: int) -> Iterator[Any]:
    """Theorem 1: one arm pays and is concealed. At the worst position of this arm the regret is at least the bound.

    While the learner sees only zeros it plays the same for every position (with the same seed), so this holds in every
    replication, for randomised policies too. Interpreted, since the games are short.
    """
    n_arms, budget = 8, 12.0
    horizon = int(budget) * (n_arms // 2)
    bound = theory.concealment(n_arms, horizon=horizon, budget=budget)
    about = {"instance": f"K = {n_arms}, T = {horizon:,}, C = {budget:g}", "spent": None}
    for policy in specimens("policy", budget=budget).values():
        options: dict[str, Any] = {"horizon": horizon, "seed": seed, "checkpoints": 1, "interpret": True}
        options |= {"replications": replications if policy.randomized else 1, "progress": False}
        arms = [Deterministic([float(k == paying) for k in range(n_arms)]) for paying in range(n_arms)]
        games = [simulate(policy, each, Conceal(budget=budget), **options) for each in arms]
        worst = np.max([game.pseudo_regret[:, -1] for game in games], axis=0)
        ratios = bound.value / np.maximum(worst, 1e-9)
        row = about | {"attack": "conceal, worst of all positions", "replications": len(worst)}
        yield row | counted(f"Theorem 1 against {spec_of(policy)}", ratios, ~(worst >= bound.value), 0.0)


def worst(checks: list[Check]) -> list[Check]:
    """For each guarantee the check that came closest to breaking it."""
    promises = dict.fromkeys(check.promise for check in checks)
    return [max((check for check in checks if check.promise == each), key=_danger) for each in promises]


def _danger(check: Check) -> tuple[float, float]:
    return check.at_least - check.allowed, check.largest_ratio or check.failures / check.replications


def summary(checks: list[Check]) -> list[dict[str, Any]]:
    """The checks, ready for JSON."""
    return [asdict(check) | {"holds": check.holds} for check in checks]
