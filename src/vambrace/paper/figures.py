"""What the paper adds to the figures of its suites: the lower bound of Theorem 1, and Figure 2."""

from typing import Any

from vambrace import theory
from vambrace.lab.study import Study
from vambrace.paper.claims import exponents
from vambrace.report.figures import lines_figure
from vambrace.report.panels import WORST, Drawn, Rows

HEIGHTS = ("mean", "low", "high")  # of a point and its band


def concealment_line(study: Study) -> Rows:
    """A line for Theorem 1 in the figure of the suite `lower-bound`."""
    bounds = {
        play.game.budget: theory.concealment(8, horizon=play.game.horizon, budget=play.game.budget).value
        for play in study.plays
        if play.game.budget > 0
    }
    shared = {"facet": WORST, "line": "no policy is below (Theorem 1)"}
    return [shared | {"x": budget, "bound": bound} for budget, bound in bounds.items()]


def exponent_figure(study: Study) -> Drawn:
    """The paper's Figure 2, with what was measured."""
    curves = {"additive": "PE-WR", "corral": "MS-SE-WR, CORRAL", "exp3p": "MS-SE-WR, EXP3.P"}
    rows: list[dict[str, Any]] = [
        {"line": line, "x": step / 100, "bound": theory.exponent(kind, step / 100)}
        for kind, line in curves.items()
        for step in range(101)
    ]
    measured = exponents(study)
    for x, fitted in measured.items():
        rows.append({"line": "PE-WR", "x": x} | dict(zip(HEIGHTS, fitted[:3], strict=True)))
    title = "The exponent of the regret when the attacker may spend T^β"
    alt = f"{title}. Bounds: PE-WR max(1/2, 2β), CORRAL 1/2 + β, EXP3.P 2/3 + β/2, at most 1. Measured for PE-WR: "
    alt += ", ".join(f"{fitted.slope:.2f} at {power:g}" for power, fitted in measured.items())
    rows = [{"facet": ""} | row for row in rows]
    caption = (
        "The paper's Figure 2. Dotted: the bounds.",
        "Points: the slope of PE-WR's worst regret from 10⁹ to 10¹⁵ rounds; band: its 95 % interval.",
        "Up to β = 1/3 no burst can drop the best arm; beyond it the constants have to be outgrown first.",
    )
    chart = lines_figure(rows, axis="power", title=title, subtitle=caption, alt=alt, height="exponent of T")
    return Drawn("exponents-exponent", chart, 1, " ".join(caption))
