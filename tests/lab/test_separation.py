"""Attack and corruption: an attacker needs a few dozen events, a corrupter a share of all rounds."""

import vambrace as vb
from vambrace.lab import separation


def test_ucb1_falls_to_few_fake_events_only_if_the_arm_is_seen() -> None:
    attack = [separation.least_budget(vb.UCB1(), vb.Conceal, horizon) for horizon in (3_000, 30_000)]
    corruption = [separation.least_budget(vb.UCB1(), vb.BestArmCorruption, horizon) for horizon in (3_000, 30_000)]
    assert attack[0] is not None
    assert attack[1] is not None
    assert corruption[0] is not None
    assert corruption[1] is not None
    assert attack[1] < 2 * attack[0] < 200, "hardly grows with the horizon"
    assert corruption[1] > 5 * corruption[0] > 5 * 500, "grows nearly as the horizon does"


def test_the_budget_found_is_the_least() -> None:
    budget = separation.least_budget(vb.SE(), vb.Conceal, 5_000)
    assert budget is not None
    regrets = [
        vb.simulate(
            vb.SE(),
            vb.Bernoulli(separation.MEANS),
            vb.Conceal(budget=size),
            horizon=5_000,
            replications=separation.REPLICATIONS,
            seed=separation.SEED,
        )
        .pseudo_regret[:, -1]
        .mean()
        for size in (budget / separation.STEP, budget)
    ]
    assert regrets[0] < 0.5 * 0.3 * 5_000 <= regrets[1]


def test_none_where_no_budget_suffices() -> None:
    """Noise on every arm alike never makes the worse one better."""

    def flips(budget: float) -> vb.Adversary:
        return vb.RandomFlips(budget=budget, rate=0.1)

    assert separation.least_budget(vb.UCB1(), flips, 2_000) is None
