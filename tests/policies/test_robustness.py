"""What the project is about: the armoured policies keep the best arm under attack, the others do not.

Frequencies are compared with delta by a one-sided binomial test whose false-alarm probability is one in a million.
"""

import dataclasses

import numpy as np
import pytest
from scipy.stats import binom

import vambrace as vb
from effort import repeated
from vambrace import registry
from vambrace.policies.radii import Radius

DELTA, REPLICATIONS, BUDGET, HORIZON = 0.05, repeated(400, quick=100), 200, 100_000
ENV = vb.Bernoulli([0.7, 0.4, 0.3])
TOO_MANY = int(binom.ppf(1 - 1e-6, REPLICATIONS, DELTA))
ATTACKS = [
    vb.Conceal(budget=BUDGET),
    vb.Conceal(budget=BUDGET, stop_when_dropped=True),
    vb.Swap(budget=BUDGET),
    vb.Swap(budget=BUDGET, target=1, margin=0.5),
    vb.RandomFlips(budget=BUDGET, rate=0.5),
]


def times_best_arm_lost(
    policy: vb.Policy, attack: vb.Adversary, *, bounded: bool = True, replications: int = REPLICATIONS
) -> int:
    """The best arm is kept exactly if nobody was pulled more often than it."""
    result = vb.simulate(
        policy, ENV, attack, horizon=HORIZON, replications=replications, seed=1, checkpoints=1, bounded=bounded
    )
    return int((result.pulls[:, 0] < result.pulls.max(axis=1)).sum())


@pytest.mark.parametrize("attack", [ATTACKS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in ATTACKS[1:])])
@pytest.mark.parametrize("radius", ["paper", "tight", "kl"])
def test_a_sufficient_budget_keeps_the_best_arm(radius: Radius, attack: vb.Adversary) -> None:
    policy = vb.SEWR(budget=BUDGET, delta=DELTA, radius=radius)
    assert times_best_arm_lost(policy, attack) <= TOO_MANY
    assert times_best_arm_lost(policy, attack, bounded=False) <= TOO_MANY


OTHERS = [
    attack
    for name, attack in registry.specimens("adversary", budget=BUDGET).items()
    if name not in {each.name for each in ATTACKS} and {*attack.reads} <= {"arms"}
]


@pytest.mark.parametrize(
    "attack", [each if at % 4 == 0 else pytest.param(each, marks=pytest.mark.slow) for at, each in enumerate(OTHERS)]
)  # 2 s each
@pytest.mark.parametrize("radii", [("tight",), pytest.param(("paper", "kl"), marks=pytest.mark.slow)], ids=", ".join)
def test_so_it_does_under_every_other_attack_that_applies(attack: vb.Adversary, radii: tuple[Radius, ...]) -> None:
    """Every registered one, with the budget that the policy is told; other radii, other programs, are for test-slow."""
    for radius in radii:
        policy = vb.SEWR(budget=BUDGET, delta=DELTA, radius=radius)
        limited = dataclasses.replace(attack, budget=BUDGET)  # type: ignore[type-var]
        lost = times_best_arm_lost(policy, limited, replications=100)
        assert lost <= int(binom.ppf(1 - 1e-6, 100, DELTA)), radius


def test_the_frequency_test_can_fail() -> None:
    """The same policy, not told of the budget, loses the arm nearly always."""
    assert times_best_arm_lost(vb.SEWR(budget=0, delta=DELTA, radius="tight"), ATTACKS[0]) > 0.9 * REPLICATIONS


def final_slope(policy: vb.Policy, attack: vb.Adversary | None) -> float:
    """Regret of the second half of the game over that of the whole: one half if it grows linearly, less if slower."""
    result = vb.simulate(
        policy,
        vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5]),
        attack,
        horizon=1_000_000,
        replications=5,
        seed=2,
        checkpoints=[500_000],
    )
    half, whole = result.pseudo_regret.mean(axis=0)
    return float((whole - half) / whole)


@pytest.mark.parametrize("policy", [vb.UCB1(), vb.SE()], ids=lambda policy: policy.name)
def test_a_few_hundred_fake_events_make_trusting_policies_linear(policy: vb.Policy) -> None:
    assert final_slope(policy, None) < 0.1
    assert final_slope(policy, vb.Conceal(budget=300)) > 0.45


@pytest.mark.parametrize("radius", ["paper", "tight", "kl"])
def test_se_wr_stays_flat_under_the_same_attack(radius: Radius) -> None:
    assert final_slope(vb.SEWR(budget=300, radius=radius), vb.Conceal(budget=300)) < 0.01


def test_tight_and_kl_need_far_fewer_pulls() -> None:
    regrets = {
        radius: vb.simulate(vb.SEWR(budget=0, radius=radius), ENV, horizon=100_000, replications=50, seed=3)
        .pseudo_regret[:, -1]
        .mean()
        for radius in ("paper", "tight", "kl")
    }
    assert regrets["tight"] < regrets["paper"] / 3
    assert regrets["kl"] < regrets["paper"] / 1.5
    small = vb.Bernoulli([0.0152, 0.0134, 0.0131, 0.0073])
    dropped = {
        radius: (np.ptp(vb.simulate(vb.SEWR(budget=100, radius=radius), small, horizon=10**6, seed=4).pulls) > 1)
        for radius in ("paper", "kl")
    }
    assert dropped == {"paper": False, "kl": True}
