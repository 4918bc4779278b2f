"""The report of finished experiments: one HTML page, and for a paper figures, tables and a methods paragraph as files.

Figures have bands and, where there is a bound, the theory. What is said of a paper's claims comes from the caller.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vambrace.files import whole_file
from vambrace.lab.experiment import LEFT_OUT, Panel
from vambrace.lab.panels import panels
from vambrace.lab.study import Study
from vambrace.progress import ProgressBar
from vambrace.report import comparisons, page
from vambrace.report.figures import Rows, number, save, unchecked
from vambrace.report.finals import finals, page_table
from vambrace.report.methods import paragraph
from vambrace.report.panels import MOST_FACETS, Drawn, count_facets, figures_of
from vambrace.report.style import SCREEN, Style
from vambrace.report.texts import prose
from vambrace.version import __version__

FORMATS = (".svg", ".png", ".pdf")


class Claim(NamedTuple):
    """A claim of a paper; once it is judged, with the verdict on it."""

    id: str
    source: str
    statement: str
    evidence: str  # before it is judged, with names in braces for the numbers
    errata: str = ""  # what had to be corrected before it could be judged: "E1: what; E2: what"
    suite: str | None = None  # the experiment that judges it; None: no games do
    holds: bool | None = None  # None: these experiments do not decide it

    @property
    def corrections(self) -> list[tuple[str, str]]:
        """The errata that it needs, each with its number."""
        return re.findall(r"\b(E\d+): ([^;]+)", self.errata)


Formulas = Sequence[Sequence[str]]  # each a formula, and the id of the claim that it belongs to


class Paper(NamedTuple):
    """What a paper adds to the report of its experiments."""

    title: str = ""  # of a page that shows the paper's tables and figures; without one it shows the claims only
    claims: Sequence[Claim] = ()
    results: Sequence[tuple[str, Formulas, Formulas]] = ()  # rows of a table: a name, formulas for C known and unknown
    figures: Sequence[Drawn] = ()  # shown with the tables
    lines: Mapping[str, Rows] = {}  # more lines for the figures of panels, by the name of the figure: EXPERIMENT-PANEL


@unchecked()
def write(
    studies: Sequence[Study],
    folder: Path,
    *,
    paper: Paper | None = None,
    style: Style = SCREEN,
    progress: bool | None = None,
) -> Path:
    """Write report.html, with experiments in this order, figures/, tables/ and methods; returns where the page is."""
    paper = paper or Paper()
    drawn = {study.name: dict(figures_of(study, paper.lines, style=style)) for study in studies}
    every = [figure for figures in drawn.values() for figure in figures.values()] + [*paper.figures]
    sections = [_section(study, drawn[study.name]) for study in studies]
    with ProgressBar("figures", len(every) * len(FORMATS), show=progress, unit="files") as bar:
        for done, figure in enumerate(every):
            chart = figure.file() if FORMATS else None
            for ending in FORMATS:
                save(chart, folder / "figures" / f"{figure.name}{ending}")
            _write(folder / "figures" / f"{figure.name}.csv", figure.data.write_csv())
            bar.update((done + 1) * len(FORMATS))
    for table in (table for section in sections for table in section["tables"]):
        for ending, text in table.files.items():
            _write(folder / "tables" / f"{table.name}.{ending}", text)
    methods = "\n\n".join(section["methods"] for section in sections) + "\n"
    _write(folder / "methods.md", methods)
    _write(folder / "methods.tex", prose(methods))
    page.write(
        folder / "report.html",
        "experiments.html",
        title=paper.title or studies[0].experiment.title or studies[0].name,
        done=sum(len(study.status.done) for study in studies),
        total=sum(study.status.total for study in studies),
        seconds=sum(sum(study.head["seconds"].values()) for study in studies),
        games=sum(len(study.status.done) * study.experiment.replications for study in studies),
        paper=paper,
        claims={claim.id: claim for claim in paper.claims},
        verdicts=Counter(claim.holds for claim in paper.claims),
        errata=dict(erratum for claim in paper.claims for erratum in claim.corrections),
        sections=sections,
        footer=f"Made by vambrace {__version__}. This page loads nothing from elsewhere.",
    )
    return folder / "report.html"


def _write(path: Path, text: str) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _section(study: Study, drawn: Mapping[str, Drawn]) -> dict[str, Any]:
    """What the page says of an experiment."""
    experiment = study.experiment
    every = sorted({(play.game.place, play.game.horizon, play.result.seed) for play in study.plays})
    seeds = [(place, number(horizon, 6), str(seed)) for place, horizon, seed in every]
    versions = study.head["versions"] | {"vambrace": study.head["vambrace"]}
    parts = [_panel(study, panel, drawn.get(panel.name)) for panel in panels(experiment)]
    differences = comparisons.tables(study)
    return {
        "study": study,
        "left_out": [name for name, what in experiment.data.items() if what == LEFT_OUT],
        "panels": parts,
        "comparison": differences,
        "tables": [*(part["finals"] for part in parts if part["finals"]), *(differences.tables if differences else [])],
        "methods": paragraph(study),
        "versions": page.Table("Versions", (), [*versions.items()]),
        "seeds": page.Table("Seeds", ("environment", "T", "seed"), seeds, (1, 2)),
        "file": json.dumps(study.head["experiment"], indent=2, ensure_ascii=False),
    }


def _panel(study: Study, panel: Panel, figure: Drawn | None) -> dict[str, Any]:
    """What the page says of a panel."""
    plays, note = study.panel(panel.name), ""
    if plays and figure is None:
        note = (
            f"This figure would have {count_facets(study, panel):,} facets, and at most {MOST_FACETS} can be read. "
            'Give the panel axis = "budget", axis = "horizon" or worst = true, or make several panels of it.'
        )
    title = panel.title or study.experiment.title or panel.name
    found = finals(panel, plays, study.experiment.environments) if plays else []
    return {
        "title": panel.title if panel.title != study.experiment.title else "",
        "figure": figure,
        "note": note,
        "finals": page_table(title, found, f"{study.name}-{panel.name}") if found else None,
    }
