"""Figures: one definition of each gives SVG, PNG, PDF and a self-contained HTML page."""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import numpy as np

from vambrace.engine.result import Result
from vambrace.errors import InvalidParameter, MissingExtra
from vambrace.files import whole_file
from vambrace.registry import spec_of

# Eight colours that most eyes tell apart, with a contrast of at least three to one on white and on the black of our
# pages. No eight colours are safe for every eye, so points have a shape too; seven shapes make 56 different pairs.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8F4BE8", "#8C8C8C", "#BF0099", "#6B7A00"]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
THEORY = [2, 3]  # dots: only what was proved is drawn with them
FORMATS = (".svg", ".png", ".pdf", ".html", ".json")
AXES = {"budget": "budget C (fake events)", "horizon": "horizon T (rounds)", "power": "β, where C = T^β"}
Rows = Sequence[Mapping[str, Any]]  # points of lines: facet, line, x; mean, low, high, or a bound, or both
REGRET = "pseudo regret (expected reward lost)"
FLAT = 20  # a line that ends at 1/20 of the highest one lies on the x axis, unless the scale is logarithmic
WIDE = 50  # budgets that differ by this factor need a logarithmic scale
MARKS = 8  # points with a shape on a line of many points
LARGE = 1e6  # from here on numbers are powers of ten
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_POWER = "floor(log(datum.value) / LN10 + 1e-9)"
_FACTOR = f"format(datum.value / pow(10, {_POWER}), '.3~g')"
_RAISED = str([str(power).translate(RAISED) for power in range(25)])
LABEL = (  # the same as `number` makes, in the language of the axes
    f"datum.value < {LARGE:.0f} ? format(datum.value, ',.6~g') : "
    f"({_FACTOR} == '1' ? '10' : {_FACTOR} + '·10') + {_RAISED}[{_POWER}]"
)


def number(value: float, digits: int = 3) -> str:
    """A number for a reader: 1,234 and 0.125, but 3·10¹¹; one that is not whole has at least these digits.

    >>> [number(value) for value in (0, 0.12345, 12.34, 1234.5, 2e6, 1e11, 1e-9)]
    ['0', '0.123', '12.3', '1,234', '2·10⁶', '10¹¹', '10⁻⁹']
    """
    value = round(value) if abs(value) >= 10**digits else float(f"{value:.{digits}g}")
    size = abs(value)
    if 1e-4 <= size < LARGE or size == 0:
        return f"{value:,.0f}" if size >= 10**digits else f"{value:,.{digits}g}"
    factor, power = f"{value:.{digits - 1}e}".split("e")
    factor = f"{float(factor):g}"
    return f"{'' if factor == '1' else f'{factor}·'}10{str(int(power)).translate(RAISED)}"


def regret_figure(results: Sequence[Result], *, title: str = "Regret") -> Any:
    """Mean pseudo regret against rounds, one line for each policy, with the band from the 5 % to the 95 % quantile.

    Results against different attacks come side by side on one scale.
    """
    if not results:
        raise InvalidParameter("figure: expected at least one result, got none")
    rows = [row for result in results for row in _curve(result)]
    title = " – ".join(dict.fromkeys([title, *(r.environment.note for r in results if r.environment.note)]))  # noqa: RUF001
    facets, lines = (", ".join(dict.fromkeys(row[key] for row in rows)) for key in ("facet", "line"))
    games = " or ".join(f"{each:,}" for each in sorted({result.replications for result in results}))
    subtitle = "one game each, so no band" if games == "1" else f"mean of {games} games; band: 5 % to 95 % of the games"
    alt = f"{title}: regret against rounds for {lines} under {facets}"
    return for_file(lines_figure(rows, axis="round", title=title, subtitle=[subtitle], alt=alt))


def _curve(result: Result) -> list[dict[str, Any]]:
    low, high = np.quantile(result.pseudo_regret, [0.05, 0.95], axis=0)
    columns = {"x": result.checkpoints, "mean": result.pseudo_regret.mean(axis=0), "low": low, "high": high}
    attack = "no attack" if result.adversary is None else spec_of(result.adversary)
    labels = {"facet": attack, "line": spec_of(result.policy)}
    return [labels | {key: column[i].item() for key, column in columns.items()} for i in range(len(low))]


