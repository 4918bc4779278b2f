"""Labels at the ends of lines, for figures on paper: beside each line its name, and no name over another."""

from collections.abc import Mapping, Sequence
from typing import Any

from vambrace.report.style import Look, Style

LETTER = 0.54  # the width of a letter, as a share of the font's size
LINE = 1.12  # the height of a line of text, likewise
LONGEST = 17  # letters in one line of a label
AXIS = 40  # the width of the y axis with its labels and title
LEADER = 9  # the length of the line from an end to its label
SHAPE = 5  # the width of a shape


def short(spec: str) -> str:
    """A policy in few letters: its name, and the values of its parameters.

    >>> short("se-wr:budget=100,radius=tight")
    'se-wr 100 tight'
    """
    name, _, rest = spec.partition(":")
    values = [part.partition("=") for part in rest.split(",") if part]
    return " ".join([name, *((key if value.strip() == "true" else value).strip() for key, _, value in values)])


def shortened(lines: Sequence[str]) -> dict[str, list[str]]:
    """The label of each line, in rows of a few letters; where two would be the same, names in full."""
    texts = [short(line) for line in lines]
    texts = texts if len({*texts}) == len(texts) else [*lines]
    return {line: _wrapped(text) for line, text in zip(lines, texts, strict=True)}


def _wrapped(text: str) -> list[str]:
    """The text in two rows, if it is long and has a place to break: after a space, comma or colon near its middle."""
    places = [i + 1 for i, sign in enumerate(text[:-1]) if sign in " ,:"]
    if len(text) <= LONGEST or not places:
        return [text]
    middle = min(places, key=lambda place: abs(place - len(text) / 2))
    return [text[:middle].rstrip(), text[middle:].lstrip()]


def room(labels: Mapping[str, Sequence[str]], style: Style) -> int:
    """The width of the widest label, with the line that leads to it."""
    return round(LEADER + SHAPE + 3 + LETTER * style.font * max(len(row) for rows in labels.values() for row in rows))


def spread(wanted: Sequence[float], sizes: Sequence[float], height: float) -> list[float]:
    """Middles of labels of these heights, in the order of the wanted ones, near to them and none over another.

    >>> spread([50, 52, 90], [10, 10, 10], 100)
    [46.0, 56.0, 90.0]
    """
    groups: list[tuple[float, list[int]]] = []  # the middle of each group of labels that touch, and who they are
    for k in sorted(range(len(wanted)), key=lambda k: (wanted[k], k)):
        groups.append((wanted[k], [k]))
        while len(groups) > 1 and _bottom(groups[-2], sizes) > _top(groups[-1], sizes):
            members = groups[-2][1] + groups[-1][1]
            offsets, below = [], 0.0  # of the middles from the top of the group
            for member in members:
                offsets.append(below + sizes[member] / 2)
                below += sizes[member]
            top = sum(wanted[m] - offset for m, offset in zip(members, offsets, strict=True)) / len(members)
            top = max(min(top, height - below), 0.0)
            groups[-2:] = [(top + below / 2, members)]
    found = [0.0] * len(wanted)
    for group in groups:
        edge = _top(group, sizes)
        for member in group[1]:
            found[member] = edge + sizes[member] / 2
            edge += sizes[member]
    return found


def _top(group: tuple[float, list[int]], sizes: Sequence[float]) -> float:
    return group[0] - sum(sizes[member] for member in group[1]) / 2


def _bottom(group: tuple[float, list[int]], sizes: Sequence[float]) -> float:
    return group[0] + sum(sizes[member] for member in group[1]) / 2


def label_rows(
    rows: Sequence[Mapping[str, Any]], labels: Mapping[str, Sequence[str]], pixel: Any, style: Style
) -> list[dict[str, Any]]:
    """For each line of each facet where it ends, and where its label is: heights in pixels from the top."""
    found = []
    for facet in dict.fromkeys(row["facet"] for row in rows):
        last: dict[str, Mapping[str, Any]] = {}
        for row in rows:
            if row["facet"] == facet and (row["line"] not in last or row["x"] >= last[row["line"]]["x"]):
                last[row["line"]] = row
        ends = [pixel(row["bound"] if row["mean"] is None else row["mean"]) for row in last.values()]
        sizes = [LINE * style.font * len(labels[line]) for line in last]
        for (line, row), end, middle in zip(last.items(), ends, spread(ends, sizes, style.height), strict=True):
            place = {"facet": facet, "line": line, "x": row["x"], "mean": None, "bound": None, "marked": False}
            first = middle - LINE * (style.font - 1) * (len(labels[line]) - 1) / 2  # the middle of the first row
            heights = {"end": end, "middle": middle, "first": first}
            found.append(place | heights | {"text": [*labels[line]], "measured": row["mean"] is not None})
    return found


def label_layers(altair: Any, x: Any, lines: Sequence[tuple[str, Look]], width: int, style: Style) -> list[Any]:
    """The labels with the shapes of their lines, and thin lines that lead from the ends to them."""
    names = [line for line, _ in lines]
    colour = altair.Color("line:N", scale=altair.Scale(domain=names, range=[look.colour for _, look in lines]))
    shape = altair.Shape("line:N", scale=altair.Scale(domain=names, range=[look.shape for _, look in lines]))
    base = altair.Chart().transform_filter("isValid(datum.middle)").encode(color=colour)
    end, middle, first = (altair.Y(f"{key}:Q", scale=None, axis=None) for key in ("end", "middle", "first"))
    leader = base.mark_rule(strokeWidth=0.5).encode(x=x, x2=altair.value(width + LEADER), y=end, y2="middle:Q")
    text = base.mark_text(align="left", baseline="middle", fontSize=style.font - 1, lineHeight=LINE * (style.font - 1))
    point = base.transform_filter("datum.measured").mark_point(filled=True, size=style.point, opacity=1)
    return [
        leader,
        point.encode(x=altair.value(width + LEADER + SHAPE / 2), y=middle, shape=shape),
        text.encode(x=altair.value(width + LEADER + SHAPE + 2), y=first, text="text:N"),
    ]
