"""The report of finished experiments: one HTML page, and its figures as SVG, PNG and PDF.

Figures have bands and, where there is a bound, the theory. With the suites come the paper's tables and figures, and a
verdict on each of its claims.
"""

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from vambrace import theory
from vambrace.files import whole_file
from vambrace.lab.claims import CLAIMS, RESULTS, Claim, Verdict, exponents
from vambrace.lab.spec import Experiment, Panel
from vambrace.lab.study import Play, Study, attack_of, load_all, promise, several, share_of_best, worst
from vambrace.progress import ProgressBar
from vambrace.report import page
from vambrace.report.bands import bootstrap
from vambrace.report.figures import for_file, lines_figure, save
from vambrace.specs import spec_of
from vambrace.version import __version__

FORMATS = (".svg", ".png", ".pdf")
MANY = 5  # budgets: from so many on a figure is drawn against them
WORST = "the worst of all arms and attacks"
LONG = 12  # rows: a longer table has to be opened


class Drawn(NamedTuple):
    """A figure with what stands below it."""

    name: str  # of its files
    chart: Any
    facets: int
    caption: str


def write(folder: Path, *, progress: bool | None = None) -> Path:
    """Write report.html and figures/ into the folder of one experiment, or of several; returns where the page is."""
    studies = {study.name: study for study in load_all(folder)}
    drawn = {study.name: dict(_figures(study)) for study in studies.values()}
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


# --------------------------------------------------------------------------------------------------------- the page


def _page(studies: dict[str, Study], drawn: dict[str, dict[str, Drawn]]) -> str:
    claims = [claim for claim in CLAIMS if len(studies) > 1 or claim.suite in studies]
    verdicts = {claim.id: claim.verdict(studies) for claim in claims}
    whole = len(studies) > 1
    first = next(iter(studies.values()))
    title = "Stochastic bandits robust to attacks: the claims, measured" if whole else first.experiment.title or first.name
    parts = [page.tag("h1", title), _summary(studies, verdicts), _contents(studies, bool(claims), whole)]
    if claims:
        parts += ['<h2 id="claims">The claims</h2>', _claims(claims, verdicts)]
    if whole:
        parts += _paper(studies, verdicts, drawn)
    for study in studies.values():
        parts += _section(study, drawn[study.name])
    return page.document(title, parts, footer=f"Made by vambrace {__version__}. This page loads nothing from elsewhere.")


def _summary(studies: dict[str, Study], verdicts: dict[str, Verdict]) -> str:
    done = sum(len(study.status.done) for study in studies.values())
    total = sum(study.status.total for study in studies.values())
    seconds = sum(sum(study.head["seconds"].values()) for study in studies.values())
    games = sum(play.result.replications for study in studies.values() for play in study.plays)
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
        None: ("not decided by games", "soft"),
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
        page.markup_table("The results, as printed, with verdicts", ("regret", "C known", "C unknown"), rows, words=True),
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
        if what == "left out":
            parts.append(page.tag("p", f"What needs the file {name} is left out: none was given."))
    for panel in _panels(experiment):
        plays = study.panel(panel.name)
        if panel.title and panel.title != experiment.title:
            parts.append(page.tag("h3", panel.title))
        if panel.name in drawn:
            parts.append(_shown(drawn[panel.name]))
        if plays:
            parts.append(_finals(panel, plays))
    return [*parts, _about(study)]


def _shown(figure: Drawn) -> str:
    return page.figure(figure.chart, figure.caption, figure.facets)


def _panels(experiment: Experiment) -> Sequence[Panel]:
    return experiment.panels or [Panel(name=experiment.name)]


def _about(study: Study) -> str:
    seeds = sorted({(play.game.place, play.game.horizon, play.result.seed) for play in study.plays})
    known = study.head["versions"] | {"vambrace": study.head["vambrace"]}
    return page.details(
        "The experiment: file, versions, seeds",
        page.table("Versions", ("", ""), known.items(), words=True),
        page.table("Seeds", ("environment", "T", "seed"), ((place, f"{t:,}", str(seed)) for place, t, seed in seeds)),
        page.tag("pre", json.dumps(study.head["experiment"], indent=2, ensure_ascii=False)),
    )


