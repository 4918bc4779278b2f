"""Every deterministic policy pulls the same arms as its oracle: compiled, interpreted and live.

The logarithmic term of the radius is at least ln(2 T^2) by default, so that small tables would never see a drop; a
delta close to one and long tables of extreme arms bring drops into reach.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples
from tables import Table, pulls_of_engine, pulls_of_learner, tables
from vambrace.policies.radii import Radius
from vambrace.protocols import Game

budgets = st.sampled_from([0.0, 0.5, 1.0, 3.0, 17.0, 1000.0])
deltas = st.sampled_from([None, 0.01, 0.5, 0.999])
HUGE = 10**6  # a budget larger than the horizon: nothing can ever be dropped
Pair = tuple[vb.Policy, Callable[[int, int], Any]]


def both(policy: type[vb.Policy], oracle: type[Any], **options: Any) -> Pair:
    return policy(**options), lambda k, t: oracle(k, t, **options)


@st.composite
def se_wr(pick: st.DrawFn, radius: str) -> Pair:
    options: dict[str, Any] = {"budget": pick(budgets), "delta": pick(deltas), "radius": radius}
    return both(vb.SEWR, naive.SEWR, **options)


@st.composite
def se_wr_stop(pick: st.DrawFn, stop: str) -> Pair:
    options: dict[str, Any] = {
        "budget": pick(budgets),
        "delta": pick(deltas),
        "radius": pick(st.sampled_from(["paper", "tight", "kl"])),
        "stop": stop,
    }
    return both(vb.SEWRStop, naive.SEWRStop, **options)


@st.composite
def pe_wr(pick: st.DrawFn, cap: str) -> Pair:
    options: dict[str, Any] = {"delta": pick(deltas), "radius": pick(st.sampled_from(["paper", "tight"])), "cap": cap}
    return both(vb.PEWR, naive.PEWR, **options)


def se() -> st.SearchStrategy[Pair]:
    return st.just(both(vb.SE, naive.SE))


def ucb1() -> st.SearchStrategy[Pair]:
    return st.sampled_from([0.1, 1.0, 2.0]).map(lambda alpha: both(vb.UCB1, naive.UCB1, alpha=alpha))


PAIRS = {
    "se-wr paper": se_wr("paper"),
    "se-wr tight": se_wr("tight"),
    "se-wr kl": se_wr("kl"),
    "se-wr-stop additive": se_wr_stop("additive"),
    "se-wr-stop multiplicative": se_wr_stop("multiplicative"),
    "pe-wr paper": pe_wr("paper"),
    "pe-wr repaired": pe_wr("repaired"),
    "se": se(),
    "ucb1": ucb1(),
}


@pytest.mark.parametrize("name", PAIRS)
@examples(60)
@given(data=st.data(), table=tables())
def test_same_arms_as_the_oracle(name: str, data: st.DataObject, table: Table) -> None:
    policy, make_oracle = data.draw(PAIRS[name])
    rounds, n_arms = table.shape
    oracle = make_oracle(n_arms, rounds)
    expected = naive.play(oracle, table.tolist())
    if hasattr(oracle, "active"):
        event(f"{n_arms - len(oracle.active)} dropped")
    assert pulls_of_engine(policy, table, interpret=False) == expected
    assert pulls_of_engine(policy, table, interpret=True) == expected
    assert pulls_of_learner(policy, table) == expected


LONG: dict[str, Pair] = {
    **{
        f"se-wr {radius} {budget}": both(vb.SEWR, naive.SEWR, budget=budget, radius=radius)
        for radius in ("paper", "tight", "kl")
        for budget in (0, 20, HUGE)
    },
    **{
        f"se-wr-stop {stop}": both(vb.SEWRStop, naive.SEWRStop, budget=20, stop=stop, radius="tight")
        for stop in ("additive", "multiplicative")
    },
    **{
        f"pe-wr {cap} {radius}": both(vb.PEWR, naive.PEWR, cap=cap, radius=radius)
        for cap in ("paper", "repaired")
        for radius in ("paper", "tight")
    },
    "ucb1": both(vb.UCB1, naive.UCB1),
}


@pytest.mark.parametrize("name", LONG)
def test_same_arms_over_many_rounds(name: str) -> None:
    """4,001 rounds of coins: several drops, quiet stretches and a last sweep or phase that is cut short."""
    policy, make_oracle = LONG[name]
    means = np.array([0.9, 0.85, 0.5, 0.1])
    table = (np.random.default_rng(11).random((4001, 4)) < means).astype(float)
    oracle = make_oracle(4, 4001)
    expected = naive.play(oracle, table.tolist())
    if str(HUGE) not in name and name != "ucb1":
        assert len(oracle.active) < 4, "this table should make the policy drop an arm"
    assert pulls_of_engine(policy, table, interpret=False) == expected
    assert pulls_of_learner(policy, table) == expected


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("radius", ["paper", "tight", "kl"])
def test_rewards_far_outside_the_unit_interval(radius: Radius, sign: float) -> None:
    """An unbounded attack may move totals by more than one a sweep; the skipped tests must come back."""
    rng = np.random.default_rng(5)
    table = (rng.random((900, 3)) < [0.6, 0.5, 0.4]).astype(float)
    table[rng.integers(0, 900, 12), rng.integers(0, 3, 12)] = sign * np.abs(rng.normal(0, 60, 12))
    policy = vb.SEWR(budget=2, delta=0.5, radius=radius)
    expected = naive.play(naive.SEWR(3, 900, budget=2, delta=0.5, radius=radius), table.tolist())
    assert len(set(expected[-3:])) < 3, "this table should make the policy drop an arm"
    assert pulls_of_engine(policy, table, interpret=False) == expected


def test_the_additive_cap_has_no_two_in_its_logarithm() -> None:
    """T = 10,000, K = 4, delta = 0.1, budget 7: T/K + 7 sqrt(T / (K ln 400,000)) = 2500 + 97.45…"""
    game = Game(4, 10_000)
    assert vb.SEWRStop(budget=7, delta=0.1, stop="additive").init(game).last_test == 2598
    assert vb.SEWRStop(budget=7, delta=0.1, stop="multiplicative").init(game).last_test == 2501
