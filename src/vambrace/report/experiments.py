"""The report of finished experiments: one HTML page, and its figures as SVG, PNG and PDF.

Figures have bands and, where there is a bound, the theory. What is said of a paper's claims comes from the caller.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vambrace.lab.experiment import LEFT_OUT
from vambrace.lab.study import Study
from vambrace.progress import ProgressBar
from vambrace.report import page
from vambrace.report.figures import for_file, number, save
from vambrace.report.panels import Drawn, Rows, figures_of, finals, panels
from vambrace.version import __version__

FORMATS = (".svg", ".png", ".pdf")


class Claim(NamedTuple):
    """A claim with the verdict on it."""

    id: str
    source: str
    statement: str
    errata: str  # what had to be corrected before it could be judged: "E1: what; E2: what"
    holds: bool | None  # None: these experiments do not decide it
    evidence: str

    @property
    def corrections(self) -> list[tuple[str, str]]:
        """The errata that it needs, each with its number."""
        return re.findall(r"\b(E\d+): ([^;]+)", self.errata)


Formulas = tuple[tuple[str, str], ...]  # a formula, and the id of the claim that it belongs to


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What a paper adds to the report of its experiments.

    Attributes:
        title: Of a page that shows the paper's tables and figures; without one it shows the claims only.
        claims: What is claimed, and whether it holds.
        results: The paper's table of results: for each row its name, and its formulas for C known and unknown.
        figures: More figures, shown with the tables.
        lines: More lines for the figures of panels, by the name of the figure: EXPERIMENT-PANEL.
    """

    title: str = ""
    claims: Sequence[Claim] = ()
    results: Sequence[tuple[str, Formulas, Formulas]] = ()
    figures: Sequence[Drawn] = ()
    lines: Mapping[str, Rows] = field(default_factory=dict)


def write(studies: Sequence[Study], folder: Path, *, paper: Paper | None = None, progress: bool | None = None) -> Path:
    """Write report.html and figures/ into a folder; returns where the page is.

    Args:
        studies: The finished experiments, in the order of the page.
        folder: Where to write.
        paper: What is said of a paper's claims.
        progress: Whether to show a progress bar; None: on a terminal.
    """
    paper = paper or Paper()
    drawn = {study.name: dict(figures_of(study, paper.lines)) for study in studies}
    every = [figure for figures in drawn.values() for figure in figures.values()] + [*paper.figures]
    with ProgressBar("figures", len(every) * len(FORMATS), show=progress, unit="files") as bar:
        for done, figure in enumerate(every):
            for ending in FORMATS:
                save(for_file(figure.chart), folder / "figures" / f"{figure.name}{ending}")
            bar.update((done + 1) * len(FORMATS))
    write_page(folder / "report.html", studies, drawn, paper)
    return folder / "report.html"


def write_page(path: Path, studies: Sequence[Study], drawn: Mapping[str, Mapping[str, Drawn]], paper: Paper) -> None:
    """Write the page alone.

    Args:
        path: The file.
        studies: The finished experiments, in the order of the page.
        drawn: Their figures, by the names of experiment and panel.
        paper: What is said of a paper's claims.
    """
    page.write(
        path,
        "experiments.html",
        title=paper.title or studies[0].experiment.title or studies[0].name,
        summary=_summary(studies, paper.claims),
        paper=paper,
        claims={claim.id: claim for claim in paper.claims},
        errata=dict(erratum for claim in paper.claims for erratum in claim.corrections),
        sections=[_section(study, drawn[study.name]) for study in studies],
        footer=f"Made by vambrace {__version__}. This page loads nothing from elsewhere.",
    )


def _summary(studies: Sequence[Study], claims: Sequence[Claim]) -> str:
    done = sum(len(study.status.done) for study in studies)
    total = sum(study.status.total for study in studies)
    seconds = sum(sum(study.head["seconds"].values()) for study in studies)
    games = sum(len(study.status.done) * study.experiment.replications for study in studies)
    sentences = [f"{games:,} games in {done:,} cells, {seconds:,.0f} seconds of computing."]
    if done < total:
        sentences.append(f"{total - done:,} of {total:,} cells are missing: run again to fill the gaps.")
    if claims:
        counts = [sum(each.holds is state for each in claims) for state in (True, False, None)]
        sentences.append(
            f"Of {len(claims)} claims {counts[0]} hold, some after a correction, {counts[1]} do not, and {counts[2]} "
            "are not decided by these games."
        )
    sentences.append("A budget of C is, at worst, C fake events.")
    return " ".join(sentences)


def _section(study: Study, drawn: Mapping[str, Drawn]) -> dict[str, Any]:
    """What the page says of an experiment."""
    experiment = study.experiment
    seeds = sorted({(play.game.place, play.game.horizon, play.result.seed) for play in study.plays})
    versions = study.head["versions"] | {"vambrace": study.head["vambrace"]}
    return {
        "id": study.name,
        "title": experiment.title or study.name,
        "missing": study.status.total - len(study.status.done),
        "total": study.status.total,
        "left_out": [name for name, what in experiment.data.items() if what == LEFT_OUT],
        "panels": [
            {
                "title": panel.title if panel.title != experiment.title else "",
                "figure": drawn.get(panel.name),
                "finals": finals(panel, plays) if (plays := study.panel(panel.name)) else None,
            }
            for panel in panels(experiment)
        ],
        "versions": page.Table("Versions", (), [*versions.items()]),
        "seeds": page.Table(
            "Seeds",
            ("environment", "T", "seed"),
            [(place, number(t, 6), str(seed)) for place, t, seed in seeds],
            (1, 2),
        ),
        "file": json.dumps(study.head["experiment"], indent=2, ensure_ascii=False),
    }
