"""Other people's bandits in the same loop, attacked like ours."""

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace.errors import GameFault, InvalidParameter, SnapshotError

ENVIRONMENT = vb.Bernoulli([0.9, 0.6, 0.3])


def library(name: str) -> Any:
    """A library that takes half a second to import; what it warns of then is its own to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(name)


class River:
    """Optimism as River has it."""

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.arms = list(range(n_arms))
        self.policy = library("river.bandit").UCB(delta=1.0, seed=seed)

    def ask(self) -> int:
        return int(self.policy.pull(self.arms))

    def tell(self, arm: int, reward: float) -> None:
        self.policy.update(arm, reward)


class MABWiser:
    """UCB1 as MABWiser has it: one observation of each arm before it can be asked."""

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.unseen = list(range(n_arms))
        self.seen: list[tuple[int, float]] = []
        mab = library("mabwiser.mab")
        self.mab = mab.MAB(list(range(n_arms)), mab.LearningPolicy.UCB1(alpha=1.0), seed=seed)

    def ask(self) -> int:
        return self.unseen[0] if self.unseen else int(self.mab.predict())

    def tell(self, arm: int, reward: float) -> None:
        if not self.unseen:
            self.mab.partial_fit(np.array([arm]), np.array([reward]))
            return
        self.unseen.remove(arm)
        self.seen.append((arm, reward))
        if not self.unseen:
            arms, rewards = zip(*self.seen, strict=True)
            self.mab.fit(np.array(arms), np.array(rewards))


@pytest.mark.parametrize("make", [River, MABWiser])
def test_a_foreign_bandit_is_attacked_through_the_same_loop(make: Any) -> None:
    """It learns the best arm when left alone, and loses it to a few dozen fake events; the engine meters them."""
    policy = vb.Foreign(make=make, name=make.__name__.lower())
    options: dict[str, Any] = {"horizon": 3_000, "replications": 2, "seed": 3}
    clean = vb.simulate(policy, ENVIRONMENT, **options)
    attacked = vb.simulate(policy, ENVIRONMENT, vb.Conceal(budget=60), **options)
    assert (clean.pulls[:, 0] > 0.8 * 3_000).all()
    assert (attacked.pulls[:, 0] < 0.5 * 3_000).all()
    assert (attacked.cost <= 60).all()
    assert attacked.pseudo_regret[:, -1].min() > 3 * clean.pseudo_regret[:, -1].max()


def test_the_suite_takes_a_foreign_bandit() -> None:
    attacks = [vb.Conceal(), vb.Invert()]
    report = vb.attack_suite(
        vb.Foreign(make=River, name="river"), ENVIRONMENT, budgets=[50], horizon=500, replications=1, attacks=attacks
    )
    assert {row.attack for row in report.rows} == {"conceal", "invert"}
    assert str(report).startswith("river")


def test_white_box_attacks_do_not_apply_to_what_they_cannot_see() -> None:
    report = vb.attack_suite(
        vb.Foreign(make=River),
        ENVIRONMENT,
        budgets=[5],
        horizon=100,
        replications=1,
        attacks=[vb.Conceal(stop_when_dropped=True)],
    )
    assert "expected a policy whose state has 'arms'" in report.skipped["conceal:stop_when_dropped=true"]


class Replies:
    """Says what it is told to say, and remembers its seed."""

    seeds: list[int] = []  # noqa: RUF012 - one list for all is the point

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.seeds.append(seed)

    def ask(self) -> int:
        return 7

    def tell(self, arm: int, reward: float) -> None:
        raise AssertionError("never told: its arm does not exist")


def test_an_arm_that_does_not_exist() -> None:
    with pytest.raises(GameFault, match=r"policy seven: expected an arm in \[0, 2\], got 7 in round 1"):
        vb.simulate(vb.Foreign(make=Replies, name="seven"), ENVIRONMENT, horizon=10)


@pytest.mark.parametrize("answer", [0.9, "1", None, float("nan")])
def test_an_answer_that_is_no_arm(answer: Any) -> None:
    class Odd(Replies):
        def ask(self) -> int:
            return answer

    with pytest.raises(GameFault, match="policy odd: expected ask to return the number of an arm, got"):
        vb.simulate(vb.Foreign(make=Odd, name="odd"), ENVIRONMENT, horizon=10)


def test_an_object_without_ask_and_tell() -> None:
    with pytest.raises(GameFault, match="policy foreign: expected an object with ask and tell, got"):
        vb.simulate(vb.Foreign(make=lambda *_: object()), ENVIRONMENT, horizon=10)  # type: ignore[arg-type]


def test_a_live_one_has_no_snapshot() -> None:
    learner = vb.Foreign(make=River).learner(n_arms=2, horizon=10)
    learner.tell(learner.ask(), 1.0)
    with pytest.raises(SnapshotError, match="expected a state of numbers and arrays, got"):
        learner.snapshot()


def test_each_replication_has_its_own_seed_and_the_same_again() -> None:
    class Steady(Replies):
        seeds: list[int] = []  # noqa: RUF012

        def ask(self) -> int:
            return 0

        def tell(self, arm: int, reward: float) -> None:
            pass

    for _ in range(2):
        vb.simulate(vb.Foreign(make=Steady), ENVIRONMENT, horizon=5, replications=3, threads=1)
    assert Steady.seeds[:3] == Steady.seeds[3:]
    assert len({*Steady.seeds}) == 3
    assert all(0 <= seed < 2**31 for seed in Steady.seeds)


def test_make_must_be_callable() -> None:
    with pytest.raises(InvalidParameter, match="make: expected a function of n_arms, horizon and seed, got 3"):
        vb.Foreign(make=3)  # type: ignore[arg-type]
