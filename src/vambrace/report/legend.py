"""The legend of a figure of lines: drawn below it in a file, and as HTML below it on a page.

A sample of a line has its colour, its dash and its shape; what is theory has dots. (The legends of Vega draw dashes
around the shapes instead.)
"""

from collections.abc import Sequence
from typing import Any

from vambrace.report.figures import BOUND, Entry, Lines, load_altair
from vambrace.report.style import Style

SAMPLE = 34  # the length of a sample, in pixels
ROW = 18  # the height of a row
GREY = "#555555"  # of what is in the colour of something else
PATHS = {  # the shapes of Vega, for a circle of radius 1
    "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0",
    "square": "M-.9,-.9h1.8v1.8h-1.8Z",
    "triangle-up": "M0,-1L-1,.8L1,.8Z",
    "diamond": "M-1.1,0L0,-1.1L1.1,0L0,1.1Z",
    "cross": "M-1,-.4V.4H-.4V1H.4V.4H1V-.4H.4V-1H-.4V-.4Z",
    "triangle-down": "M0,1L-1,-.8L1,-.8Z",
    "triangle-right": "M1,0L-.8,-1L-.8,1Z",
}


def parameter(lines: Lines) -> Any:
    """The parameter of a chart that names the line to be shown alone; an HTML page has a list to choose it from."""
    options = ["", *(entry.label for entry in lines.entries if entry.label != BOUND)]
    choice = load_altair().BindRadioSelect(input="select", options=options, name="show only ")
    return load_altair().VariableParameter(name="picked", value="", bind=choice)


def for_page(lines: Lines) -> Any:
    """The chart without title and legend, which the page has."""
    return lines.chart.properties(params=[parameter(lines)])


def for_file(lines: Lines) -> Any:
    """A figure as a picture of its own: with its title and its legend, or on paper with what labels do not say."""
    altair = load_altair()
    style = lines.style
    entries = [entry for entry in lines.entries if not style.direct or entry.label == BOUND]
    parts = [lines.chart, *([_drawn(altair, entries, style, min(lines.facets, 2))] if entries else [])]
    figure = altair.vconcat(*parts, spacing=8 if style.direct else 14)
    figure = figure.resolve_scale(color="independent", strokeDash="independent", shape="independent")
    figure = figure.properties(params=[parameter(lines)], description=lines.alt)
    if style.direct:
        plain = {"labelFontSize": style.font - 1, "titleFontSize": style.font, "titleFontWeight": "normal"}
        figure = figure.configure_axis(
            **plain, gridOpacity=0.6, gridWidth=0.5, domainWidth=0.6, tickWidth=0.6, titlePadding=3
        )
        figure = figure.configure_header(labelFontSize=style.font, labelPadding=3)
        return figure.configure_view(strokeWidth=0.5).properties(padding=2)
    return figure.properties(title=altair.TitleParams(lines.title, subtitle=list(lines.subtitle)))


def _drawn(altair: Any, entries: Sequence[Entry], style: Style, facets: int) -> Any:
    """The legend as a chart: samples and labels, in as many columns as fit below this number of facets."""
    widest = SAMPLE + 14 + max(len(entry.label) for entry in entries) * 0.56 * style.font
    columns = max(1, min(len(entries), int((facets * style.width + 40) // widest)))
    rows: list[dict[str, Any]] = []
    for k, entry in enumerate(entries):
        colour = GREY if entry.look.colour == "currentColor" else entry.look.colour
        left, y = k % columns * widest, (k // columns + 0.5) * ROW
        place = {"left": left, "right": left + SAMPLE, "middle": left + SAMPLE / 2, "label": left + SAMPLE + 6}
        rows.append(place | {"y": y, "text": entry.label, "colour": colour, "kind": str(k), "shape": entry.look.shape})
    base = altair.Chart(altair.Data(values=rows)).encode(y=altair.Y("y:Q", scale=None, axis=None))

    def x(key: str) -> Any:
        return altair.X(f"{key}:Q", scale=None, axis=None)

    dashes = [entry.look.dash for entry in entries]
    kinds = altair.Scale(domain=[str(k) for k in range(len(entries))], range=dashes)
    colour = altair.Color("colour:N", scale=None)
    caps = [base.transform_filter(f"datum.shape {sign} ''") for sign in ("!=", "==")]
    solid, dotted = (
        each.mark_rule(strokeWidth=style.stroke, strokeCap=cap).encode(
            x=x("left"), x2="right:Q", color=colour, strokeDash=altair.StrokeDash("kind:N", scale=kinds, legend=None)
        )
        for each, cap in zip(caps, ("butt", "round"), strict=True)
    )
    shape = altair.Shape("shape:N", scale=None)
    points = (
        caps[0].mark_point(filled=True, size=style.point, opacity=1).encode(x=x("middle"), color=colour, shape=shape)
    )
    text = base.mark_text(align="left", baseline="middle", fontSize=style.font).encode(x=x("label"), text="text:N")
    height = ROW * -(-len(entries) // columns)
    return altair.layer(solid, dotted, points, text, view=altair.ViewConfig(stroke=None)).properties(
        width=columns * widest, height=height
    )
