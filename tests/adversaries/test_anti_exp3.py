"""Anti-EXP3: a small but lasting lead is enough against a learner that explores for ever."""

import numpy as np
import pytest

import vambrace as vb
from vambrace.protocols import Game, Round
from vambrace.sampling import stream

ENV = vb.Bernoulli([0.9, 0.5, 0.25])


def test_the_rule() -> None:
    attack = vb.AntiEXP3(slack=0.25)
    state = attack.init(Game(len(np.array([0.9, 0.5, 0.25])), 100, np.array([0.9, 0.5, 0.25])))
    assert attack.alter(state, Round.prompt(16, 3), 0, 1.0, None, stream(1))[0] == 0.0
    assert attack.alter(state, Round.prompt(16, 3), 2, 0.0, None, stream(1))[0] == 0.5  # 16^(-1/4)
    assert attack.alter(state, Round.prompt(16, 3), 2, 0.75, None, stream(1))[0] == 0.75


def test_exp3_plays_the_target() -> None:
    """A share of .92 at T = 10^4 and .99 at 10^6, against .02 and .002 without attack; the cost grows like T^.6."""
    costs = []
    for horizon, share in ((10**4, 0.85), (10**6, 0.98)):
        clean, attacked = (
            vb.simulate(vb.EXP3(), ENV, attack, horizon=horizon, replications=4, seed=1, realized=False)
            for attack in (None, vb.AntiEXP3())
        )
        assert clean.pulls[:, 2].mean() < 0.05 * horizon
        assert attacked.pulls[:, 2].mean() > share * horizon
        costs.append(attacked.cost[:, -1].mean())
    assert costs[1] < 30 * costs[0]  # sublinear: the horizon is 100 times as long


@pytest.mark.parametrize("mean", [0.0, 0.05])
def test_a_worthless_target_will_do(mean: float) -> None:
    env = vb.Bernoulli([0.9, 0.5, mean])
    attacked = vb.simulate(vb.EXP3(), env, vb.AntiEXP3(slack=0.3), horizon=10**5, replications=4, seed=1)
    assert attacked.pulls[:, 2].mean() > 0.75 * 10**5


def test_a_target_that_pays_nothing_gets_more_slack() -> None:
    """Half the cost and more harm than with slack 0.1; where the target pays, 0.1 is the cheaper one."""
    for last, slack in ((0.0, 0.25), (0.5, 0.1)):
        game = Game(2, 100, np.array([0.9, last]))
        assert vb.AntiEXP3().init(game) == vb.AntiEXP3(slack=slack).init(game)
    env = vb.Bernoulli([0.9, 0.5, 0.0])
    wide, narrow = (
        vb.simulate(vb.EXP3(), env, attack, horizon=10**5, replications=4, seed=1, realized=False)
        for attack in (vb.AntiEXP3(), vb.AntiEXP3(slack=0.1))
    )
    assert wide.cost[:, -1].mean() < 0.6 * narrow.cost[:, -1].mean()
    assert wide.pseudo_regret[:, -1].mean() > narrow.pseudo_regret[:, -1].mean()
