"""Plans: against brute force, against themselves at other parameters, and against games."""

import json
from math import log, sqrt
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vambrace as vb
from effort import examples
from vambrace.policies.radii import PIECES, Radius, Rule, kl, make_rule, separated
from vambrace.theory import planning
from vambrace.theory.planning import UNIFORM, RadiusPlan

EASY: list[dict[str, Any]] = [
    {"arms": 2, "rate": 0.9, "gap": 0.8, "budget": 0, "horizon": 100},
    {"arms": 3, "rate": 0.9, "gap": 0.7, "budget": 3, "horizon": 5_000},
    {"arms": 5, "rate": 0.5, "gap": 0.5, "budget": 2.5, "horizon": 1_000, "delta": 0.1},
    {"arms": 2, "rate": 1.0, "gap": 0.6, "budget": 7, "horizon": 300, "delta": 0.5},
    {"arms": 2, "rate": 1.0, "gap": 1.0, "budget": 1, "horizon": 50},
]
easy = pytest.mark.parametrize("game", EASY, ids=repr)


def row(radius: str, **game: Any) -> RadiusPlan:
    (found,) = (each for each in vb.plan(**game).rows if each.radius == radius)
    return found


def logarithm(game: dict[str, Any], sides: float) -> float:
    return log(sides * game["arms"] * game["horizon"] / game.get("delta", game["arms"] / game["horizon"]))


# ---------------------------------------------------------------------------------------------------------- brute force


@easy
def test_paper_and_tight_by_trying_every_number(game: dict[str, Any]) -> None:
    for radius, factor, sides in (("paper", 4.0, 2.0), ("tight", 2.0, 1.0)):
        n = 1
        while factor * (sqrt(logarithm(game, sides) / n) + game["budget"] / n) >= game["gap"]:
            n += 1
        assert row(radius, **game).pulls == n


def worst_means(rule: Rule, rate: float, other: float, n: int) -> tuple[float, float]:
    """By halving, 60 times, what lies between the mean and the end."""

    def unlucky(mean: float, end: float) -> float:
        if kl(end, mean) <= rule.log_single / n:
            return end
        good, bad = mean, end
        for _ in range(60):
            middle = (good + bad) / 2
            good, bad = (middle, bad) if kl(middle, mean) <= rule.log_single / n else (good, middle)
        return bad

    return unlucky(rate, 0.0), unlucky(other, 1.0)


def drops_whatever_the_attacker_does(rule: Rule, rate: float, gap: float, n: int) -> bool:
    """The definition: every piece of the attacker's splits, with the worse end for both arms."""
    high, low = worst_means(rule, rate, rate - gap, n)
    return all(
        separated(rule, n * high - rule.budget * (i + 1) / PIECES, n, n * low + rule.budget * (PIECES - i) / PIECES, n)
        for i in range(PIECES)
    )


@easy
def test_kl_by_trying_every_number(game: dict[str, Any]) -> None:
    rule = make_rule("kl", game["arms"], game["horizon"], game.get("delta"), game["budget"])
    n = 1
    while not drops_whatever_the_attacker_does(rule, game["rate"], game["gap"], n):
        n += 1
    assert row("kl", **game).pulls == n


@pytest.mark.parametrize("budget", [3, 100])
def test_kl_is_safe_for_splits_between_the_pieces_and_not_wasteful(budget: float) -> None:
    game: dict[str, Any] = {"arms": 4, "rate": 0.05, "gap": 0.03, "budget": budget, "horizon": 10**6}
    pulls = row("kl", **game).pulls or 0
    rule = make_rule("kl", 4, 10**6, None, budget)

    def dropped(n: int) -> list[bool]:
        high, low = worst_means(rule, 0.05, 0.02, n)
        splits = [budget * i / 100 for i in range(101)]
        return [separated(rule, n * high - c, n, n * low + budget - c, n) for c in splits]

    assert all(dropped(pulls))
    assert not all(dropped(int(0.95 * pulls)))


# ------------------------------------------------------------------------------------------------------------ monotone


