"""The decision follows from the figures: the policy that guarantees enough and lost least."""

from pathlib import Path

import pytest

import choosing
from choosing import BUDGETS, GIVEN, HORIZONS, Cells, Found

ROOT = Path(__file__).parents[2]
ARMS = next(iter(choosing.ARMS))
TIGHT, KL, UCB = GIVEN[1000]


def cells(**regrets: tuple[float, float, float]) -> Cells:
    """Everybody loses half of what random play does, except for those that are named, at each of the budgets."""
    found = {}
    for horizon in HORIZONS:
        for arms in choosing.ARMS:
            for policy in (each for given in GIVEN.values() for each in given):
                usual = (choosing.uniform(horizon, arms) / 2,) * len(BUDGETS)
                for budget, regret in zip(BUDGETS, regrets.get(policy.replace("-", "_"), usual), strict=True):
                    found[horizon, arms, policy, budget] = Found(regret, "conceal")
    return found


def test_the_least_worst_regret_wins() -> None:
    figures = cells(ucb1=(10.0, 90_000.0, 90_000.0), pe_wr=(30.0, 20.0, 90_000.0))
    chosen = [choosing.choice(figures, HORIZONS[0], ARMS, most) for most in (0, 100)]
    assert chosen == ["<code>ucb1</code><br>10 (0.0%)", "<code>pe-wr</code><br>30 (0.0%)"]


def test_a_policy_given_less_than_may_be_spent_does_not_count() -> None:
    assert choosing.promising(0) == [each for given in GIVEN.values() for each in given]
    assert "ucb1" not in choosing.promising(100)
    assert choosing.promising(1000) == [*GIVEN[1000], *GIVEN[None]]
    figures = cells(ucb1=(1.0, 1.0, 1.0), pe_wr=(50.0, 60.0, 70.0))
    assert choosing.choice(figures, HORIZONS[0], ARMS, 1000) == "<code>pe-wr</code><br>70 (0.0%)"


def test_nothing_helps_where_all_are_as_bad_as_chance() -> None:
    bad = {policy: (1e9, 1e9, 1e9) for given in GIVEN.values() for policy in given}
    figures = {key: Found(bad[key[2]][0], "conceal") for key in cells()}
    assert choosing.choice(figures, HORIZONS[0], ARMS, 0).startswith("nothing helps")
    assert choosing.blind_choice(figures, HORIZONS[0], ARMS) == "nothing helps"


def test_without_a_number_nobody_far_behind_wins() -> None:
    figures = cells(pe_wr=(10.0, 10.0, 90_000.0), cw_oful=(300.0, 300.0, 300.0))
    expected = "<code>cw-oful</code><br>300 to 0<br>300 to 100<br>300 to 1,000"
    assert choosing.blind_choice(figures, HORIZONS[0], ARMS) == expected


def test_lessons_that_the_figures_do_not_bear_out_are_refused() -> None:
    with pytest.raises(ValueError, match="write new ones"):
        choosing.lessons(cells())


def test_the_page_has_the_tables_of_today() -> None:
    page = (ROOT / "docs/choosing.md").read_text(encoding="utf-8")
    for policy in (each for given in GIVEN.values() for each in given):
        assert page.count(f"| {choosing.shown(policy)} |") == len(choosing.ARMS)
