"""The report of finished experiments: one HTML page, and its figures as SVG, PNG and PDF.

Figures have bands and, where there is a bound, the theory. What is said of a paper's claims comes from the caller.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from vambrace.files import whole_file
from vambrace.lab.experiment import LEFT_OUT
from vambrace.lab.study import Study
from vambrace.progress import ProgressBar
from vambrace.report import page
from vambrace.report.figures import for_file, save
from vambrace.report.panels import Drawn, Rows, figures_of, finals, panels
from vambrace.version import __version__

FORMATS = (".svg", ".png", ".pdf")


class Claim(NamedTuple):
    """A claim with the verdict on it."""

    id: str
    source: str
    statement: str
    errata: str  # what had to be corrected before it could be judged
    holds: bool | None  # None: these experiments do not decide it
    evidence: str


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
    text = _page(studies, drawn, paper)
    every = [figure for figures in drawn.values() for figure in figures.values()] + [*paper.figures]
    with ProgressBar("figures", len(every) * len(FORMATS), show=progress, unit="files") as bar:
        for done, figure in enumerate(every):
            for ending in FORMATS:
                save(for_file(figure.chart), folder / "figures" / f"{figure.name}{ending}")
            bar.update((done + 1) * len(FORMATS))
    target = folder / "report.html"
    with whole_file(target) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


# --------------------------------------------------------------------------------------------------------- the page


def _page(studies: Sequence[Study], drawn: dict[str, dict[str, Drawn]], paper: Paper) -> str:
    title = paper.title or studies[0].experiment.title or studies[0].name
    parts = [page.tag("h1", title), _summary(studies, paper.claims), _contents(studies, paper)]
    if paper.claims:
        parts += ['<h2 id="claims">The claims</h2>', _claims(paper.claims)]
    if paper.title:
        parts += _paper(paper)
    for study in studies:
        parts += _section(study, drawn[study.name])
    return page.document(
        title, parts, footer=f"Made by vambrace {__version__}. This page loads nothing from elsewhere."
    )


def _summary(studies: Sequence[Study], claims: Sequence[Claim]) -> str:
    done = sum(len(study.status.done) for study in studies)
    total = sum(study.status.total for study in studies)
    seconds = sum(sum(study.head["seconds"].values()) for study in studies)
    games = sum(len(study.status.done) * study.experiment.replications for study in studies)
    said = [f"{games:,} games in {done:,} cells, {seconds:,.0f} seconds of computing."]
    if done < total:
        said.append(f"{total - done:,} of {total:,} cells are missing: run again to fill the gaps.")
    if claims:
        counts = [sum(each.holds is state for each in claims) for state in (True, False, None)]
        said.append(
            f"Of {len(claims)} claims {counts[0]} hold, some after a correction, {counts[1]} do not, and {counts[2]} "
            "are not decided by these games."
        )
    said.append("A budget of C is, at worst, C fake events.")
    return page.tag("p", " ".join(said))


def _contents(studies: Sequence[Study], paper: Paper) -> str:
    entries = [("claims", "The claims")] if paper.claims else []
    entries += [("paper", "The paper's tables and figures")] if paper.title else []
    entries += [(study.name, study.experiment.title or study.name) for study in studies]
    items = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in entries)
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>'


def _claims(claims: Sequence[Claim]) -> str:
    rows = [
        (
            f'<span id="claim-{claim.id}">{escape(claim.source)}</span>',
            escape(claim.statement),
            _judged(claim),
            escape(claim.evidence) + (f' <span class="soft">{escape(claim.errata)}.</span>' if claim.errata else ""),
        )
        for claim in claims
    ]
    return page.markup_table(
        "What the paper claims, and what was found", ("where", "claim", "verdict", "evidence"), rows, words=True
    )


def _judged(claim: Claim) -> str:
    """A verdict in words, with a colour that says the same."""
    word, kind = {
        True: ("holds", "good"),
        False: ("does not hold", "bad"),
        None: ("not decided", "soft"),
    }[claim.holds]
    corrected = ", ".join(re.findall(r"\bE\d+(?=:)", claim.errata))
    return f'<span class="{kind}">{word}</span>' + (f", corrected by {corrected}" if corrected else "")


def _paper(paper: Paper) -> list[str]:
    by_id = {claim.id: claim for claim in paper.claims}

    def cell(entries: Formulas) -> str:
        return "<br>".join(
            f'{escape(formula)} <a href="#claim-{name}">{escape(by_id[name].source)}</a>: {_judged(by_id[name])}'
            for formula, name in entries
        )

    rows = [(row, cell(known), cell(unknown)) for row, known, unknown in paper.results]
    overview = (files("vambrace.report") / "overview.svg").read_text(encoding="utf-8")
    return [
        '<h2 id="paper">The paper\'s tables and figures</h2>',
        page.markup_table(
            "The results, as printed, with verdicts", ("regret", "C known", "C unknown"), rows, words=True
        ),
        f"<figure>{overview}<figcaption>The design, with the bounds as corrected.</figcaption></figure>",
        *map(_shown, paper.figures),
    ]


def _section(study: Study, drawn: dict[str, Drawn]) -> list[str]:
    experiment = study.experiment
    parts = [f'<h2 id="{study.name}">{escape(experiment.title or study.name)}</h2>']
    missing = study.status.total - len(study.status.done)
    if missing:
        parts.append(f'<p class="bad">{missing:,} of {study.status.total:,} cells are missing.</p>')
    for name, what in experiment.data.items():
        if what == LEFT_OUT:
            parts.append(page.tag("p", f"What needs the file {name} is left out: give it with --data {name}=FILE."))
    for panel in panels(experiment):
        plays = study.panel(panel.name)
        if panel.title and panel.title != experiment.title:
            parts.append(page.tag("h3", panel.title))
        if panel.name in drawn:
            parts.append(_shown(drawn[panel.name]))
        if plays:
            parts.append(finals(panel, plays))
    return [*parts, _about(study)]


def _shown(figure: Drawn) -> str:
    return page.figure(figure.chart, figure.caption, figure.facets)


def _about(study: Study) -> str:
    seeds = sorted({(play.game.place, play.game.horizon, play.result.seed) for play in study.plays})
    known = study.head["versions"] | {"vambrace": study.head["vambrace"]}
    return page.details(
        "The experiment: file, versions, seeds",
        page.table("Versions", (), known.items()),
        page.table(
            "Seeds", ("environment", "T", "seed"), ((place, f"{t:,}", str(seed)) for place, t, seed in seeds), (1, 2)
        ),
        page.tag("pre", json.dumps(study.head["experiment"], indent=2, ensure_ascii=False)),
    )