GAMES = st.fixed_dictionaries(
    {
        "arms": st.integers(2, 20),
        "rate": st.floats(0.01, 1.0),
        "budget": st.floats(0, 1e4),
        "horizon": st.integers(100, 10**9),
        "delta": st.floats(1e-9, 0.5),
    }
)


# The plan of KL-UCB-WR, three quarters of the time of a plan, has its own tests.
se_wr_only = mock.patch.object(planning, "armour_plan", mock.Mock(return_value=None))


@se_wr_only
@examples(40)
@given(GAMES, st.floats(0.05, 1.0), st.floats(1.0, 3.0))
def test_what_makes_it_harder_takes_longer(game: dict[str, Any], share: float, more: float) -> None:
    gap = share * game["rate"]
    base = vb.plan(**game, gap=gap)
    harder = [
        {**game, "gap": gap / more},
        {**game, "gap": gap, "budget": game["budget"] * more},
        {**game, "gap": gap, "delta": game["delta"] / more},
        {**game, "gap": gap, "arms": int(game["arms"] * more)},
    ]
    for other in harder:
        for easy_row, hard_row in zip(base.rows, vb.plan(**other).rows, strict=True):
            assert (easy_row.pulls or 0) <= (hard_row.pulls or 0)
            if other["budget"] == game["budget"]:
                assert (hard_row.largest_budget or 0) <= (easy_row.largest_budget or 0)
            else:
                assert hard_row.largest_budget == easy_row.largest_budget
    paper, tight, _ = (each.pulls or 0 for each in base.rows)
    assert tight <= paper


@se_wr_only
@examples(40)
@given(GAMES, st.floats(0.05, 1.0))
def test_the_largest_budget_is_the_largest_that_fits(game: dict[str, Any], share: float) -> None:
    game["gap"] = share * game["rate"]
    for found in vb.plan(**game).rows:
        assert found.round == (found.pulls or 0) * game["arms"]
        assert found.fits == (found.round <= game["horizon"])
        largest = found.largest_budget
        if largest is None:
            assert not row(found.radius, **{**game, "budget": 0}).fits
        else:
            assert row(found.radius, **{**game, "budget": largest}).fits
            assert not row(found.radius, **{**game, "budget": largest + 1}).fits
            assert found.fits == (game["budget"] <= largest) or largest < game["budget"] < largest + 1


# ------------------------------------------------------------------------------------------------------------ the words


def test_what_fits_and_what_it_costs() -> None:
    found = vb.plan(arms=4, rate=0.0152, gap=0.0079, budget=100, horizon=10**6)
    paper, tight, best = found.rows
    assert [each.fits for each in found.rows] == [False, False, True]
    assert [paper.regret, tight.regret] == pytest.approx([0.0079 * 750_000] * 2, rel=1e-4)
    assert best.regret == pytest.approx(0.0079 * (3 * (best.pulls or 0) + 4))  # delta = 4 / horizon
    assert found.verdict == f"radius kl resolves a gap of 0.0079 by round {best.round:,} of 1,000,000"
    text = " ".join(str(found).split())
    assert f"SE-WR with radius paper and tight: {UNIFORM}." in text
    assert f"{best.pulls:,}" in text
    assert "every other arm lies this gap below the best" in text
    read = json.loads(json.dumps(found.to_dict()))
    assert (read["gap"], read["verdict"]) == (0.0079, found.verdict)
    assert [each["pulls"] for each in read["rows"]] == [each.pulls for each in found.rows]


@examples(40)
@given(GAMES, st.floats(0.05, 1.0))
def test_a_printed_plan_fits_in_eighty_columns(game: dict[str, Any], share: float) -> None:
    lines = str(vb.plan(**game, gap=share * game["rate"])).splitlines()
    assert max(map(len, lines)) <= 80


