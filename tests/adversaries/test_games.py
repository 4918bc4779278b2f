"""Whole games equal those of the plain reimplementation: the same arms, and the same rewards delivered."""

import dataclasses
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import naive
import vambrace as vb
from effort import examples, repeated
from tables import Table, TableEnvironment, TableState, tables
from vambrace.errors import VambraceError
from vambrace.protocols import Answer, Game
from vambrace.sampling import stream, uniform
from vambrace.testing import check_adversary

Twin = Callable[..., Any]  # the oracle of an attack, from the means and the oracle of its victim


def uniforms() -> Iterator[float]:
    """What the engine's policy draws in replication 0 of seed 0."""
    rng = stream(0, 0, 0)
    while True:
        yield uniform(rng)


def ucb1(n_arms: int, horizon: int) -> Any:
    return naive.UCB1(n_arms, horizon)


def epsilon_greedy(n_arms: int, horizon: int) -> Any:
    return naive.EpsilonGreedy(n_arms, horizon, uniforms=uniforms(), scale=20.0)


def ms_se_wr(n_arms: int, horizon: int) -> Any:
    return naive.MSSEWR(n_arms, horizon, uniforms=uniforms(), share=True, radius="tight")


def sewr(radius: str) -> tuple[vb.Policy, Any]:
    options: dict[str, Any] = {"budget": 3.0, "delta": 0.5, "radius": radius}
    return vb.SEWR(**options), lambda n_arms, horizon: naive.SEWR(n_arms, horizon, **options)


def pewr(radius: str, cap: str) -> tuple[vb.Policy, Any]:
    options: dict[str, Any] = {"delta": 0.9, "radius": radius, "cap": cap}
    return vb.PEWR(**options), lambda n_arms, horizon: naive.PEWR(n_arms, horizon, **options)


def robust(truncation: float | None) -> tuple[vb.Policy, Any]:
    options: dict[str, Any] = {"delta": 0.9, "truncation": truncation}
    policy = vb.RobustPhasedElimination(**options)
    return policy, lambda n_arms, horizon: naive.RobustPhasedElimination(n_arms, horizon, **options)


def on_ucb1(attack: vb.Adversary, twin: Twin) -> Any:
    return attack, (vb.UCB1(), ucb1), twin


def seeing_rush(means: list[float], oracle: Any) -> Any:
    return naive.EliminationRush(means, oracle, seeing=True)