def lines_figure(
    rows: Rows, *, axis: str, title: str, alt: str, subtitle: Sequence[str] = (), height: str = REGRET
) -> Any:
    """Lines with bands, in facets on one scale; where there is a bound, dotted in the same colour.

    The axis is "round" or a key of AXES. `alt` is the figure in words, `subtitle` says what the bands are, and `height`
    what the heights are.
    """
    altair = load_altair()
    facets, lines = (list(dict.fromkeys(row[key] for row in rows)) for key in ("facet", "line"))
    logarithmic = is_logarithmic(rows, axis)
    rows = _marked([{"mean": None, "bound": None, **row} for row in rows], axis, logarithmic)
    for row in rows:
        if logarithmic and row["mean"] is not None:  # where there is no zero, a band ends in sight
            row["low"] = max(row["low"], row["mean"] / 100)
    legend = altair.Legend(orient="bottom", title=None, symbolOpacity=1, symbolSize=80, rowPadding=4)
    colours, shapes = (list(islice(cycle(signs), len(lines))) for signs in (COLOURS, SHAPES))
    colour = altair.Color("line:N", sort=lines, scale=altair.Scale(domain=lines, range=colours), legend=legend)
    shape = altair.Shape("line:N", sort=lines, scale=altair.Scale(domain=lines, range=shapes), legend=legend)
    picked = altair.selection_point(fields=["line"], bind="legend", name="picked")
    opacity = altair.condition(picked, altair.value(1.0), altair.value(0.12))
    tooltip = [
        altair.Tooltip("line:N", title="line"),
        *(altair.Tooltip(f"{key}:Q", title=axis if key == "x" else key, format=",.4~r") for key in ("x", "mean")),
    ]
    y = _y(altair, rows, height, logarithmic)
    base = altair.Chart().encode(x=_x(altair, axis, rows, logarithmic), color=colour)
    measured = base.transform_filter("isValid(datum.mean)")
    layers = []
    if any(row["mean"] is not None and row["low"] < row["high"] for row in rows):
        faint = altair.condition(picked, altair.value(0.2), altair.value(0.03))
        layers.append(measured.mark_area(clip=True).encode(y=altair.Y("low:Q"), y2="high:Q", opacity=faint))
        tooltip += [altair.Tooltip(f"{key}:Q", format=",.4~r") for key in ("low", "high")]
    if any(row["bound"] is not None for row in rows):
        bounds = base.transform_filter("isValid(datum.bound)").mark_line(strokeWidth=1.5, strokeDash=THEORY)
        layers.append(bounds.encode(y=altair.Y("bound:Q"), opacity=opacity))
    points = base.transform_filter("datum.marked").mark_point(filled=True, size=45)
    layers += [
        measured.mark_line(strokeWidth=2).encode(y=y, opacity=opacity, tooltip=tooltip),
        points.encode(y=y, shape=shape, opacity=opacity, tooltip=tooltip),
    ]
    layered = altair.layer(*layers, description=alt).add_params(picked).properties(width=320, height=240)
    facet = altair.Facet("facet:N", title=None, sort=facets)
    figure = layered.facet(facet=facet, columns=2, data=altair.Data(values=rows))
    heading = altair.TitleParams(title, subtitle=list(subtitle))
    return figure.resolve_axis(x="independent").properties(title=heading, description=alt)


def is_logarithmic(rows: Rows, axis: str) -> bool:
    """Whether heights need a logarithmic scale: on a plain one some of the lines would lie on the x axis.

    Along rounds only the ends of the lines count, and a bound does not: a figure can leave it out.
    """
    heights: dict[Any, float] = {}
    for row in rows:
        for key in ("mean",) if axis == "round" else ("mean", "bound"):
            if row.get(key) is not None and row[key] > 0:
                heights[row["facet"], row["line"], None if axis == "round" else row["x"], key] = row[key]
    return max(heights.values(), default=1) > FLAT * min(heights.values(), default=1)


def _marked(rows: list[dict[str, Any]], axis: str, logarithmic: bool) -> list[dict[str, Any]]:
    """The rows, with a mark where a point is drawn: everywhere, or along a curve of rounds now and then."""
    wanted = sorted({row["x"] for row in rows if row["mean"] is not None})
    if axis == "round" and len(wanted) > MARKS:
        steps = (np.geomspace if logarithmic else np.linspace)(wanted[0], wanted[-1], MARKS)
        wanted = [min(wanted, key=lambda x: abs(x - step)) for step in steps]
    return [{**row, "marked": row["mean"] is not None and row["x"] in wanted} for row in rows]


def _y(altair: Any, rows: Rows, title: str, logarithmic: bool) -> Any:
    """Heights from zero, or on a logarithmic scale that has room for zero where there is one."""
    if not logarithmic:
        return altair.Y("mean:Q", title=title, axis=altair.Axis(labelExpr=LABEL, tickCount=6))
    means = [row["mean"] for row in rows if row["mean"] is not None]
    positive = [height for row in rows for height in (row["mean"], row["bound"]) if height is not None and height > 0]
    low, high = 0.8 * min(positive), 1.25 * max(*positive, *(row["high"] for row in rows if row["mean"] is not None))
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    marks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    scale = altair.Scale(type="log", domain=[low, high], nice=False)
    if min(means) <= 0:
        scale, marks = altair.Scale(type="symlog", constant=low, domain=[0, high], nice=False), [0, *marks]
    return altair.Y("mean:Q", title=title, scale=scale, axis=altair.Axis(labelExpr=LABEL, values=marks))


def _x(altair: Any, axis: str, rows: Rows, logarithmic: bool) -> Any:
    """Horizons on a logarithmic scale, rounds where heights are; budgets on one that has room for zero."""
    places = sorted({row["x"] for row in rows})
    marks: dict[str, Any] = {"tickCount": 6}
    scale = altair.Scale()
    least = min((place for place in places if place > 0), default=1)
    if axis == "horizon":
        scale, marks = altair.Scale(type="log"), {"values": places}
    elif axis == "round" and logarithmic:
        scale = altair.Scale(type="log", domain=[least, places[-1]], nice=False)
        marks = {"values": [10**power for power in range(16) if least <= 10**power <= places[-1]]}
    elif axis == "budget" and places[-1] > WIDE * least:
        scale, marks = altair.Scale(type="symlog", constant=least), {"values": places}
    labels = altair.Axis(labelExpr=LABEL, labelOverlap=True, **marks)
    return altair.X("x:Q", title=AXES.get(axis, axis), scale=scale, axis=labels)


def for_file(figure: Any) -> Any:
    """A figure of lines as a picture of its own: a legend in two columns, names in full."""
    return figure.configure_legend(columns=2, labelLimit=320)


def save(figure: Any, path: Path) -> None:
    """Write a figure in the format that the name ends in."""
    if path.suffix not in FORMATS:
        raise InvalidParameter(f"figure: expected a name ending in {', '.join(FORMATS)}, got {path.name!r}")
    options: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"ppi": 144}}
    with whole_file(path) as unfinished:
        figure.save(unfinished, **options.get(path.suffix, {}))


def load_altair() -> Any:
    """The library that draws, once somebody wants a figure."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingExtra("figures: expected the extra vambrace[report] (altair, vl-convert), got none") from error
    return altair
