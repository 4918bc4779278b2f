"""The figure of a panel: lines with bands and bounds, and where each point comes from."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any, NamedTuple

import polars as pl

from vambrace.lab.experiment import Panel
from vambrace.lab.panels import axis_of, panels, spots
from vambrace.lab.study import Play, Study
from vambrace.parameters import spec_of
from vambrace.report.bands import Band, bootstrap, promise
from vambrace.report.figures import Entry, Rows, is_logarithmic, lines_figure, number
from vambrace.report.legend import for_file, for_page
from vambrace.report.style import SCREEN, Style

MOST_FACETS = 24  # of a figure that can be read


class Drawn(NamedTuple):
    """A figure with what stands below it."""

    name: str  # of its files
    chart: Any  # for a page, which has the title and the legend
    file: Callable[[], Any]  # for a file
    facets: int
    caption: str
    data: pl.DataFrame
    entries: Sequence[Entry] = ()  # of the legend


def draw(name: str, rows: Rows, data: pl.DataFrame, *, subtitle: Sequence[str], style: Style, **options: Any) -> Drawn:
    """A figure of lines, for a page and for a file of this style; the options are those of `lines_figure`."""
    lines = lines_figure(rows, subtitle=subtitle, **options)

    def file() -> Any:
        return for_file(lines if style is SCREEN else lines_figure(rows, subtitle=subtitle, style=style, **options))

    return Drawn(name, for_page(lines), file, lines.facets, " ".join(subtitle), data, lines.entries)


class Point(NamedTuple):
    """A point of a figure: where it is drawn, and the game that it comes from."""

    facet: str
    line: str
    x: float
    play: Play
    at: int  # the checkpoint


def points(panel: Panel, plays: Sequence[Play], environments: Mapping[str, str]) -> list[Point]:
    """What a panel draws: no two points of a line have the same x, and only the axis differs along a line.

    If the panel shows the worst only, each point is of the game with the largest mean regret there.
    """
    games = [play.game for play in plays]
    axis, found = axis_of(panel, games), dict[tuple[str, str, float], Point]()
    means = [play.result.pseudo_regret.mean(axis=0) for play in plays]
    chosen = dict[tuple[str, str, float], float]()
    for play, mean, places in zip(plays, means, spots(panel, games, environments, number), strict=True):
        rounds = play.result.checkpoints
        for place, at in product(places, range(len(rounds)) if axis == "round" else [len(rounds) - 1]):
            x = {"round": int(rounds[at]), "budget": play.game.budget, "horizon": play.game.horizon}[axis]
            if mean[at] > chosen.get((*place, x), -inf):
                chosen[*place, x], found[*place, x] = mean[at], Point(*place, x, play, at)
    return [*found.values()]


def figures_of(
    study: Study, more: Mapping[str, Rows] | None = None, *, style: Style = SCREEN
) -> Iterator[tuple[str, Drawn]]:
    """The figures of an experiment by the names of their panels, with `more` lines by the names of their figures.

    A figure with more than MOST_FACETS facets is left out.
    """
    for panel in panels(study.experiment):
        plays = study.panel(panel.name)
        if plays and count_facets(study, panel) <= MOST_FACETS:
            extra = (more or {}).get(f"{study.name}-{panel.name}", ())
            yield panel.name, _of_panel(study, panel, plays, extra, style)


def count_facets(study: Study, panel: Panel) -> int:
    """How many small figures a panel needs."""
    games = [play.game for play in study.panel(panel.name)]
    return len({spot.facet for each in spots(panel, games, study.experiment.environments, number) for spot in each})


def _of_panel(study: Study, panel: Panel, plays: Sequence[Play], more: Rows, style: Style) -> Drawn:
    axis = axis_of(panel, [play.game for play in plays])
    drawn = points(panel, plays, study.experiment.environments)
    rows = _rows(drawn, named=panel.worst)
    room = 1.5 * max(row["high"] for row in rows) if axis == "round" and not is_logarithmic(rows, axis) else inf
    games = study.experiment.replications
    caption = [f"Mean of {games:,} games; band: the 95 % interval of that mean." if games > 1 else "One game, no band."]
    caption += _fit_bounds(rows, room)
    title = panel.title or study.experiment.title or study.name
    every = [*rows, *({"facet": rows[0]["facet"]} | dict(row) for row in more)]
    words = {"axis": axis, "title": title, "alt": _alt(title, axis, drawn), "subtitle": caption}
    return draw(f"{study.name}-{panel.name}", every, _data(axis, drawn, every), style=style, **words)


def _fit_bounds(rows: Sequence[dict[str, Any]], room: float) -> list[str]:
    """Leave out bounds that cannot be drawn; the sentences that say what is dotted, and what is not drawn.

    A figure has no room for some, and one point alone is no line.
    """
    bounds = [row for row in rows if row["bound"] is not None]
    if not bounds:
        return []
    fitting = Counter((row["facet"], row["line"]) for row in bounds if row["bound"] <= room)
    for row in bounds:
        if row["bound"] > room or fitting[row["facet"], row["line"]] == 1:
            row["bound"] = None
    left = [row for row in bounds if row["bound"] is not None]
    if not left:
        return ["What the theory promises does not fit into the figure; the table has it."]
    rest = ", where the figure has room; the table has the rest" if len(left) < len(bounds) else ""
    return [f"Dotted, in the colour of its policy: what the theory promises{rest}."]


def _rows(drawn: Sequence[Point], *, named: bool) -> list[dict[str, Any]]:
    """The points as rows of a figure; `named`: each says its game."""
    plays = {id(point.play): point.play for point in drawn}
    bands = {key: bootstrap(play.result.pseudo_regret) for key, play in plays.items()}
    bounds = {key: promise(play) for key, play in plays.items()}
    rows = []
    for facet, line, x, play, at in drawn:
        band, bound = bands[id(play)], bounds[id(play)]
        heights = {key: float(f"{getattr(band, key)[at]:.5g}") for key in Band._fields}
        value = bound.value if bound is not None and bound.value < play.most else None
        row: dict[str, Any] = {"facet": facet, "line": line, "x": x, "bound": value, **heights}
        rows.append(row | ({"game": f"{play.game.place}, {play.game.attack}"} if named else {}))
    return rows


def _data(axis: str, drawn: Sequence[Point], rows: Rows) -> pl.DataFrame:
    """The data of a figure: for each point where it is drawn, its numbers, and the game that it comes from."""
    found = []
    for k, row in enumerate(rows):
        keys = {"facet": row["facet"], "line": row["line"], "axis": axis, "x": float(row["x"])}
        numbers = {key: row.get(key) for key in ("mean", "low", "high", "bound")}
        found.append(keys | numbers | (_names(drawn[k].play) if k < len(drawn) else {}))
    return pl.DataFrame(found, infer_schema_length=None)


def _names(play: Play) -> dict[str, Any]:
    """A game in full."""
    game, result = play.game, play.result
    attack = spec_of(game.adversary) if game.adversary is not None else None
    names = {"environment": game.place, "policy": spec_of(game.policy), "attack": attack}
    return names | {
        "budget": play.spendable,
        "horizon": game.horizon,
        "games": result.replications,
        "seed": result.seed,
    }


def _alt(title: str, axis: str, drawn: Iterable[Point]) -> str:
    """The figure in words: what is drawn, and how each line ends."""
    last = {point.line: point for point in drawn}
    ends = [
        f"{line} {number(float(point.play.result.pseudo_regret[:, point.at].mean()))} "
        f"({point.play.game.attack}, C = {number(point.play.game.budget, 6)}, T = {number(point.play.game.horizon, 6)})"
        for line, point in last.items()
    ]
    return f"{title}. Regret against the {axis}. The last point of each line: {'; '.join(ends)}."