SEEING_RUSH = vb.EliminationRush(stop_when_dropped=True)
MASTER = (vb.MSSEWR(share=True, radius="tight"), ms_se_wr)
GAMES: dict[str, Any] = {
    "jun-epsilon-greedy": (  # on UCB1 it brings several arms to one level: ties that rounding breaks
        vb.JunEpsilonGreedy(),
        (vb.EpsilonGreedy(scale=20.0), epsilon_greedy),
        lambda means, _: naive.JunEpsilonGreedy(means),
    ),
    "jun-ucb": on_ucb1(vb.JunUCB(), lambda means, _: naive.JunUCB(means)),
    "jun-ucb, other parameters": on_ucb1(
        vb.JunUCB(target=0, margin=0.3, delta=0.2, sigma=0.1),
        lambda means, _: naive.JunUCB(means, target=0, margin=0.3, delta=0.2, sigma=0.1),
    ),
    "swap": on_ucb1(vb.Swap(margin=0.2), lambda means, _: naive.Swap(means, means.index(min(means)), 0.2)),
    "ace": on_ucb1(vb.ACE(), lambda means, _: naive.ACE(means)),
    "exponential-threshold": on_ucb1(vb.ExponentialThreshold(), lambda means, _: naive.ExponentialThreshold(means)),
    "exponential-threshold, small sigma": on_ucb1(
        vb.ExponentialThreshold(sigma=1e-9), lambda means, _: naive.ExponentialThreshold(means, sigma=1e-9)
    ),
    "anti-exp3": on_ucb1(vb.AntiEXP3(slack=0.2), lambda means, _: naive.AntiEXP3(means, slack=0.2)),
    "garcelon": on_ucb1(vb.Garcelon(), lambda means, _: naive.Garcelon(means)),
    "garcelon, other parameters": on_ucb1(
        vb.Garcelon(target=0, shrink=0.2), lambda means, _: naive.Garcelon(means, target=0, shrink=0.2)
    ),
    "conceal": on_ucb1(vb.Conceal(), naive.Conceal),
    "conceal, two arms": on_ucb1(vb.Conceal(best=2), lambda means, _: naive.Conceal(means, best=2)),
    "elimination-rush": on_ucb1(vb.EliminationRush(), naive.EliminationRush),
    "elimination-rush, other parameters": on_ucb1(
        vb.EliminationRush(best=9, target=0), lambda means, _: naive.EliminationRush(means, best=9, target=0)
    ),
    "elimination-rush on se-wr": (SEEING_RUSH, sewr("paper"), seeing_rush),
    "elimination-rush on se-wr, tight": (SEEING_RUSH, sewr("tight"), seeing_rush),
    "elimination-rush on pe-wr": (SEEING_RUSH, pewr("paper", "paper"), seeing_rush),
    "phase-burst": (vb.PhaseBurst(), pewr("paper", "paper"), naive.PhaseBurst),
    "phase-burst, tight": (vb.PhaseBurst(), pewr("tight", "repaired"), naive.PhaseBurst),
    "phase-burst on robust phased elimination": (vb.PhaseBurst(), robust(None), naive.PhaseBurst),
    "phase-burst on robust phased elimination, truncated": (vb.PhaseBurst(), robust(0.7), naive.PhaseBurst),
    "master-attack": (
        vb.MasterAttack(),
        MASTER,
        lambda means, policy, budget: naive.MasterAttack(means, policy, budget=budget),
    ),
    "observation-free": on_ucb1(
        vb.ObservationFree(zero_rounds=20, target_rounds=40),
        lambda means, _: naive.ObservationFree(means, zero_rounds=20, target_rounds=40),
    ),
    "observation-free, by the budget": on_ucb1(
        vb.ObservationFree(),
        lambda means, policy, budget: naive.ObservationFree(means, budget=budget, horizon=policy.horizon),
    ),
    "best-arm-corruption": on_ucb1(vb.BestArmCorruption(), lambda means, _: naive.BestArmCorruption(means)),
    "best-arm-corruption, two arms": on_ucb1(
        vb.BestArmCorruption(best=2), lambda means, _: naive.BestArmCorruption(means, best=2)
    ),
}
BUDGETS = (21.7, float("inf"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Diary(vb.Policy):
    """A policy that writes down what it is told; its update is plain Python, so the engine runs it interpreted."""

    name = "diary"
    reference = "tests"
    policy: vb.Policy
    arms: list[int] = dataclasses.field(default_factory=list)
    observed: list[float] = dataclasses.field(default_factory=list)

    @property
    def select(self) -> Any:  # type: ignore[override]
        return self.policy.select

    def update(self, state: Any, answer: Answer) -> Any:
        self.arms.append(int(answer.arm))
        self.observed.append(float(answer.reward))
        return self.policy.update(state, answer)

    def init(self, game: Game) -> Any:
        return self.policy.init(game)


@dataclasses.dataclass(frozen=True)
class Rows(vb.Environment):
    """A table for a medium game, in which every arm is drawn once a round, in order."""

    name = "rows"
    table: Table
    drawn: Any = dataclasses.field(default_factory=lambda: [0])

    def arm_means(self) -> Table:
        return self.table.mean(axis=0)

    def init(self) -> int:
        return 0

    def draw(self, state: int, arm: int, rng: Any) -> float:
        t = self.drawn[0] // self.table.shape[1]
        self.drawn[0] += 1
        return float(self.table[t, arm])


def environment(table: Table, medium: bool) -> vb.Environment:
    state = TableState(table, np.full(len(table), -1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    return Rows(table) if medium else TableEnvironment(state)


def compare(game: Any, table: Table, budget: float, bounded: bool) -> None:
    attack, (policy, make_oracle), twin = game
    rounds, n_arms = table.shape
    medium = attack.strength == "medium"
    diary = Diary(policy=policy)
    vb.simulate(
        diary,
        environment(table, medium),
        dataclasses.replace(attack, budget=budget),
        horizon=rounds,
        checkpoints=1,
        bounded=bounded,
        realized=False,
        engine="rounds",
    )
    oracle, rows = make_oracle(n_arms, rounds), table.tolist()
    means = table.mean(axis=0).tolist()
    other = twin(means, oracle, budget) if "budget" in signature(twin).parameters else twin(means, oracle)
    if medium:
        record = naive.medium_game(oracle, rows, other, budget, bounded)
    else:
        record = naive.game(oracle, lambda t, arm: rows[t][arm], other, budget, bounded, rounds)
    assert diary.arms == record.arms
    np.testing.assert_allclose(diary.observed, record.observed, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", GAMES)
def test_games(name: str, budget: float, bounded: bool) -> None:
    rng = np.random.default_rng(11)
    coins = (rng.random((900, 3)) < [0.9, 0.7, 0.3]).astype(float)
    blurred = np.clip(rng.normal([0.8, 0.85, 0.4, 0.6], 0.15, (700, 4)), 0.0, 1.0)
    for table in (coins, blurred, coins[:, [2, 0, 0]]):  # the last has two best arms
        compare(GAMES[name], table[: repeated(900, quick=400)], budget, bounded)


@pytest.mark.parametrize("name", GAMES)
@given(table=tables(most_rounds=120))
@examples(12)
def test_small_games(name: str, table: Table) -> None:
    target = getattr(GAMES[name][0], "target", None)
    if target is None or target < table.shape[1]:
        compare(GAMES[name], table, float("inf"), True)
        compare(GAMES[name], table, 7.5, False)


@pytest.mark.parametrize(
    "attack",
    [
        vb.JunUCB(target=1, margin=0.4, delta=0.5),
        vb.Garcelon(target=1, shrink=1.0),
        vb.ObservationFree(target=0, zero_rounds=0, target_rounds=9),
    ],
    ids=repr,
)
def test_other_parameters_conform(attack: vb.Adversary) -> None:
    check_adversary(attack)


@pytest.mark.parametrize(
    ("attack", "wrong"),
    [
        (vb.JunEpsilonGreedy, {"delta": 0.0}),
        (vb.JunEpsilonGreedy, {"delta": None}),
        (vb.JunUCB, {"margin": -0.1}),
        (vb.ACE, {"target": 0.5}),
        (vb.ExponentialThreshold, {"budget": -1.0}),
        (vb.Garcelon, {"shrink": 1.5}),
        (vb.Swap, {"margin": float("inf")}),
        (vb.ObservationFree, {"zero_rounds": 1.5}),
        (vb.ObservationFree, {"target_rounds": -1}),
        (vb.AntiEXP3, {"slack": 0.6}),
        (vb.ACE, {"sigma": 0.0}),
        (vb.Conceal, {"best": 0}),
        (vb.PhaseBurst, {"budget": -1}),
        (vb.EliminationRush, {"budget": "much"}),
        (vb.MasterAttack, {"budget": float("nan")}),
        (vb.BestArmCorruption, {"budget": None}),
    ],
)
def test_wrong_parameters_are_refused(attack: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(VambraceError, match=r"expected .*, got "):
        attack(**wrong)
