"""Conceal: returns zero on one arm while the budget lasts, and may stop when the arm is out."""

import numpy as np
import pytest

import vambrace as vb
from vambrace.protocols import Game

ENV = vb.Deterministic([0.75, 0.5, 0.25])


def run(attack: vb.Conceal, policy: vb.Policy, horizon: int = 4_000) -> vb.Result:
    return vb.simulate(policy, ENV, attack, horizon=horizon, interpret=True, checkpoints=range(1, horizon + 1, 7))


def test_it_pays_for_pulls_of_the_best_arm_only() -> None:
    result = run(vb.Conceal(budget=1e9), vb.SEWR(budget=1e9), horizon=999)
    assert result.cost[0, -1] == 0.75 * 333


def test_another_arm_can_be_concealed() -> None:
    result = run(vb.Conceal(budget=1e9, arm=1), vb.SEWR(budget=1e9), horizon=999)
    assert result.cost[0, -1] == 0.5 * 333


def test_it_spends_its_budget_to_the_last_bit() -> None:
    assert run(vb.Conceal(budget=10.3), vb.SEWR(budget=20)).cost[0, -1] == pytest.approx(10.3, abs=1e-12)


def test_the_white_box_stops_paying_once_the_arm_is_dropped() -> None:
    """SE drops the concealed arm for good, so both attacks see the same pulls; a late answer would cost only one."""
    blind, seeing = (
        run(vb.Conceal(stop_when_dropped=stop), vb.SE(delta=0.5, radius="tight")) for stop in (False, True)
    )
    assert np.array_equal(blind.pulls, seeing.pulls)
    assert blind.pulls[0, 0] < blind.pulls[0, 1]
    policy = vb.SE()
    view = policy.init(Game(3, 100))
    attack = vb.Conceal(stop_when_dropped=True)
    state = attack.init(Game(len(ENV.arm_means()), 100, ENV.arm_means()))
    assert attack.respond(state, view, 0, 1.0) == (1.0, 0.0)
    view.arms.dropped[0] = True
    assert attack.respond(state, view, 0, 1.0)[0] == 0.0


def test_every_arm_as_good_as_the_best_is_hidden() -> None:
    """0.1 + 0.2 and 0.3 are the same mean; the worst arm is never hidden."""
    means = np.array([0.3, 0.1 + 0.2, 0.2, 0.1])
    hidden = [vb.Conceal(best=best).init(Game(4, 100, means)).hidden.tolist() for best in (1, 2, 3, 4)]
    assert hidden == [[True, True, False, False]] * 2 + [[True, True, True, False]] * 2
