"""Each verdict can go either way."""

import dataclasses
from collections.abc import Callable
from math import log

import numpy as np
import pytest

from paper import fabricated
from vambrace import theory
from vambrace.lab.study import Play
from vambrace.paper.claims import CLAIMS, JUDGES, RESULTS, exponents, fit, least_linear, verdict
from vambrace.report.experiments import Claim

BY_ID = {claim.id: claim for claim in CLAIMS}


def judged(claim: str, regret: fabricated.Regret, missing: int = 0) -> Claim:
    suite = BY_ID[claim].suite
    assert suite is not None
    return verdict(BY_ID[claim], {suite: fabricated.study(suite, regret, missing=missing)})


def undecided(claim: str, why: str) -> Claim:
    return BY_ID[claim]._replace(holds=None, evidence=why)


def lower(play: Play) -> float:
    game = play.game
    return theory.concealment(8, horizon=game.horizon, budget=game.budget).value if game.budget else 1.0


def logarithmic(play: Play, times: float = 3.0) -> float:
    """As SE-WR does it: 8 ln T / gap and 3 C for each arm."""
    return sum(8 * log(play.game.horizon) / gap + times * play.game.budget for gap in play.gaps)


def rates_as_bounded(play: Play) -> float:
    if play.game.panel != "pe-wr":
        return logarithmic(play)
    return min(0.2 * play.game.horizon ** theory.exponent("additive", play.game.power or 0.0), 0.9 * play.most)


def too_steep(play: Play) -> float:
    return 9.0 if play.game.panel == "pe-wr" else logarithmic(play, times=6.3)


def as_attacked(play: Play) -> float:
    """Linear from a budget of 1000 under attack, and ten times that under corruption."""
    edge = 1_000 if play.game.panel == "attack" else 10_000
    return 0.9 * play.most if play.game.budget >= edge else 900.0


def as_priced(play: Play) -> float:
    """Broken from a budget of 200 on, where 4 * 200 is paid without attack."""
    return 9_000.0 if play.game.budget > 200 else 800.0


ORDER = {"pe-wr": 1.0, "se-wr:budget=C": 2.0, "se": 4.0, "ucb1": 5.0}


@pytest.mark.parametrize(
    ("claim", "good", "bad"),
    [
        ("concealment", lambda play: 1.1 * lower(play), lambda play: 0.9 * lower(play)),
        ("se-wr", rates_as_bounded, lambda play: 20 * rates_as_bounded(play)),
        ("se-wr", rates_as_bounded, lambda play: 0.01 * play.game.horizon),
        ("se-wr", rates_as_bounded, lambda play: play.game.horizon**0.2),  # within the bound, but no line in ln T
        ("se-wr", rates_as_bounded, too_steep),  # within it, but too steep in C
        ("se-wr-stop", rates_as_bounded, lambda play: 0.01 * play.game.horizon),
        ("pe-wr", rates_as_bounded, lambda play: 0.9 * play.most),
        ("root", rates_as_bounded, lambda play: play.game.horizon**0.5),
        ("regret-is-the-price", as_attacked, lambda play: as_attacked(play) if play.game.budget else 10.0),
        ("price-of-armour", as_priced, lambda play: as_priced(play) if play.game.budget else 0.5 * as_priced(play)),
        ("separation", as_attacked, lambda play: 0.9 * play.most if play.game.budget >= 100 else 9.0),
        ("told", fabricated.plausible, lambda play: 3 * fabricated.plausible(play)),
        ("poster", lambda play: ORDER.get(play.game.line, 3.0), lambda play: 5 - ORDER.get(play.game.line, 3.0)),
    ],
)
def test_a_claim_holds_or_does_not(claim: str, good: Callable[[Play], float], bad: Callable[[Play], float]) -> None:
    assert judged(claim, good).holds is True
    assert judged(claim, bad).holds is False


def test_what_games_cannot_decide_is_not_decided() -> None:
    assert judged("ms-se-wr", fabricated.plausible).holds is None
    assert verdict(BY_ID["combined"], {}).holds is None
    assert verdict(BY_ID["comparison"], {}).holds is True  # by arithmetic


def test_without_all_its_cells_a_suite_decides_nothing() -> None:
    missing = undecided("concealment", "3 cells of the suite lower-bound are missing.")
    assert judged("concealment", lower, missing=3) == missing
    assert verdict(BY_ID["concealment"], {}) == undecided("concealment", "The suite lower-bound was not run.")


def test_an_experiment_that_only_has_the_name_of_a_suite_decides_nothing() -> None:
    found = fabricated.study("separation", as_attacked)
    mine = dataclasses.replace(found, experiment=found.experiment.model_copy(update={"replications": 1}))
    assert verdict(BY_ID["separation"], {"separation": found}).holds is True
    why = "The experiment separation is not the suite of that name."
    assert verdict(BY_ID["separation"], {"separation": mine}) == undecided("separation", why)


def test_policies_that_no_attack_fells_do_not_show_that_attacks_are_worse() -> None:
    assert judged("separation", lambda play: 9.0).holds is False


def test_nothing_is_said_of_a_fall_that_was_not_seen() -> None:
    assert "it loses little, too" in judged("told", lambda play: 9.0).evidence
    assert "from C = 1,100 on" in judged("told", lambda play: 0.2 * play.most if play.game.budget > 1e3 else 9).evidence


def test_exponents_are_those_of_the_numbers() -> None:
    found = exponents(fabricated.study("exponents", rates_as_bounded))
    assert found[0.25].slope == pytest.approx(0.5, abs=0.01)
    assert found[0.4].slope == pytest.approx(0.8, abs=0.01)


def test_the_least_linear_budgets() -> None:
    found = least_linear(fabricated.study("separation", as_attacked))
    assert {*found["attack"].values()} == {1000.0}
    assert {*found["corruption"].values()} == {10_000.0}


def test_the_results_table_speaks_of_claims() -> None:
    named = [name for _, known, unknown in RESULTS for _, name in (*known, *unknown)]
    assert {*named} <= {*BY_ID} == {*JUDGES}
    assert len(BY_ID) == 14


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_evidence_quotes_the_numbers(share: float) -> None:
    """Regrets of a known share of the bound, give or take the hundredth that a made-up study adds."""
    quoted = judged("told", lambda play: 2 * share * fabricated.plausible(play)).evidence.partition("within ")[2]
    assert share <= float(quoted.partition(" ")[0]) <= 1.02 * share


def test_a_fit_finds_a_line_and_its_interval() -> None:
    rng = np.random.default_rng(1)
    x = [1.0, 2.0, 3.0, 4.0]
    samples = [5.0 + 3.0 * place + rng.normal(0, 0.5, 200) for place in x]
    line = fit(x, samples)
    assert line.low < 3.0 < line.high
    assert line.high - line.low < 0.2
    assert line.explained > 0.999
    assert fit(x, [np.array([2.0**place]) for place in x], np.log2).slope == pytest.approx(1.0)
