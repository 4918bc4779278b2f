"""What the paper adds to the figures of its suites: the lower bound of Theorem 1, and Figure 2."""

from typing import Any

from vambrace import theory
from vambrace.lab.study import Study
from vambrace.paper.claims import exponents
from vambrace.report.figures import lines_figure
from vambrace.report.panels import WORST, Drawn, Rows


def concealment_line(study: Study) -> Rows:
    """A line for Theorem 1 in the figure of the suite `lower-bound`.

    Args:
        study: The suite.
    """
    games = {play.game.budget: play.game for play in study.plays if play.game.budget > 0}
    bounds = {
        budget: theory.concealment(game.environment.n_arms, horizon=game.horizon, budget=budget).value
        for budget, game in games.items()
    }
    shared = {"facet": WORST, "line": "no policy is below (Theorem 1)"}
    return [shared | {"x": budget} | dict.fromkeys(("mean", "low", "high"), bound) for budget, bound in bounds.items()]


def exponent_figure(study: Study) -> Drawn:
    """The paper's Figure 2, with what was measured.

    Args:
        study: The finished suite `exponents`.
    """
    curves = {"additive": "PE-WR", "corral": "MS-SE-WR, CORRAL", "exp3p": "MS-SE-WR, EXP3.P"}
    rows: list[dict[str, Any]] = []
    for kind, line in curves.items():
        for step in range(101):
            height = theory.exponent(kind, step / 100)
            rows.append({"line": f"{line}: bound", "x": step / 100, "mean": height, "low": height, "high": height})
    measured = exponents(study)
    for power, fitted in measured.items():
        rows.append(
            {"line": "PE-WR: measured", "x": power, "marked": True}
            | {"mean": fitted.slope, "low": fitted.low, "high": fitted.high}
        )
    title = "The exponent of the regret when the attacker may spend T^β"
    alt = f"{title}. Bounds: PE-WR max(1/2, 2β), CORRAL 1/2 + β, EXP3.P 2/3 + β/2, at most 1. Measured for PE-WR: "
    alt += ", ".join(f"{fitted.slope:.2f} at {power:g}" for power, fitted in measured.items())
    chart = lines_figure(
        [{"facet": "", "bound": None} | row for row in rows],
        axis="power",
        title=title,
        alt=alt,
        logarithmic=False,
        height="exponent of T",
    )
    caption = (
        "The paper's Figure 2, and the slope of PE-WR's worst regret from 10^9 to 10^15 rounds with its 95 % interval. "
        "Up to β = 1/3 no burst can drop the best arm; beyond it the constants have to be outgrown first."
    )
    return Drawn("exponents-exponent", chart, 1, caption)