def test_a_failing_guarantee_is_paid_for() -> None:
    game: dict[str, Any] = {"arms": 2, "rate": 0.9, "gap": 0.5, "budget": 0, "horizon": 10_000, "delta": 0.01}
    for found in vb.plan(**game).rows:
        chance = 0.02 if found.radius == "tight" else 0.01
        assert found.regret == pytest.approx(0.5 * ((found.pulls or 0) + chance * 10_000))


def test_a_horizon_that_is_too_short_is_said_plainly() -> None:
    found = vb.plan(arms=4, rate=0.015, gap=0.002, budget=100, horizon=10**6)
    assert not found.feasible
    assert found.verdict == "no arm can be eliminated within this horizon: this would be uniform play"
    assert " ".join(str(found).split()).lower().count(UNIFORM) == 1
    assert [each.regret for each in found.rows] == pytest.approx([0.002 * 750_000] * 3, rel=1e-4)


def test_a_gap_that_no_game_resolves() -> None:
    found = vb.plan(arms=2, rate=0.5, gap=1e-12, budget=0, horizon=10**15)
    assert [(each.pulls, each.round, each.largest_budget) for each in found.rows] == [(None, None, None)] * 3
    assert "never" in str(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": 1}, "arms: expected a whole number in [2, 1000000], got 1"),
        ({"arms": 2.5}, "arms: expected a whole number in [2, 1000000], got 2.5"),
        ({"rate": 0.0}, "rate: expected a number in (0, 1], got 0.0"),
        ({"rate": "x"}, "rate: expected a number in (0, 1], got 'x'"),
        ({"gap": 0.6}, "gap: expected a number in (0, 0.5], got 0.6"),
        ({"gap": 0}, "gap: expected a number in (0, 0.5], got 0"),
        ({"budget": float("inf")}, "budget: expected a number in [0, 1e+18], got inf"),
        ({"horizon": 3}, "horizon: expected at least one round for each of the 4 arms, got 3"),
        ({"delta": 0}, "delta: expected a number in (0, 1), got 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, Any], message: str) -> None:
    game = {"arms": 4, "rate": 0.5, "gap": 0.1, "budget": 1, "horizon": 1_000}
    with pytest.raises(vb.VambraceError) as caught:
        vb.plan(**{**game, **change})
    assert str(caught.value) == message


# --------------------------------------------------------------------------------------------------------------- games


@pytest.mark.parametrize("radius", ["paper", "tight", "kl"])
def test_planned_games_drop_the_worse_arm_in_time(radius: Radius) -> None:
    """Each fails with probability below 2 delta = 4e-5; of 200, no more than two may."""
    horizon, budget = 100_000, 100
    pulls = row(radius, arms=2, rate=0.3, gap=0.15, budget=budget, horizon=horizon).pulls or 0
    assert 2 * pulls <= horizon
    result = vb.simulate(
        vb.SEWR(budget=budget, radius=radius),
        vb.Bernoulli([0.3, 0.15]),
        vb.Conceal(budget=budget),
        horizon=horizon,
        replications=200,
        seed=11,
        engine="leap",
    )
    assert (result.pulls[:, 1] <= pulls).sum() >= 198
    assert result.pulls[:, 1].mean() > pulls / 10  # and the plan is not idle talk


@pytest.mark.parametrize(("radius", "horizon"), [("paper", 250_000), ("tight", 70_000), ("kl", 45_000)])
def test_a_typical_game_takes_as_long_as_planned(radius: Radius, horizon: int) -> None:
    """Under Conceal, which spends the whole budget: within a fifth of the plan on average, but not certain."""
    found = vb.plan(arms=2, rate=0.05, gap=0.03, budget=50, horizon=horizon)
    row = next(each for each in found.rows if each.radius == radius)
    assert row.likely
    assert not row.fits
    assert ("no arm is certain to be eliminated" in found.verdict) == (not found.feasible)
    result = vb.simulate(
        vb.SEWR(budget=50, radius=radius),
        vb.Bernoulli([0.05, 0.02]),
        vb.Conceal(budget=50),
        horizon=horizon,
        replications=100,
        seed=1,
    )
    assert result.pulls[:, 1].mean() == pytest.approx(row.typical, rel=0.2)
