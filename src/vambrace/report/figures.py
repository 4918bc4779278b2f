"""Figures of lines: one definition of each gives SVG, PNG, PDF and a self-contained HTML page."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vambrace.errors import InvalidParameter, MissingExtra
from vambrace.files import whole_file
from vambrace.report import labels
from vambrace.report.style import SCREEN, Look, Style, looks

FORMATS = (".svg", ".png", ".pdf", ".html", ".json")
AXES = {"budget": "budget C (fake events)", "horizon": "horizon T (rounds)", "power": "β, where C = T^β"}
Rows = Sequence[Mapping[str, Any]]  # points of lines: facet, line, x; mean, low, high, or a bound, or both
REGRET = "pseudo regret (expected reward lost)"
FLAT = 20  # a line that ends at 1/20 of the highest one lies on the x axis, unless the scale is logarithmic
WIDE = 50  # budgets that differ by this factor need a logarithmic scale
APART = 6  # pixels between two labels of an axis
MARKS = 8  # points with a shape on a line of many points
LARGE = 1e6  # from here on numbers are powers of ten
BOUND = "bound (theory)"  # in the colour of its policy
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_POWER = "floor(log(datum.value) / LN10 + 1e-9)"
_FACTOR = f"format(datum.value / pow(10, {_POWER}), '.3~g')"
_RAISED = str([str(power).translate(RAISED) for power in range(25)])
LABEL = (  # the same as `number` makes, in the language of the axes
    f"datum.value < {LARGE:.0f} ? format(datum.value, ',.6~g') : "
    f"({_FACTOR} == '1' ? '10' : {_FACTOR} + '·10') + {_RAISED}[{_POWER}]"
)


class Entry(NamedTuple):
    """A line in the legend."""

    label: str
    look: Look  # without a shape if it is theory


class Lines(NamedTuple):
    """A figure of lines without its legend, and what the legend has to say."""

    chart: Any
    entries: list[Entry]
    title: str
    subtitle: Sequence[str]
    alt: str
    style: Style
    facets: int


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


def lines_figure(
    rows: Rows,
    *,
    axis: str,
    title: str,
    alt: str,
    subtitle: Sequence[str] = (),
    height: str = REGRET,
    style: Style = SCREEN,
) -> Lines:
    """Lines with bands, in facets on one scale; where there is a bound, in dots of the same colour.

    The axis is "round" or a key of AXES. `alt` is the figure in words, `subtitle` says what the bands are, and `height`
    what the heights are.
    """
    altair = load_altair()
    facets, lines = ([*dict.fromkeys(row[key] for row in rows)] for key in ("facet", "line"))
    logarithmic = is_logarithmic(rows, axis)
    rows = _marked([{"mean": None, "bound": None, **row} for row in rows], axis, logarithmic)
    for row in rows:
        if logarithmic and row["mean"] is not None:  # where there is no zero, a band ends in sight
            row["low"] = max(row["low"], row["mean"] / 100)
    drawn = [*zip(lines, looks(len(lines), style), strict=True)]
    heights, width = _heights(rows, logarithmic), style.width
    x, y = _x(altair, axis, rows, logarithmic), _y(altair, heights, height, style)
    layers = _layers(altair, rows, x, y, drawn, style, axis)
    if style.direct:
        names = labels.shortened(lines)
        width -= labels.AXIS + labels.room(names, style)
        layers += labels.label_layers(altair, x, drawn, width, style)
        rows += labels.label_rows(rows, names, lambda value: heights.pixel(value, style.height), style)
    layered = altair.layer(*layers, description=alt).properties(width=width, height=style.height)
    facet = altair.Facet("facet:N", title=None, sort=facets, header=altair.Header(labelLimit=style.width + 60))
    chart = layered.facet(facet=facet, columns=2, data=altair.Data(values=rows))
    chart = chart.resolve_axis(x="independent").properties(description=alt)
    measured = {row["line"] for row in rows if row["mean"] is not None}
    entries = [
        Entry(line, look if line in measured else look._replace(dash=style.dots, shape="")) for line, look in drawn
    ]
    if any(row["bound"] is not None and row["line"] in measured for row in rows):
        entries.append(Entry(BOUND, Look("currentColor", style.dots, "")))
    return Lines(chart, entries, title, subtitle, alt, style, len(facets))


def _layers(
    altair: Any, rows: Rows, x: Any, y: Any, lines: Sequence[tuple[str, Look]], style: Style, axis: str
) -> list[Any]:
    """Bands, bounds, lines and points, from back to front; `picked` names the line that is shown alone, if any."""
    names = [name for name, _ in lines]

    def scale(part: str) -> Any:
        return altair.Scale(domain=names, range=[getattr(look, part) for _, look in lines])

    colour = altair.Color("line:N", scale=scale("colour"), legend=None)
    dash = altair.StrokeDash("line:N", scale=scale("dash"), legend=None)
    shape = altair.Shape("line:N", scale=scale("shape"), legend=None)
    picked = "!picked || datum.line == picked"
    opacity = altair.condition(picked, altair.value(1.0), altair.value(0.12))
    tooltip = [
        altair.Tooltip("line:N", title="line"),
        *(altair.Tooltip(f"{key}:Q", title=axis if key == "x" else key, format=",.4~r") for key in ("x", "mean")),
    ]
    base = altair.Chart().encode(x=x, color=colour)
    measured = base.transform_filter("isValid(datum.mean)")
    layers = []
    if any(row["mean"] is not None and row["low"] < row["high"] for row in rows):
        faint = altair.condition(picked, altair.value(0.2), altair.value(0.03))
        layers.append(measured.mark_area(clip=True).encode(y=altair.Y("low:Q"), y2="high:Q", opacity=faint))
        tooltip += [altair.Tooltip(f"{key}:Q", format=",.4~r") for key in ("low", "high")]
    if any("game" in row for row in rows):
        tooltip.append(altair.Tooltip("game:N", title="game"))
    if any(row["bound"] is not None for row in rows):
        dots = {"strokeWidth": style.stroke, "strokeDash": style.dots, "strokeCap": "round"}
        bounds = base.transform_filter("isValid(datum.bound)").mark_line(**dots)
        layers.append(bounds.encode(y=altair.Y("bound:Q"), opacity=opacity))
    points = base.transform_filter("datum.marked").mark_point(filled=True, size=style.point)
    return [
        *layers,
        measured.mark_line(strokeWidth=style.stroke).encode(y=y, strokeDash=dash, opacity=opacity, tooltip=tooltip),
        points.encode(y=y, shape=shape, opacity=opacity, tooltip=tooltip),
    ]


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
    """The rows, with a mark where a point is drawn: everywhere, or on a curve of rounds now and then and at its end."""
    every = sorted({row["x"] for row in rows if row["mean"] is not None})
    wanted = {*every}
    if axis == "round" and len(every) > MARKS:
        steps = (np.geomspace if logarithmic else np.linspace)(every[0], every[-1], MARKS)
        wanted = {min(every, key=lambda x: abs(x - step)) for step in steps}
    ends = {(row["facet"], row["line"], row["x"]) for row in rows if row["mean"] is not None}
    ends = {*{(facet, line): (facet, line, x) for facet, line, x in sorted(ends)}.values()}
    return [
        row
        | {"marked": row["mean"] is not None and (row["x"] in wanted or (row["facet"], row["line"], row["x"]) in ends)}
        for row in rows
    ]


class Heights(NamedTuple):
    """The scale of heights: from zero, logarithmic, or logarithmic with room for zero."""

    kind: str  # linear, log or symlog
    low: float  # the least height that is not zero
    high: float

    def pixel(self, value: float, height: int) -> float:
        """Where a height is drawn, from the top of a drawing."""
        if self.kind == "linear":
            share = value / self.high
        elif self.kind == "log":
            share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        else:
            share = log10(1 + value / self.low) / log10(1 + self.high / self.low)
        return height * (1 - min(share, 1.0))


def _heights(rows: Rows, logarithmic: bool) -> Heights:
    means = [row["mean"] for row in rows if row["mean"] is not None]
    positive = [height for row in rows for height in (row["mean"], row["bound"]) if height is not None and height > 0]
    most = max([*positive, *(row["high"] for row in rows if row["mean"] is not None)], default=1.0) or 1.0
    if not logarithmic:
        return Heights("linear", 0.0, 1.03 * most)
    return Heights("symlog" if min(means, default=1) <= 0 else "log", 0.8 * min(positive), 1.25 * most)


def _y(altair: Any, heights: Heights, title: str, style: Style) -> Any:
    kind, low, high = heights
    if kind == "linear":
        scale = {"scale": altair.Scale(domain=[0, high], nice=False)} if style.direct else {}
        return altair.Y("mean:Q", title=title, axis=altair.Axis(labelExpr=LABEL, tickCount=6), **scale)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    marks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    scale = altair.Scale(type="log", domain=[low, high], nice=False)
    if kind == "symlog":
        scale, marks = altair.Scale(type="symlog", constant=low, domain=[0, high], nice=False), [0, *marks]
    return altair.Y("mean:Q", title=title, scale=scale, axis=altair.Axis(labelExpr=LABEL, values=marks))


def _x(altair: Any, axis: str, rows: Rows, logarithmic: bool) -> Any:
    """Horizons on a logarithmic scale, rounds where heights are; budgets on one that has room for zero."""
    places = sorted({row["x"] for row in rows})
    marks: dict[str, Any] = {"tickCount": 6}
    scale = altair.Scale()
    least = min((place for place in places if place > 0), default=1)
    if axis == "horizon":
        ends = {"domain": [places[0], places[-1]], "nice": False} if len(places) > 1 else {}
        scale, marks = altair.Scale(type="log", **ends), {"values": places}
    elif axis == "round" and logarithmic:
        scale = altair.Scale(type="log", domain=[least, places[-1]], nice=False)
        marks = {"values": [10**power for power in range(16) if least <= 10**power <= places[-1]]}
    elif axis == "budget" and places[-1] > WIDE * least:
        scale, marks = altair.Scale(type="symlog", constant=least), {"values": places}
    labels = altair.Axis(labelExpr=LABEL, labelOverlap=True, labelSeparation=APART, **marks)
    return altair.X("x:Q", title=AXES.get(axis, axis), scale=scale, axis=labels)


def save(figure: Any, path: Path) -> None:
    """Write a figure in the format that the name ends in."""
    if path.suffix not in FORMATS:
        raise InvalidParameter(f"figure: expected a name ending in {', '.join(FORMATS)}, got {path.name!r}")
    with whole_file(path) as unfinished:
        if path.suffix == ".html":
            figure.save(unfinished, inline=True)
        elif path.suffix == ".json":
            figure.save(unfinished)
        else:
            unfinished.write_bytes(_picture(figure, path.suffix))


def svg(figure: Any) -> str:
    """A figure as SVG."""
    return _picture(figure, ".svg").decode()


def _picture(figure: Any, ending: str) -> bytes:
    altair = load_altair()
    import vl_convert

    spec = figure.to_dict(validate=False, context={"pre_transform": False})
    version = "_".join(altair.SCHEMA_VERSION.split(".")[:2])
    if ending == ".png":
        return vl_convert.vegalite_to_png(spec, vl_version=version, ppi=144)
    if ending == ".pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=version)
    return vl_convert.vegalite_to_svg(spec, vl_version=version).encode()


@contextmanager
def unchecked() -> Iterator[None]:
    """Within it no figure is checked against the schema of Vega-Lite: half of the work, that only finds our bugs."""
    load_altair()
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        yield


def load_altair() -> Any:
    """The library that draws, once somebody wants a figure."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingExtra("figures: expected the extra vambrace[report] (altair, vl-convert), got none") from error
    return altair