# -------------------------------------------------------------------------------------------------- tables and figures


def _kept(panel: Panel, plays: Sequence[Play]) -> list[Play]:
    """What a panel shows: all its games, or of those that differ only in arms and attack the worst."""
    if not panel.worst:
        return list(plays)
    return list(worst(plays, lambda play: (play.game.line, _budget(play), play.game.horizon)).values())


def _budget(play: Play) -> float:
    return play.game.budget if play.game.power is None else play.game.power


def _finals(panel: Panel, plays: Sequence[Play]) -> str:
    kept = _kept(panel, plays)
    places = several([play.game.place for play in kept])
    headings = ["policy", *(["arms"] if places else []), "attack", "C", "T", "regret", "95 %", "best arm", "spent", "bound"]
    rows = [_final(play, places) for play in kept]
    found = page.table(f"Finals of {panel.title or panel.name}", headings, rows)
    return found if len(rows) <= LONG else page.details(f"The {len(rows)} finals as a table", found)


def _final(play: Play, places: bool) -> list[str]:
    band, bound = bootstrap(play.result.pseudo_regret[:, -1:]), promise(play)
    return [
        spec_of(play.game.policy),
        *([play.game.place] if places else []),
        attack_of(play),
        f"{play.spendable:,.6g}",
        f"{play.game.horizon:,}",
        _number(play.regret),
        f"{_number(float(band.low[0]))} … {_number(float(band.high[0]))}",
        f"{share_of_best(play):.1%}",
        _number(float(play.result.cost[:, -1].mean())),
        _number(bound.value) if bound else "",
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if 10 <= abs(value) < 1e7 else f"{value:.3g}"


def _figures(study: Study) -> Iterator[tuple[str, Drawn]]:
    for panel in _panels(study.experiment):
        plays = study.panel(panel.name)
        if plays:
            yield panel.name, _of_panel(study, panel, plays)
    if study.name == "exponents" and len({play.game.horizon for play in study.panel("pe-wr")}) > 2:
        yield "exponent", _exponent_figure(study)


def _of_panel(study: Study, panel: Panel, plays: Sequence[Play]) -> Drawn:
    axis = panel.axis or _axis(plays)
    kept = _kept(panel, plays)
    rows = [row for play in kept for row in _rows(axis, play, kept, panel.worst)]
    title = panel.title or study.experiment.title or study.name
    caption = f"Mean of {study.experiment.replications} replications and its 95 % band, by resampling them."
    if study.name == "lower-bound":
        rows += [row for play in kept if play.game.line == kept[0].game.line for row in _concealment_bound(play)]
    caption += _fit_bounds(rows, axis)
    chart = lines_figure(rows, axis=axis, title=title, alt=_alt(title, axis, kept), logarithmic=axis != "round")
    return Drawn(f"{study.name}-{panel.name}", chart, len({row["facet"] for row in rows}), caption)


def _fit_bounds(rows: Sequence[dict[str, Any]], axis: str) -> str:
    """Leave out bounds that a figure on a plain scale has no room for; says what is dotted, and what is not drawn."""
    bounds = [row["bound"] for row in rows if row["bound"] is not None]
    if not bounds:
        return ""
    room = 1.5 * max(row["high"] for row in rows) if axis == "round" else float("inf")
    for row in rows:
        if row["bound"] is not None and row["bound"] > room:
            row["bound"] = None
    if min(bounds) > room:
        return " What the theory promises lies above the figure; the table has it."
    return " Dotted, in the colour of its policy: what the theory promises" + (
        ", where the figure has room; the table has the rest." if max(bounds) > room else "."
    )


def _concealment_bound(play: Play) -> Iterator[dict[str, Any]]:
    """A line for Theorem 1, at one of the games."""
    game = play.game
    if game.budget > 0:
        bound = theory.concealment(game.environment.n_arms, horizon=game.horizon, budget=game.budget).value
        yield {"facet": WORST, "line": "no policy is below (Theorem 1)", "x": game.budget, "bound": None} | {
            key: bound for key in ("mean", "low", "high")
        }


def _axis(plays: Sequence[Play]) -> str:
    """What a panel has most of: horizons, budgets, or else rounds."""
    if several([play.game.horizon for play in plays]):
        return "horizon"
    return "budget" if len({play.game.budget for play in plays}) >= MANY else "round"


def _rows(axis: str, play: Play, plays: Sequence[Play], worst_only: bool) -> Iterator[dict[str, Any]]:
    """The points of a game, in every facet that it belongs to."""
    band, bound, game = bootstrap(play.result.pseudo_regret), promise(play), play.game
    value = bound.value if bound is not None and bound.value < play.most else None
    points = range(len(play.result.checkpoints)) if axis == "round" else [-1]
    line = game.line if game.power is None else f"{game.line}, C = T^{game.power:g}"
    for facet in _facets(axis, play, plays, worst_only):
        for i in points:
            x = {"round": int(play.result.checkpoints[i]), "budget": game.budget, "horizon": game.horizon}[axis]
            heights = {"mean": band.mean[i], "low": band.low[i], "high": band.high[i]}
            yield {"facet": facet, "line": line, "x": x, "bound": value, "marked": axis != "round"} | {
                key: float(f"{height:.5g}") for key, height in heights.items()
            }


def _facets(axis: str, play: Play, plays: Sequence[Play], worst_only: bool) -> list[str]:
    """Where a game is shown: its arms, its attack and its budget, as far as they differ and are not drawn otherwise."""
    if worst_only:
        return [WORST]
    arms = [play.game.place] if several([each.game.place for each in plays]) else []
    attacks = list(dict.fromkeys(attack_of(each) for each in plays if each.game.adversary is not None))
    budget = [] if axis == "budget" or play.game.power is not None else [f"C = {play.game.budget:,.6g}"]
    if play.game.adversary is not None:
        return [", ".join([*arms, attack_of(play), *budget])]
    if axis == "budget" and attacks:  # no attack is where every attack begins
        return [", ".join([*arms, attack]) for attack in attacks]
    return [", ".join([*arms, "no attack"])]


def _alt(title: str, axis: str, plays: Sequence[Play]) -> str:
    """The figure in words: what is drawn, and how each line ends."""
    ends = {play.game.line: play for play in plays}
    shown = "; ".join(
        f"{line} {_number(play.regret)} ({attack_of(play)}, C = {play.game.budget:,.4g}, T = {play.game.horizon:,})"
        for line, play in ends.items()
    )
    return f"{title}. Regret against the {axis}. The last point of each line: {shown}."


def _exponent_figure(study: Study) -> Drawn:
    """The paper's Figure 2, with what was measured."""
    curves = {"additive": "PE-WR, the bound", "corral": "MS-SE-WR with CORRAL, the bound", "exp3p": "with EXP3.P, the bound"}
    rows: list[dict[str, Any]] = []
    for kind, line in curves.items():
        for step in range(0, 101):
            height = theory.exponent(kind, step / 100)
            rows.append({"line": line, "x": step / 100, "mean": height, "low": height, "high": height})
    measured = exponents(study)
    for power, fitted in measured.items():
        rows.append(
            {"line": "PE-WR, measured", "x": power, "marked": True}
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
        "The paper's Figure 2, and the slope of PE-WR's worst regret from 10^9 to 10^15 rounds with its 95 % interval. Up "
        "to β = 1/3 no burst can drop the best arm; beyond it the constants have to be outgrown first."
    )
    return Drawn("exponents-exponent", chart, 1, caption)
