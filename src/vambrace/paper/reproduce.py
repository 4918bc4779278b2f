"""Everything that the paper claims, again: the suites, their verdicts, and the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from vambrace import theory
from vambrace.errors import UnknownName
from vambrace.lab import experiment as spec
from vambrace.lab.panels import WORST
from vambrace.lab.runner import run
from vambrace.lab.store import Status
from vambrace.lab.study import Study, load_all
from vambrace.paper import price
from vambrace.paper.claims import CLAIMS, RESULTS, exponents, verdict
from vambrace.paper.suites import ORDER, find, is_suite
from vambrace.report import experiments as report
from vambrace.report.figures import Rows
from vambrace.report.panels import Drawn, draw
from vambrace.report.style import SCREEN, Style

TITLE = "Stochastic bandits robust to attacks: the claims, measured"


def reproduce(
    folder: Path, *, data: Mapping[str, Path] | None = None, workers: int | None = None, progress: bool | None = None
) -> tuple[list[Status], Path]:
    """Run what is missing of every suite, each in a folder of its own, and write the report; returns where it is.

    What needs a file that is named by a suite and not in `data` is left out. The other options are those of `lab.run`.
    """
    given, named = data or {}, {name: {*spec.data_names(find(name))} for name in ORDER}
    for name in given:
        if name not in (known := {each for names in named.values() for each in names}):
            raise UnknownName("file", name, known)
    found = []
    for suite, names in named.items():
        experiment = spec.read(find(suite), {name: path for name, path in given.items() if name in names})
        found.append(run(experiment, folder / suite, workers=workers, progress=progress))
    return found, write(folder, progress=progress)


def write(folder: Path, *, style: Style = SCREEN, progress: bool | None = None) -> Path:
    """Write the report of one experiment, or of a folder with several in it; returns where it is."""
    studies = load_all(folder)
    studies.sort(key=lambda study: (ORDER.index(study.name) if study.name in ORDER else len(ORDER), study.name))
    return report.write(studies, folder, paper=paper(studies, style), style=style, progress=progress)


def paper(studies: Sequence[Study], style: Style = SCREEN) -> report.Paper:
    """What the paper says of these experiments: all its claims of several suites, of one those that it decides."""
    named = {study.name: study for study in studies}
    several = len({*named} & {*ORDER}) > 1
    claims = [verdict(claim, named) for claim in CLAIMS if several or claim.suite in named]
    figures, lines = [], {}
    for study in filter(is_suite, studies):
        if study.name == "price-of-armour" and study.status.total == len(study.status.done):
            figures.append(price.figure(study, style))
        if study.name == "lower-bound":
            lines["lower-bound-worst-position"] = _concealment_line(study)
        if study.name == "exponents" and len({play.game.horizon for play in study.panel("pe-wr")}) > 2:
            figures.append(_exponent_figure(study, style))
    return report.Paper(title=TITLE if several else "", claims=claims, results=RESULTS, figures=figures, lines=lines)


def verdicts(folder: Path) -> list[dict[str, Any]]:
    """The claims that the experiments of a folder speak of, ready for JSON."""
    keys = ("source", "statement", "errata", "holds", "evidence")
    claims = paper(load_all(folder)).claims
    return [{"claim": claim.id} | {key: getattr(claim, key) for key in keys} for claim in claims]


def _concealment_line(study: Study) -> Rows:
    """A line for Theorem 1 in the figure of the suite `lower-bound`."""
    bounds = {
        play.game.budget: theory.concealment(8, horizon=play.game.horizon, budget=play.game.budget).value
        for play in study.plays
        if play.game.budget > 0
    }
    shared = {"facet": WORST, "line": "no policy is below (Theorem 1)"}
    return [shared | {"x": budget, "bound": bound} for budget, bound in bounds.items()]


def _exponent_figure(study: Study, style: Style) -> Drawn:
    """The paper's Figure 2, with what was measured."""
    curves = {"additive": "PE-WR", "corral": "MS-SE-WR, CORRAL", "exp3p": "MS-SE-WR, EXP3.P"}
    rows: list[dict[str, Any]] = [
        {"facet": "", "line": line, "x": step / 100, "bound": theory.exponent(kind, step / 100)}
        for kind, line in curves.items()
        for step in range(101)
    ]
    measured = exponents(study)
    for x, fitted in measured.items():
        point = {"mean": fitted.slope, "low": fitted.low, "high": fitted.high}
        rows.append({"facet": "", "line": "PE-WR", "x": x} | point)
    title = "The exponent of the regret when the attacker may spend T^β"
    alt = f"{title}. Bounds: PE-WR max(1/2, 2β), CORRAL 1/2 + β, EXP3.P 2/3 + β/2, at most 1. Measured for PE-WR: "
    alt += ", ".join(f"{fitted.slope:.2f} at {power:g}" for power, fitted in measured.items())
    caption = (
        "The paper's Figure 2. Dotted: the bounds.",
        "Points: the slope of PE-WR's worst regret from 10⁹ to 10¹⁵ rounds; band: its 95 % interval.",
        "Up to β = 1/3 no burst can drop the best arm; beyond it the constants have to be outgrown first.",
    )
    words = {"axis": "power", "title": title, "alt": alt, "height": "exponent of T"}
    data = pl.DataFrame(rows, infer_schema_length=None).drop("facet")
    return draw("exponents-exponent", rows, data, subtitle=caption, style=style, **words)
