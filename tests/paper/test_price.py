"""The points of the picture: what a policy costs, and between which budgets it breaks."""

from math import sqrt

import pytest

from paper import fabricated
from vambrace.lab.study import Play
from vambrace.paper import price


def broken_from(edge: float, clean: float = 800.0) -> fabricated.Regret:
    def regret(play: Play) -> float:
        return 20_000.0 if play.game.budget > edge else clean

    return regret


def test_a_policy_breaks_between_two_budgets_of_the_grid() -> None:
    points, game = price.points(fabricated.study("price-of-armour", broken_from(100)))
    assert [game.limit, game.others, game.slope] == pytest.approx([5_000, 4, 1.125])
    lines = {point.line: point for point in points}
    assert {"kl-ucb-wr:budget=100", "ucb1", "pe-wr", "ms-se-wr:share=true,radius=tight"} <= {*lines}
    coarse, fine = lines["ucb1"], lines["kl-ucb-wr:budget=100"]
    assert (coarse.low, coarse.high, fine.low, fine.high) == (91, 128, 91, 108)
    assert fine.price == pytest.approx(200, rel=0.01)
    assert 91 < (fine.broken or 0) < 108
    # on logarithmic scales: from 800 to 20,000, of which 5,000 is the share ln(6.25) / ln(25)
    assert fine.broken == pytest.approx(91 * (108 / 91) ** 0.569, rel=0.01)


def test_who_is_broken_without_attack_or_never_has_no_point_or_no_budget() -> None:
    assert price.points(fabricated.study("price-of-armour", lambda play: 6_000.0))[0] == []
    points, _ = price.points(fabricated.study("price-of-armour", lambda play: 900.0))
    assert {(point.broken, point.high) for point in points} == {(None, None)}


def test_noise_widens_the_interval() -> None:
    """A regret near the limit at one budget: surely neither below nor above there."""

    def regret(play: Play) -> float:
        return 5_000.0 if play.game.budget == 128 else broken_from(128)(play)

    points, _ = price.points(fabricated.study("price-of-armour", regret))
    point = next(point for point in points if point.line == "kl-ucb-wr:budget=100")
    assert point.low < 128 < (point.high or 0)
    assert sqrt(108 * 128) < (point.broken or 0) < 152
