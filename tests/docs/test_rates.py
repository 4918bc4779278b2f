"""What docs/rates.md says of growth, on the suites themselves: where the theory is tight, it is what was measured.

`make docs` runs these tests.
"""

from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import pytest

import rates
import vambrace as vb
from vambrace import lab, theory
from vambrace.lab.study import Study
from vambrace.paper.claims import exponents, fit, least_linear
from vambrace.paper.suites import find

pytestmark = pytest.mark.slow
Part = Callable[..., Study]


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Part:
    """Panels of a suite, with some of their lists changed, played."""

    def play(suite: str, changes: dict[str, dict[str, Any]], **top: Any) -> Study:
        document = lab.read(find(suite)).canonical() | top
        document["panels"] = [
            panel | changes[panel["name"]] for panel in document["panels"] if panel["name"] in changes
        ]
        folder = tmp_path_factory.mktemp(suite)
        assert lab.run(lab.parse(document), folder, workers=1).missing == ()
        return lab.load(folder)

    return play


@pytest.fixture(scope="module")
def known(part: Part) -> Study:
    return part("exponents", {"horizon": {}, "budget": {}})


@pytest.mark.parametrize("budget", [0.0, 1000.0])
def test_se_wr_grows_like_the_logarithm_of_the_horizon(known: Study, budget: float) -> None:
    """The regret that the line alone gives is met within 4 % at every horizon from 10^9 to 10^15."""
    plays = [play for play in rates.se_wr(known, "horizon") if play.game.budget == budget]
    assert len(plays) == 7
    for play in plays:
        bounds = theory.promises(play.game.policy, play.gaps, horizon=play.game.horizon, budget=budget)
        assert play.regret == pytest.approx(rates.expected(play), rel=0.04)
        assert play.regret < bounds[0].value / 3
    assert fit([log(play.game.horizon) for play in plays], [play.final for play in plays]).explained > 0.99


def test_se_wr_grows_linearly_in_the_budget_and_with_the_arms(known: Study) -> None:
    slopes = []
    for name, n_arms in (("two-arms", 2), ("five-arms", 5), ("ten-arms", 10)):
        plays = [play for play in rates.se_wr(known, "budget") if play.game.place == name]
        assert all(play.regret == pytest.approx(rates.expected(play), rel=0.05) for play in plays)
        line = fit([play.game.budget for play in plays], [play.final for play in plays])
        assert line.explained > 0.99
        slopes.append(line.slope / (n_arms - 1))
    assert max(slopes) == pytest.approx(min(slopes), rel=0.02)
    assert 3.0 < min(slopes) < 6.0, "three times the budget and a term that fades; the bound has six"


def test_the_tables_show_the_numbers(known: Study) -> None:
    clean, attacked = (
        [play for play in rates.se_wr(known, "horizon") if play.game.budget == budget] for budget in (0, 1000)
    )
    table = rates.horizon_table(clean, attacked).splitlines()
    assert len(table) == 2 + 7
    assert table[-1].startswith(f"| 10^15 | {clean[-1].regret:,.0f} | {rates.expected(clean[-1]):,.0f} | 226,067 |")
    assert len(rates.budget_table(known).splitlines()) == 2 + 3
    assert rates.expected_slope(clean) == pytest.approx(720, abs=1)


def test_a_burst_succeeds_up_to_the_gap_that_it_can_pay_for() -> None:
    horizon, budget = 10**10, 10.0**4.6
    gap = max(rates.burst_gaps(horizon, budget))
    for factor, lost in ((0.9, True), (1.6, False)):
        means = [0.5 + factor * gap / 2, 0.5 - factor * gap / 2]
        result = vb.simulate(
            vb.PEWR(), vb.Bernoulli(means), vb.PhaseBurst(budget=budget), horizon=horizon, replications=20, seed=1
        )
        assert ((result.pulls.argmax(axis=1) == 1) == lost).all()


def test_no_burst_is_possible_below_a_third() -> None:
    """Not at any horizon: 2 sqrt(lambda n_h) outgrows C = T^0.3 before C_h falls below it."""
    assert all(rates.burst_gaps(10**power, 10.0 ** (0.3 * power)) == [] for power in (9, 15, 60, 200))
    assert rates.burst_gaps(10**200, 10.0 ** (0.36 * 200))


def test_exponents_where_the_theory_is_tight(part: Part) -> None:
    """Within 0.05 of max(1/2, 2 beta) for beta up to 1/4 and from 1/2 on, over six decades."""
    betas = (0.0, 0.25, 0.5, 0.6)
    study = part("exponents", {"pe-wr": {"budget_powers": list(betas), "horizons": [10**9, 10**15]}})
    found = exponents(study)
    assert [*found] == [*betas]
    for beta, line in found.items():
        assert line.slope == pytest.approx(theory.exponent("additive", beta), abs=0.05), beta
    assert len(rates.exponent_table(study).splitlines()) == 2 + len(betas)


def test_ucb1_falls_to_few_fake_events_only_if_the_arm_is_seen(part: Part) -> None:
    """An attacker needs a few dozen events at any horizon, a corrupter a share of all rounds."""
    found = []
    for horizon in (3_000, 30_000):
        study = part("separation", {"attack": {}, "corruption": {}}, policies=["ucb1"], horizons=[horizon])
        found.append({who: budgets["ucb1"] for who, budgets in least_linear(study).items()})
    assert found[0]["attack"] <= found[1]["attack"] <= 100
    assert found[0]["corruption"] >= 1000
    assert found[1]["corruption"] >= 3 * found[0]["corruption"]


def test_the_page_is_that_of_the_suites() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rates.md").read_text(encoding="utf-8")
    assert "which `vambrace run` plays" in page
    assert rates.formula_table() in page
