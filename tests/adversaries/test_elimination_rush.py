"""Elimination rush: a cliff at the budget that line(n) + n gap predicts, and none below."""

from functools import cache
from math import log, sqrt

import numpy as np
import pytest

import vambrace as vb
from vambrace.policies.radii import Radius
from vambrace.protocols import Game, Integers

HORIZON = 10**7
CASES = [("paper", 100), ("paper", 1000), ("paper", 10_000), ("tight", 100), ("tight", 1000), ("tight", 10_000)]


def line(radius: str, budget: float, n: int) -> float:
    if radius == "paper":
        return 2 * (sqrt(n * log(2 * HORIZON**2)) + budget)
    return sqrt(n * log(HORIZON**2)) + budget


@cache
def first_sweep(radius: str, budget: float) -> int:
    """At full strength the sums part by one a sweep: the first sweep after which they differ by more than the line."""
    n = 1
    while n <= line(radius, budget, n):
        n += 1
    return n


def price(radius: str, budget: float, means: tuple[float, ...]) -> tuple[float, float]:
    """What the attack pays up to that sweep: line + n gap on average, and its standard deviation."""
    n = first_sweep(radius, budget)
    variance = sum(mean * (1 - mean) for mean in means[:2])
    return n * (1 + means[0] - means[1]), sqrt(n * variance)


def pulls_of_best(radius: Radius, budget: float, means: tuple[float, ...], attack: vb.Adversary) -> Integers:
    policy = vb.SEWR(budget=budget, radius=radius)
    result = vb.simulate(policy, vb.Bernoulli(means), attack, horizon=HORIZON, replications=100, seed=3, checkpoints=2)
    assert result.engine == "leap"
    return result.pulls[:, 0]


@pytest.mark.parametrize("means", [(0.6, 0.5), (0.9, 0.8, 0.5)], ids=str)
@pytest.mark.parametrize(("radius", "budget"), CASES)
def test_both_sides_of_the_cliff(radius: Radius, budget: float, means: tuple[float, ...]) -> None:
    """Five deviations above, the best arm always falls at the first possible sweep; five below, never."""
    cost, deviation = price(radius, budget, means)
    above = pulls_of_best(radius, budget, means, vb.EliminationRush(budget=cost + 5 * deviation))
    below = pulls_of_best(radius, budget, means, vb.EliminationRush(budget=cost - 5 * deviation))
    assert (above == first_sweep(radius, budget)).all()
    assert (below > 0.5 * HORIZON).all()


def test_the_cliff_is_a_small_multiple_of_the_budget() -> None:
    """For a gap of 0.1 and T = 10^7: 4.9, 2.8, 2.4 (paper) and 1.9, 1.3, 1.2 (tight), towards 2.2 and 1.1."""
    multiples = [price(radius, budget, (0.6, 0.5))[0] / budget for radius, budget in CASES]
    assert multiples == pytest.approx([4.86, 2.84, 2.39, 1.94, 1.32, 1.16], abs=0.01)


def test_within_its_budget_the_policy_stands() -> None:
    assert (pulls_of_best("tight", 1000, (0.6, 0.5), vb.EliminationRush(budget=1000)) > 0.5 * HORIZON).all()


def test_conceal_needs_more() -> None:
    """It parts the sums by no more than the runner-up's mean a sweep, so it meets the line later and higher."""
    cost, deviation = price("paper", 1000, (0.6, 0.5))
    hidden = pulls_of_best("paper", 1000, (0.6, 0.5), vb.Conceal(budget=cost + 5 * deviation))
    assert (hidden > 0.5 * HORIZON).all()


def test_it_stops_once_the_arms_are_dropped() -> None:
    attack = vb.EliminationRush(stop_when_dropped=True)
    state, view = attack.init(Game(3, 100, np.array([0.5, 0.75, 0.75]))), vb.SE().init(Game(3, 100))
    assert [attack.respond(state, view, arm, 0.5) for arm in range(3)] == [(1.0, 1.0), (1.0, 0.0), (1.0, 0.0)]
    view.arms.dropped[2] = True
    assert [attack.respond(state, view, arm, 0.5)[0] for arm in range(3)] == [1.0, 1.0, 0.0]
    view.arms.dropped[1] = True
    assert [attack.respond(state, view, arm, 0.5)[0] for arm in range(3)] == [0.0, 0.0, 0.0]


def test_two_best_arms_fall_together() -> None:
    """SE-WR assumes 100, the attacker has 1,000: with one of the two arms left it would lose 1,500 of 40,000."""
    env = vb.Bernoulli([0.9, 0.9, 0.5, 0.5, 0.5])
    result = vb.simulate(
        vb.SEWR(budget=100), env, vb.EliminationRush(budget=1_000), horizon=100_000, replications=20, seed=0
    )
    assert result.pseudo_regret[:, -1].min() > 39_500


def test_it_applies_to_every_policy() -> None:
    """UCB1 plays the runner-up in almost all rounds; the attack does not look at UCB1's state."""
    assert vb.EliminationRush().reads == ()
    result = vb.simulate(
        vb.UCB1(), vb.Bernoulli([0.9, 0.8]), vb.EliminationRush(), horizon=10_000, replications=5, seed=1
    )
    assert (result.pulls[:, 1] > 9_500).all()


def test_which_arms() -> None:
    means = np.array([0.5, 0.9, 0.7, 0.6])
    found = [vb.EliminationRush(best=best).init(Game(4, 100, means)) for best in (1, 2, 3, 9)]
    assert [state.hidden.nonzero()[0].tolist() for state in found] == [[1], [1, 2], [1, 2, 3], [1, 2, 3]]
    assert [state.raised for state in found] == [2, 3, 0, 0]
    assert vb.EliminationRush(arm=0, target=1).init(Game(4, 100, means)).raised == 1
    alike = vb.EliminationRush().init(Game(3, 100, np.full(3, 0.1 + 0.2)))
    assert (bool(alike.hidden.any()), alike.raised) == (False, -1)
