"""Attack against corruption: what it takes to make regret linear, for one who sees the arm and for one who does not.

The strong adversary pays only when the best arm is pulled, and an arm that looks bad is seldom pulled. The medium one
commits itself before the arm is known, so it pays in every round in which the arm would have earned.
"""

from typing import Any

from vambrace.adversaries import BestArmCorruption, Conceal
from vambrace.engine.simulation import simulate
from vambrace.environments import Bernoulli
from vambrace.policies import BARBAR, MLAAER, SE, UCB1, TsallisINF
from vambrace.protocols import Policy
from vambrace.registry import spec_of

MEANS = (0.9, 0.6)
HORIZONS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
REPLICATIONS = 10
SEED = 2026
STEP = 2.0**0.25  # budgets are told apart to a fifth


def contestants() -> list[Policy]:
    """Two that trust, one for adversarial rewards, and two that were made against corruption."""
    return [UCB1(), SE(), TsallisINF(), MLAAER(), BARBAR(scale=100)]


def least_budget(policy: Policy, adversary: Any, horizon: int) -> float | None:
    """The least budget, to a factor of 2^(1/4), at which the mean regret reaches half of always playing the worse arm.

    None if not even one event a round suffices. By bisection: more budget is taken to do more harm.
    """
    gap = MEANS[0] - MEANS[1]

    def linear(budget: float) -> bool:
        result = simulate(
            policy,
            Bernoulli(MEANS),
            adversary(budget=budget),
            horizon=horizon,
            replications=REPLICATIONS,
            seed=SEED,
            checkpoints=1,
            realized=False,
            progress=False,
        )
        return bool(result.pseudo_regret[:, -1].mean() >= 0.5 * gap * horizon)

    low, high = 0, 1
    while STEP**high < horizon:
        high += 1
    if not linear(STEP**high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if linear(STEP**middle):
            high = middle
        else:
            low = middle
    return STEP**high


def budgets(horizons: tuple[int, ...] = HORIZONS, watch: Any = lambda done, total: None) -> list[dict[str, Any]]:
    """The least budgets of every contestant, for an attacker and for a corrupter, at every horizon."""
    rows: list[dict[str, Any]] = []
    games = [(policy, horizon) for policy in contestants() for horizon in horizons]
    for done, (policy, horizon) in enumerate(games):
        for who, adversary in (("attack", Conceal), ("corruption", BestArmCorruption)):
            budget = least_budget(policy, adversary, horizon)
            rows.append({"policy": spec_of(policy), "horizon": horizon, "adversary": who, "budget": budget})
        watch(done + 1, len(games))
    return rows
