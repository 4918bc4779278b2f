"""Master attack: it discredits the right base cheaply, and does little harm by that alone."""

from typing import Any

import pytest

import vambrace as vb
from vambrace.policies.masters import MasterName
from vambrace.protocols import Answer, Game, Round
from vambrace.sampling import stream

ENV = vb.Bernoulli([0.9, 0.5])


@pytest.mark.parametrize(
    ("budget", "base"), [(0, 0), (1, 0), (2, 0), (2.5, 1), (4, 1), (5, 2), (1e9, 6), (float("inf"), 6)]
)
def test_the_right_base(budget: float, base: int) -> None:
    """Bases 0, 1, ..., 6 of T = 100 have the budgets 2, 4, ..., 128."""
    assert vb.MasterAttack(budget=budget).init(Game(len(ENV.arm_means()), 100, ENV.arm_means())) == base


def probability_of(base: int, attack: vb.Adversary | None, policy: vb.Policy, horizon: int) -> float:
    """The master's probability of a base after a game, round by round."""
    state: Any = policy.init(Game(2, horizon))
    foe = attack.init(Game(2, horizon, ENV.arm_means())) if attack else None
    arms, rng, coins = ENV.init(), stream(5), stream(6)
    for t in range(1, horizon + 1):
        arm, probability, tag = policy.select(state, Round.prompt(t, 2), rng)
        reward = ENV.draw(arms, arm, coins)
        if attack:
            reward, foe = attack.alter(foe, Round.prompt(t, 2), arm, reward, state, rng)
        state = policy.update(state, Answer(arm, reward, probability, tag))
    return float(state.master.mixed[base])


@pytest.mark.parametrize("share", [False, True])
def test_the_master_turns_away_from_it(share: bool) -> None:
    policy, attack = vb.MSSEWR(share=share, radius="tight"), vb.MasterAttack(budget=500)
    clean, attacked = (probability_of(8, foe, policy, 6_000) for foe in (None, attack))
    assert attacked < 0.4 * clean


@pytest.mark.slow  # 8 s each
@pytest.mark.parametrize("master", ["corral", "exp3p"])
def test_alone_it_does_no_harm(master: MasterName) -> None:
    """Once the base is out of favour there is nothing to pay for: a fraction of the budget is all it can spend.

    The arms are left alone, so the bases that trust more are not betrayed, and turning to them costs no regret; noise
    of the same size on the arms does more harm.
    """
    policy = vb.MSSEWR(master=master, share=True, radius="tight")
    regret, cost = {}, {}
    for attack in (None, vb.MasterAttack(budget=5_000), vb.RandomFlips(budget=5_000, rate=0.5)):
        result = vb.simulate(policy, ENV, attack, horizon=200_000, replications=10, seed=2, realized=False)
        name = attack.name if attack else "none"
        regret[name], cost[name] = result.pseudo_regret[:, -1].mean(), result.cost[:, -1].mean()
    assert cost["master-attack"] < 0.3 * 5_000
    assert 0.9 * regret["none"] < regret["master-attack"] < 1.02 * regret["none"]
    assert regret["random-flips"] > 1.1 * regret["none"]


def test_without_smoothing_nothing_happens() -> None:
    policy = vb.MSSEWR(smoothing=False, share=True)
    result = vb.simulate(policy, ENV, vb.MasterAttack(budget=50), horizon=500, seed=1, interpret=True)
    assert result.cost[0, -1] == 0.0
