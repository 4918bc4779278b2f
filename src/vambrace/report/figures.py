"""Figures: one definition of each gives SVG, PNG, PDF and a self-contained HTML page."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vambrace.engine.result import Result
from vambrace.errors import InvalidParameter, MissingExtra
from vambrace.files import whole_file
from vambrace.registry import spec_of

if TYPE_CHECKING:
    import altair

# After Okabe and Ito, with their two lightest darkened, grey, and Tol's olive: told apart by everyone, and with a
# contrast of three to one at least, on white and on the black of our pages
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#BF8400", "#2E96D1", "#8C8C8C", "#999933"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3]]  # a second sign beside colour
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
FORMATS = (".svg", ".png", ".pdf", ".html", ".json")


def regret_figure(results: Sequence[Result], *, title: str = "Regret") -> "altair.FacetChart":
    """Mean pseudo regret against rounds, one line for each policy, with the band from the 5 % to the 95 % quantile.

    Results against different adversaries come side by side on one scale.
    """
    if not results:
        raise InvalidParameter("figure: expected at least one result, got none")
    altair = load_altair()
    title = " – ".join(dict.fromkeys([title, *(r.environment.note for r in results if r.environment.note)]))  # noqa: RUF001
    panels = list(dict.fromkeys(_attack(result) for result in results))
    lines = list(dict.fromkeys(spec_of(result.policy) for result in results))
    rows = [row for result in results for row in _curve(result)]
    alt = f"{title}: regret against rounds for {', '.join(lines)} under {', '.join(panels)}"
    colours, dashes = _scale(altair, lines, COLOURS), _scale(altair, lines, DASHES)
    axis = altair.Axis(labelExpr="format(datum.value, '~s')", tickCount=6)
    legend = altair.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2, symbolSize=300, labelLimit=300)
    base = altair.Chart(altair.Data(values=rows)).encode(
        x=altair.X("round:Q", title="round", axis=axis),
        color=altair.Color("policy:N", title="policy", sort=lines, scale=colours, legend=legend),
    )
    band = base.mark_area(opacity=0.18).encode(
        y=altair.Y("low:Q", title="pseudo regret (expected reward lost)", axis=axis), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=2).encode(
        y=altair.Y("mean:Q"),
        strokeDash=altair.StrokeDash("policy:N", title="policy", sort=lines, scale=dashes),
    )
    layers = altair.layer(band, line, description=alt).properties(width=320, height=260)
    figure = layers.facet(column=altair.Column("attack:N", title=None, sort=panels))
    subtitle = f"mean and 5–95 % band of {results[0].replications} replications"  # noqa: RUF001
    return figure.properties(title=altair.TitleParams(title, subtitle=subtitle), description=alt)


AXES = {
    "round": "round",
    "budget": "budget C (fake events)",
    "horizon": "horizon T (rounds)",
    "power": "β, where C = T^β",
}
SHORT = "datum.value >= 1000 ? format(datum.value, '~s') : format(datum.value, '~g')"  # 20k, but 0.5 and not 500m
WIDE = 50  # from such a ratio on numbers need a logarithmic scale
REGRET = "pseudo regret (expected reward lost)"


def lines_figure(
    rows: Sequence[Mapping[str, Any]], *, axis: str, title: str, alt: str, logarithmic: bool, height: str = REGRET
) -> "altair.FacetChart":
    """Lines with bands against one of AXES, in facets on one scale; where there is a bound, dotted in the same colour.

    Args:
        rows: Facet, line, x, mean, low, high; bound, or None where there is none; marked, if the point is to be seen.
        logarithmic: Whether heights are; then what is not positive is not drawn.
    """
    altair = load_altair()
    facets, lines = (list(dict.fromkeys(row[key] for row in rows)) for key in ("facet", "line"))
    if logarithmic:
        rows = [{**row, "low": max(row["low"], row["mean"] / 100)} for row in rows if row["mean"] > 0]
    marked = any(row.get("marked") for row in rows)
    sign: dict[str, Any] = {} if marked else {"symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 300}
    legend = altair.Legend(orient="bottom", title=None, symbolOpacity=1, **sign)
    signs: dict[str, Any] = {
        "color": altair.Color("line:N", sort=lines, scale=_scale(altair, lines, COLOURS), legend=legend),
        "strokeDash": altair.StrokeDash("line:N", sort=lines, scale=_scale(altair, lines, DASHES), legend=legend),
    }
    picked = altair.selection_point(fields=["line"], bind="legend", name="picked")
    opacity = altair.condition(picked, altair.value(1.0), altair.value(0.12))
    y = _y(altair, rows, height, logarithmic)
    told = [
        altair.Tooltip("line:N", title="line"),
        altair.Tooltip("x:Q", title=axis, format=",.6~g"),
        *(altair.Tooltip(f"{key}:Q", format=",.4~g") for key in ("mean", "low", "high")),
    ]
    base = altair.Chart().encode(x=_x(altair, axis, rows), color=signs["color"])
    faint = altair.condition(picked, altair.value(0.2), altair.value(0.03))
    layers = [
        base.mark_area().encode(y=altair.Y("low:Q"), y2="high:Q", opacity=faint),
        base.mark_line(strokeWidth=2).encode(y=y, opacity=opacity, tooltip=told, strokeDash=signs["strokeDash"]),
    ]
    if marked:
        shape = altair.Shape("line:N", sort=lines, scale=_scale(altair, lines, SHAPES), legend=legend)
        points = base.transform_filter("datum.marked").mark_point(filled=True, size=45)
        layers.append(points.encode(y=y, shape=shape, opacity=opacity, tooltip=told))
    if any(row.get("bound") is not None for row in rows):
        bounds = base.transform_filter("isValid(datum.bound)").mark_line(strokeWidth=1.5, strokeDash=[2, 3])
        layers.append(bounds.encode(y=altair.Y("bound:Q"), opacity=opacity))
    layered = altair.layer(*layers).add_params(picked).properties(width=320, height=240)
    return layered.facet(
        facet=altair.Facet("facet:N", title=None, sort=facets), columns=2, data=altair.Data(values=list(rows))
    ).properties(title=title, description=alt)


def _scale(altair: Any, lines: Sequence[str], signs: Sequence[Any]) -> Any:
    return altair.Scale(domain=list(lines), range=[signs[i % len(signs)] for i in range(len(lines))])


def _y(altair: Any, rows: Sequence[Mapping[str, Any]], title: str, logarithmic: bool) -> Any:
    """Heights from zero, or, on a logarithmic scale, as far as there are any."""
    if not logarithmic:
        return altair.Y("mean:Q", title=title, axis=altair.Axis(labelExpr=SHORT, tickCount=6))
    heights = [row[key] for row in rows for key in ("low", "high", "bound") if row.get(key) is not None]
    low, high = 0.8 * min(heights), 1.25 * max(heights)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    marks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    scale = altair.Scale(type="log", domain=[low, high], nice=False)
    return altair.Y("mean:Q", title=title, scale=scale, axis=altair.Axis(labelExpr=SHORT, values=marks))


def _x(altair: Any, axis: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rounds and powers on a plain scale; horizons on a logarithmic one; budgets on one that has room for zero."""
    places = sorted({row["x"] for row in rows})
    marks: dict[str, Any] = {"tickCount": 6}
    scale = altair.Scale()
    least = min((place for place in places if place > 0), default=1)
    if axis == "horizon":
        scale, marks = altair.Scale(type="log"), {"values": places}
    elif axis == "budget" and max(places) > WIDE * least:
        scale, marks = altair.Scale(type="symlog", constant=least), {"values": places}
    return altair.X("x:Q", title=AXES[axis], scale=scale, axis=altair.Axis(labelExpr=SHORT, labelOverlap=True, **marks))


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


def _curve(result: Result) -> list[dict[str, Any]]:
    low, high = np.quantile(result.pseudo_regret, [0.05, 0.95], axis=0)
    columns = zip(result.checkpoints, result.pseudo_regret.mean(axis=0), low, high, strict=True)
    labels = {"policy": spec_of(result.policy), "attack": _attack(result)}
    return [
        {**labels, "round": int(t), "mean": float(mean), "low": float(a), "high": float(b)} for t, mean, a, b in columns
    ]


def _attack(result: Result) -> str:
    return "no attack" if result.adversary is None else spec_of(result.adversary)


def load_altair() -> Any:
    """The library that draws, once somebody wants a figure."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingExtra("figures: expected the extra vambrace[report] (altair, vl-convert), got none") from error
    return altair
