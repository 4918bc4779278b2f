"""The picture of the price of armour: policies as labelled points on logarithmic axes, and the line nobody crosses."""

from collections.abc import Sequence
from math import log10
from typing import Any, NamedTuple

from vambrace.report.figures import LABEL, load_altair, number
from vambrace.report.labels import short
from vambrace.report.style import COLOURS, THEORY

WIDTH, HEIGHT = 300, 480  # of the drawing, in pixels: it is to be read on a phone
FONT = 9
SIGN = 0.61 * FONT  # the width of a letter, about
OVERHANG = 8  # pixels by which a label may leave the drawing on the right
OWN = "kl-ucb-wr"  # drawn in a colour of its own


class Point(NamedTuple):
    """A policy."""

    line: str
    price: float  # regret without attack, over K - 1
    broken: float | None  # the least budget that breaks it; None: none that was tried
    low: float  # the largest budget that surely does not
    high: float | None  # the least that surely does; None: none that was tried


def price_figure(points: Sequence[Point], *, slope: float, title: str, subtitle: Sequence[str]) -> Any:
    """Points with intervals and labels; y = x as a line, and y = slope x dotted."""
    altair = load_altair()
    shown = [point for point in points if point.broken is not None]
    every = [value for point in shown for value in (point.price, point.broken, point.high) if value is not None]
    low, high = 0.6 * min(every, default=1.0), 1.7 * max(every, default=1e3)
    places = _labels(shown, low, high)
    rows = [
        {
            "policy": point.line,
            "own": point.line.startswith(OWN),
            "price": point.price,
            "broken": point.broken,
            "low": max(point.low, low),
            "high": point.high or high,
            "label": short(point.line),
            "side": place.side,
            "label_x": _value(place.x, WIDTH, low, high),
            "label_y": _value(HEIGHT - place.y, HEIGHT, low, high),
        }
        for point, place in zip(shown, places, strict=True)
    ]
    scale = altair.Scale(type="log", domain=[low, high], nice=False)
    marks = [step * 10**power for power in range(-1, 6) for step in (1, 3) if low <= step * 10**power <= high]
    axis = altair.Axis(labelExpr=LABEL, values=marks, grid=True)
    x = altair.X("price:Q", scale=scale, axis=axis, title="regret without attack, divided by K − 1")  # noqa: RUF001
    y = altair.Y("broken:Q", scale=scale, axis=axis, title="least budget that breaks it (fake events)")
    colour = altair.condition("datum.own", altair.value(COLOURS[1]), altair.value(COLOURS[0]))
    tooltip = [altair.Tooltip("policy:N"), *(altair.Tooltip(f"{k}:Q", format=",.4~r") for k in ("price", "broken"))]
    drawn = altair.Chart(altair.Data(values=rows))
    layers = [
        _line(altair, 1.0, low, high).mark_line(color="#8C8C8C", strokeWidth=2),
        _line(altair, slope, low, high).mark_line(
            color="#8C8C8C", strokeWidth=1.5, strokeDash=THEORY, strokeCap="round"
        ),
        drawn.mark_rule(strokeWidth=1.2, opacity=0.7).encode(x=x, y=altair.Y("low:Q"), y2="high:Q", color=colour),
        drawn.mark_rule(strokeWidth=0.6, opacity=0.5).encode(x=x, y=y, x2="label_x:Q", y2="label_y:Q"),
        drawn.mark_point(filled=True, size=42, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip),
    ]
    for side in ("left", "right"):
        text = drawn.transform_filter(f"datum.side == '{side}'").mark_text(fontSize=FONT, align=side, baseline="middle")
        layers.append(text.encode(x=altair.X("label_x:Q", scale=scale), y="label_y:Q", text="label:N", color=colour))
    heading = altair.TitleParams(title, subtitle=list(subtitle), subtitleFontSize=10) if subtitle else altair.Undefined
    words = "; ".join(f"{each.line} costs {number(each.price)}, breaks at {number(each.broken or 0)}" for each in shown)
    alt = f"{title}: regret without attack over K - 1, against the least budget that breaks a policy. {words}."
    return altair.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=heading, description=alt)


def _line(altair: Any, slope: float, low: float, high: float) -> Any:
    ends = [{"price": low, "broken": slope * low}, {"price": high / slope, "broken": high}]
    return altair.Chart(altair.Data(values=ends)).encode(x="price:Q", y="broken:Q")


def _pixel(value: float, size: int, low: float, high: float) -> float:
    return size * (log10(value) - log10(low)) / (log10(high) - log10(low))


def _value(pixel: float, size: int, low: float, high: float) -> float:
    return low * (high / low) ** (pixel / size)


class Place(NamedTuple):
    """Where a label begins or ends, in pixels from the upper left corner."""

    x: float
    y: float
    side: str  # which of its ends that is

    def box(self, width: float) -> tuple[float, float, float, float]:
        """The room that a label of this width takes."""
        left = self.x if self.side == "left" else self.x - width
        return left, self.y - 5.5, left + width, self.y + 5.5


def _labels(points: Sequence[Point], low: float, high: float) -> list[Place]:
    """The places of the labels: as near to their points as possible, and none over another.

    Places around a point are tried from near to far; the first at which a label covers no point and no earlier label is
    taken. The points are taken from left to right.
    """
    centres = [
        (_pixel(point.price, WIDTH, low, high), HEIGHT - _pixel(point.broken or low, HEIGHT, low, high))
        for point in points
    ]
    taken = [(x - 5.0, y - 5.0, x + 5.0, y + 5.0) for x, y in centres]
    found: dict[int, Place] = {}
    for k in sorted(range(len(points)), key=centres.__getitem__):
        width = SIGN * len(short(points[k].line))
        x, y = centres[k]
        places = [
            Place(x + sign * (7.0 + 2.0 * away), y + step, side)
            for away in range(40)
            for step in (6.0 * away, -6.0 * away)
            for sign, side in ((1, "left"), (-1, "right"))
        ]
        found[k] = next((each for each in places if _is_free(each.box(width), taken)), places[0])
        taken.append(found[k].box(width))
    return [found[k] for k in range(len(points))]


def _is_free(box: tuple[float, ...], taken: Sequence[tuple[float, ...]]) -> bool:
    inside = box[0] > 2 and box[2] < WIDTH + OVERHANG and box[1] > 2 and box[3] < HEIGHT - 2
    return inside and not any(_meet(box, other) for other in taken)


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
