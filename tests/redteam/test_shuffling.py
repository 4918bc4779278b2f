"""Arms in another order: the same games with other numbers for the arms, and an order for each game."""

import numpy as np
import pytest

import vambrace as vb
from vambrace.protocols import Floats
from vambrace.redteam.shuffling import has_order, order_of, shuffled, shuffled_arms, shuffled_attack

ORDER = (2, 0, 3, 1)


def test_orders_depend_on_seed_and_game_only_and_are_fair() -> None:
    orders = [order_of(3, 5, game) for game in range(600)]
    assert orders == [order_of(3, 5, game) for game in range(600)]
    assert orders != [order_of(3, 6, game) for game in range(600)]
    counts = np.bincount([order.index(0) for order in orders])
    assert abs(counts - 200).max() < 6 * np.sqrt(600 * 2 / 9), "false alarm below 1e-8"


@pytest.mark.parametrize(
    "environment",
    [
        vb.Bernoulli([0.9, 0.8, 0.7, 0.6]),
        vb.Beta([0.9, 0.8, 0.7, 0.6], concentration=3.0),
        vb.Replay(events=(9, 8, 7, 6), successes=(5, 4, 3, 3), labels=("a", "b", "c", "d")),
        vb.Replay(events=(1, 3, 2, 1), successes=None, rewards=[0.5, 0.1, 0.2, 0.6, 0.4, 1.0, 0.3]),
    ],
    ids=str,
)
def test_arms_move(environment: vb.Environment) -> None:
    moved = shuffled_arms(environment, ORDER)
    np.testing.assert_array_equal(moved.arm_means(), environment.arm_means()[list(ORDER)])
    assert has_order(environment)
    assert type(moved) is type(environment)


class Fixed(vb.Environment):
    """Not made of one parameter for each arm."""

    name = "fixed"

    def arm_means(self) -> Floats:
        return np.array([0.9, 0.6, 0.7, 0.8])


def test_arms_without_an_order_stay() -> None:
    environment = Fixed()
    assert not has_order(environment)
    assert shuffled_arms(environment, ORDER) is environment
    attack = vb.Conceal(budget=5, arm=1)
    for game in range(5):
        assert shuffled(environment, attack, 0, game) == (environment, attack, (0, 1, 2, 3))


@pytest.mark.parametrize(
    "attack",
    [
        vb.Conceal(budget=5, arm=1),
        vb.JunUCB(budget=5, target=2),
        vb.Script(budget=5, modes="0-+", caps=(1.5, 2.5, 3.5, 4.5), levels=(0.1, 0.2, 0.9, 0.4), last=(30,)),
        vb.Script(budget=5, modes="-0+0", first=(1, 2, 3, 4), last=(50, 60, 70, 80)),
    ],
    ids=str,
)
def test_an_attack_meets_the_same_arms(attack: vb.Adversary) -> None:
    """Each arm pays the same number always, so the attacked games are the same, arm by arm."""
    environment, moved = vb.Deterministic([0.9, 0.6, 0.7, 0.8]), shuffled_attack(attack, ORDER)
    for arm, place in ((arm, ORDER.index(arm)) for arm in range(4)):
        one = vb.simulate(Always(arm), environment, attack, horizon=90, checkpoints=90)
        other = vb.simulate(Always(place), shuffled_arms(environment, ORDER), moved, horizon=90, checkpoints=90)
        np.testing.assert_array_equal(one.cost, other.cost)
        np.testing.assert_array_equal(one.pseudo_regret, other.pseudo_regret)


def test_an_attack_without_arms_stays() -> None:
    attack = vb.Mimic(budget=5)
    assert shuffled_attack(attack, ORDER) is attack


class Stubborn:
    """Pulls one arm."""

    def __init__(self, arm: int) -> None:
        self.arm = arm

    def ask(self) -> int:
        return self.arm

    def tell(self, arm: int, reward: float) -> None:
        """Learns nothing."""


class Always(vb.Foreign):
    def __init__(self, arm: int) -> None:
        super().__init__(make=lambda *_: Stubborn(arm))
