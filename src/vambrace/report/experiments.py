"""The report of finished experiments: one HTML page, and its figures as SVG, PNG and PDF.

Figures have bands and, where there is a bound, the theory. With the suites come the paper's tables and figures, and a
verdict on each of its claims.
"""

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from vambrace.files import whole_file
from vambrace.lab.experiment import LEFT_OUT
from vambrace.lab.study import Study, load_all
from vambrace.paper.claims import CLAIMS, RESULTS, Claim, Verdict
from vambrace.progress import ProgressBar
from vambrace.report import page
from vambrace.report.figures import for_file, save
from vambrace.report.panels import Drawn, figures_of, finals, panels
from vambrace.version import __version__

SUITES = ("poster", "cliff", "separation", "lower-bound", "exponents", "radii", "real")
TITLE = "Stochastic bandits robust to attacks: the claims, measured"
FORMATS = (".svg", ".png", ".pdf")


def write(folder: Path, *, progress: bool | None = None) -> Path:
    """Write report.html and figures/ into the folder of one experiment, or of several; returns where the page is."""
    studies = {study.name: study for study in sorted(load_all(folder), key=_place)}
    drawn = {study.name: dict(figures_of(study)) for study in studies.values()}
    text = _page(studies, drawn)
    every = [figure for figures in drawn.values() for figure in figures.values()]
    with ProgressBar("figures", len(every) * len(FORMATS), show=progress, unit="files") as bar:
        for done, figure in enumerate(every):
            for ending in FORMATS:
                save(for_file(figure.chart), folder / "figures" / f"{figure.name}{ending}")
            bar.update((done + 1) * len(FORMATS))
    target = folder / "report.html"
    with whole_file(target) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return target


def _place(study: Study) -> tuple[int, str]:
    """The suites as the paper would have them, then all others by name."""
    return (SUITES.index(study.name) if study.name in SUITES else len(SUITES)), study.name


def verdicts(folder: Path) -> list[dict[str, Any]]:
    """The claims that the experiments of a folder speak of, ready for JSON."""
    studies = {study.name: study for study in load_all(folder)}
    return [
        {"claim": claim.id, "source": claim.source, "statement": claim.statement, "errata": claim.errata}
        | claim.verdict(studies)._asdict()
        for claim in _claims_about(studies)
    ]


def _claims_about(studies: dict[str, Study]) -> list[Claim]:
    """All claims for several suites; for one, those that it decides."""
    return [claim for claim in CLAIMS if _are_suites(studies) or claim.suite in studies]


def _are_suites(studies: dict[str, Study]) -> bool:
    return len({*studies} & {*SUITES}) > 1


# --------------------------------------------------------------------------------------------------------- the page


def _page(studies: dict[str, Study], drawn: dict[str, dict[str, Drawn]]) -> str:
    claims, whole = _claims_about(studies), _are_suites(studies)
    verdicts = {claim.id: claim.verdict(studies) for claim in claims}
    first = next(iter(studies.values()))
    title = TITLE if whole else first.experiment.title or first.name
    parts = [page.tag("h1", title), _summary(studies, verdicts), _contents(studies, bool(claims), whole)]
    if claims:
        parts += ['<h2 id="claims">The claims</h2>', _claims(claims, verdicts)]
    if whole:
        parts += _paper(studies, verdicts, drawn)
    for study in studies.values():
        parts += _section(study, drawn[study.name])
    return page.document(
        title, parts, footer=f"Made by vambrace {__version__}. This page loads nothing from elsewhere."
    )


def _summary(studies: dict[str, Study], verdicts: dict[str, Verdict]) -> str:
    done = sum(len(study.status.done) for study in studies.values())
    total = sum(study.status.total for study in studies.values())
    seconds = sum(sum(study.head["seconds"].values()) for study in studies.values())
    games = sum(len(study.status.done) * study.experiment.replications for study in studies.values())
    said = [f"{games:,} games in {done:,} cells, {seconds:,.0f} seconds of computing."]
    if done < total:
        said.append(f"{total - done:,} of {total:,} cells are missing: run again to fill the gaps.")
    if verdicts:
        counts = [sum(each.holds is state for each in verdicts.values()) for state in (True, False, None)]
        said.append(
            f"Of {len(verdicts)} claims {counts[0]} hold, some after a correction, {counts[1]} do not, and {counts[2]} "
            "are not decided by these games."
        )
    said.append("A budget of C is, at worst, C fake events.")
    return page.tag("p", " ".join(said))


def _contents(studies: dict[str, Study], claims: bool, whole: bool) -> str:
    entries = [("claims", "The claims")] if claims else []
    entries += [("paper", "The paper's tables and figures")] if whole else []
    entries += [(study.name, study.experiment.title or study.name) for study in studies.values()]
    items = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in entries)
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>'


def _claims(claims: Sequence[Claim], verdicts: dict[str, Verdict]) -> str:
    rows = [
        (
            f'<span id="claim-{claim.id}">{escape(claim.source)}</span>',
            escape(claim.statement),
            _judged(claim, verdicts[claim.id]),
            escape(verdicts[claim.id].evidence)
            + (f' <span class="soft">{escape(claim.errata)}.</span>' if claim.errata else ""),
        )
        for claim in claims
    ]
    return page.markup_table(
        "What the paper claims, and what was found", ("where", "claim", "verdict", "evidence"), rows, words=True
    )


def _judged(claim: Claim, verdict: Verdict) -> str:
    """A verdict in words, with a colour that says the same."""
    word, kind = {
        True: ("holds", "good"),
        False: ("does not hold", "bad"),
        None: ("not decided", "soft"),
    }[verdict.holds]
    corrected = ", ".join(re.findall(r"\bE\d+(?=:)", claim.errata))
    return f'<span class="{kind}">{word}</span>' + (f", corrected by {corrected}" if corrected else "")


def _paper(studies: dict[str, Study], verdicts: dict[str, Verdict], drawn: dict[str, dict[str, Drawn]]) -> list[str]:
    by_id = {claim.id: claim for claim in CLAIMS}

    def cell(entries: Sequence[tuple[str, str]]) -> str:
        return "<br>".join(
            f'{escape(formula)} <a href="#claim-{name}">{escape(by_id[name].source)}</a>: '
            f"{_judged(by_id[name], verdicts[name])}"
            for formula, name in entries
        )

    rows = [(row, cell(known), cell(unknown)) for row, known, unknown in RESULTS]
    overview = (files("vambrace.report") / "overview.svg").read_text(encoding="utf-8")
    parts = [
        '<h2 id="paper">The paper\'s tables and figures</h2>',
        page.markup_table(
            "The results, as printed, with verdicts", ("regret", "C known", "C unknown"), rows, words=True
        ),
        f"<figure>{overview}<figcaption>The design, with the bounds as corrected.</figcaption></figure>",
    ]
    figure = drawn.get("exponents", {}).get("exponent")
    return [*parts, _shown(figure)] if figure else parts


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
