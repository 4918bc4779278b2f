"""The attack that looks ahead plays as its twin, which plays copies of a victim that was written a second time."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import naive
import vambrace as vb
from tables import Table, TableEnvironment, TableState
from vambrace.engine.copying import copier
from vambrace.errors import NotApplicable
from vambrace.kernels import compiled
from vambrace.protocols import Answer, Game, Round
from vambrace.redteam.optimum import look_ahead_regret, optimal_attack
from vambrace.sampling import stream
from vambrace.testing import check_adversary, examples

SEWR: dict[str, Any] = {"budget": 1.0, "delta": 0.9, "radius": "tight"}
VICTIMS: dict[str, Any] = {
    "ucb1": (vb.UCB1(alpha=0.5), lambda n_arms, horizon: naive.UCB1(n_arms, horizon, alpha=0.5)),
    "moss": (vb.MOSS(), naive.MOSS),
    "se-wr": (vb.SEWR(**SEWR), lambda n_arms, horizon: naive.SEWR(n_arms, horizon, **SEWR)),
    "pe-wr": (vb.PEWR(delta=0.9), lambda n_arms, horizon: naive.PEWR(n_arms, horizon, delta=0.9)),
}
HOWS: dict[str, dict[str, Any]] = {
    "one step": {"ahead": 12, "price": 0.1, "depth": 1, "every": 1, "width": 1},
    "far, dear": {"ahead": 60, "price": 0.4, "depth": 1, "every": 1, "width": 1},
    "a beam": {"ahead": 14, "price": 0.05, "depth": 9, "every": 3, "width": 2},
    "a script": {"ahead": 30, "price": 0.02, "depth": 30, "every": 7, "width": 1},
}


def paid(rows: list[list[float]], t: int, arm: int) -> float:
    return rows[t][arm]


def coins(rounds: int, means: list[float]) -> Table:
    return (np.random.default_rng(5).random((rounds, len(means))) < means).astype(float)


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("name", HOWS)
def test_the_same_games_as_the_twin(name: str, victim: str) -> None:
    """Pull by pull, with the same cost, also where the budget ends and where the game does."""
    policy, make_oracle = VICTIMS[victim]
    for table in (coins(70, [0.83, 0.61, 0.34]), np.random.default_rng(6).random((60, 2)) * [0.9, 0.7]):
        state = TableState(table, np.full(len(table), -1, dtype=np.int64), np.zeros(1, dtype=np.int64))
        how: dict[str, Any] = HOWS[name] | {"budget": 8.6}
        options: dict[str, Any] = {"horizon": len(table), "checkpoints": 1, "interpret": True}
        result = vb.simulate(policy, TableEnvironment(state), vb.LookAhead(**how), **options)
        oracle, rows = make_oracle(table.shape[1], len(table)), table.tolist()
        twin = naive.LookAhead(table.mean(axis=0).tolist(), oracle, horizon=len(table), **how)
        record = naive.game(oracle, partial(paid, rows), twin, 8.6, True, len(table))
        assert state.arms.tolist() == record.arms
        assert result.cost[0, -1] == pytest.approx(float(record.cost), abs=1e-9)
        assert record.cost > 0 or name == "far, dear" or victim in ("se-wr", "pe-wr")


def test_it_sees_what_many_answers_change() -> None:
    """UCB1 comes back to an arm that was hidden for one answer only, so no single one is worth its price."""
    options: dict[str, Any] = {"horizon": 2_000, "replications": 10, "realized": False, "checkpoints": 1}
    arms, found = vb.Bernoulli([0.9, 0.5]), []
    for depth in (1, 2_000):
        attack = vb.LookAhead(budget=60, ahead=2_000, price=2.0, depth=depth)
        found.append(vb.simulate(vb.UCB1(), arms, attack, **options).pseudo_regret.mean())
    assert found[1] > 5 * found[0]


@pytest.mark.parametrize("policy", [vb.UCB1(alpha=0.3), pytest.param(vb.Thompson(), marks=pytest.mark.slow)])
def test_in_tiny_games_it_is_between_nothing_and_the_optimum(policy: vb.Policy) -> None:
    """4,000 games; a comparison fails by chance with a probability of 0.0001 at most (4 deviations).

    The exact attack that looks ahead knows every outcome, this one forecasts with means: they are alike, not equal.
    """
    means, horizon, budget = (0.9, 0.4), 12, 2
    best = optimal_attack(policy, means, budget, horizon)
    attack = vb.LookAhead(budget=budget, ahead=11, price=0.1, depth=1, every=1)
    options: dict[str, Any] = {"horizon": horizon, "replications": 4_000, "checkpoints": 1, "realized": False}
    regret = vb.simulate(policy, vb.Bernoulli(means), attack, **options).pseudo_regret[:, -1]
    error = 4 * float(regret.std()) / 4_000**0.5
    assert best.clean + 0.3 * (best.regret - best.clean) < regret.mean() + error
    assert regret.mean() < best.regret + error
    exact = look_ahead_regret(policy, means, budget, horizon, steps=11, least_gain=0.1)
    assert best.clean < exact <= best.regret


@pytest.mark.parametrize("policy", examples("policy"), ids=lambda policy: policy.name)
def test_a_copy_is_equal_and_apart(policy: vb.Policy) -> None:
    """For every policy: what is done to the copy leaves the state alone, and both then play alike."""
    state, spare = policy.init(Game(3, 200)), policy.init(Game(3, 200))
    coin = np.random.default_rng(1)
    copy = copier(state)
    for t in range(1, 60):
        arm, probability, tag = policy.select(state, Round.prompt(t, 3), stream(t))
        answer = Answer(int(arm), float(coin.random() < 0.5), float(probability), int(tag))
        tried = policy.update(copy(state, spare), answer)
        assert policy.select(state, Round.prompt(t, 3), stream(t))[0] == arm
        state = policy.update(state, answer)
        assert policy.select(tried, Round.prompt(t + 1, 3), stream(t)) == policy.select(
            state, Round.prompt(t + 1, 3), stream(t)
        )


@pytest.mark.parametrize("policy", [vb.UCB1(), vb.PEWR()], ids=lambda policy: policy.name)
def test_a_copy_compiled(policy: vb.Policy) -> None:
    state, spare = policy.init(Game(3, 200)), policy.init(Game(3, 200))
    for arm in (0, 1, 2, 0):
        state = policy.update(state, Answer(arm, 0.5, 1.0, 0))
    for one, other in zip(compiled(copier(state), {})(state, spare), state, strict=True):
        np.testing.assert_equal(one, other)


@pytest.mark.slow  # seven seconds; with other parameters it conforms in tests/test_testing.py in every run
def test_conforms() -> None:
    check_adversary(vb.LookAhead(ahead=8, depth=8, every=3, width=2))


def test_it_needs_a_policy_of_kernels() -> None:
    stranger: Any = vb.Foreign(make=lambda *_: None, name="stranger")  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match=r"attack look-ahead: expected a policy of kernels, .* got stranger"):
        vb.simulate(stranger, vb.Bernoulli([0.9]), vb.LookAhead(), horizon=9)
