"""The price of armour, measured: what each policy of the suite costs without attack, and what it survives."""

from math import exp, log
from typing import NamedTuple

import polars as pl

from vambrace.lab.study import Play, Study, worst
from vambrace.report.bands import bootstrap
from vambrace.report.panels import Drawn
from vambrace.report.price_figure import Point, price_figure
from vambrace.report.style import Style

HALF = 0.5  # of what is lost when the best arm is given up for the second


class Line(NamedTuple):
    """The game of the suite: what the axes and lines of its picture need."""

    limit: float  # the regret from which on a policy counts as broken
    others: int  # K - 1
    slope: float  # what one game allows instead of y = x: the best mean over the second


def points(study: Study) -> tuple[list[Point], Line]:
    """Each policy of the suite that is not broken without attack, in the order of the file, and the game."""
    means = sorted(map(float, study.plays[0].game.environment.arm_means()), reverse=True)
    game = Line(HALF * (means[0] - means[1]) * study.plays[0].game.horizon, len(means) - 1, means[0] / means[1])
    found = []
    for line in dict.fromkeys(play.game.line for play in study.plays):
        plays = [play for play in study.plays if play.game.line == line]
        hardest = worst(plays, lambda play: play.game.budget)
        ladder = [hardest[budget] for budget in sorted(hardest)]
        if ladder[0].regret < game.limit:
            found.append(_point(line, ladder, game))
    return found, game


def _point(line: str, ladder: list[Play], game: Line) -> Point:
    """The budgets between which the policy breaks: estimated, surely not yet, and surely."""
    heights = [bootstrap(play.result.pseudo_regret[:, -1:]) for play in ladder]
    budgets = [play.game.budget for play in ladder]
    above = next((k for k, play in enumerate(ladder) if play.regret >= game.limit), None)
    low = next((k for k, band in enumerate(heights) if band.high[0] >= game.limit), len(ladder)) - 1
    high = next((budget for budget, band in zip(budgets, heights, strict=True) if band.low[0] >= game.limit), None)
    if above is None:
        between = None
    elif budgets[above - 1] == 0:
        between = budgets[above]
    else:  # a straight line between two points of the grid, on logarithmic scales
        (x0, y0), (x1, y1) = ((budgets[k], ladder[k].regret) for k in (above - 1, above))
        share = (log(game.limit) - log(y0)) / (log(y1) - log(y0))
        between = exp(log(x0) + share * (log(x1) - log(x0)))
    return Point(line, ladder[0].regret / game.others, between, budgets[low], high)


def figure(study: Study, style: Style) -> Drawn:
    """The picture: every policy as a point."""
    found, game = points(study)
    title = "The price of armour"
    caption = (
        "What a policy costs, and what breaks it.",
        f"{game.others + 1} arms, {study.plays[0].game.horizon:,} rounds.",
        "Line: y = x. Nobody is above it in every game.",
        f"Dotted: y = {game.slope:.4g} x, as this game allows.",
    )
    chart = price_figure(found, slope=game.slope, title=title, subtitle=caption)
    file = price_figure(found, slope=game.slope, title=title, subtitle=()) if style.direct else chart
    return Drawn("price-of-armour", chart, lambda: file, 1, " ".join(caption), pl.DataFrame(found, orient="row"))
