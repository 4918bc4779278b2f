"""How lines look: colours, dashes and shapes that can be told apart, also in grey; and two styles of figures.

A line has a colour, a dash and a shape for its points. Of the first eight lines no two share both dash and shape, so
they can be told apart without colour. Dots are for theory alone: no dash of a line is as short.
"""

from itertools import cycle, islice
from typing import Literal, NamedTuple

from vambrace.errors import UnknownName

# Eight colours that most eyes tell apart, with a contrast of at least three to one on white and on the black of our
# pages. Eight colours that are safe for every eye do not exist: dashes and shapes say the same.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8F4BE8", "#8C8C8C", "#BF0099", "#6B7A00"]
# For white paper only, which has room for more: where two lines share a dash, one is dark and the other light in grey.
INKS = ["#0B3C7D", "#8F3200", "#00513B", "#7A1152", "#000000", "#4A90D9", "#C77C11", "#6E9E1F"]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES: list[list[float]] = [
    [1, 0],
    [12, 4],
    [6, 3],
    [14, 3, 5, 3],
    [9, 6],
]  # for lines of 2 pixels; the first is solid
THEORY = [0.1, 4]  # dots, with round ends: only what was proved is drawn with them
Name = Literal["screen", "paper"]


class Style(NamedTuple):
    """What a figure is made for. Lengths are in pixels, which are points in a PDF."""

    name: Name
    colours: list[str]
    width: int  # of one facet: of the drawing on a screen, with axes and labels on paper
    height: int  # of the drawing in one facet
    font: int
    stroke: float  # the width of a line
    point: int  # the area of a point
    direct: bool  # labels at the ends of the lines instead of a legend, and no title

    def scaled(self, dash: list[float]) -> list[float]:
        """A dash for lines of this width."""
        return [round(part * self.stroke / 2, 2) for part in dash]

    @property
    def dots(self) -> list[float]:
        """The dash of what was proved."""
        return self.scaled(THEORY)


class Look(NamedTuple):
    """How one line is drawn."""

    colour: str
    dash: list[float]
    shape: str


SCREEN = Style("screen", COLOURS, 320, 240, 11, 2.0, 45, direct=False)
PAPER = Style("paper", INKS, 231, 140, 8, 1.2, 20, direct=True)  # fits into the columns of usual pages: 81 mm
STYLES: dict[str, Style] = {style.name: style for style in (SCREEN, PAPER)}


def looks(count: int, style: Style = SCREEN) -> list[Look]:
    """How the first lines of a figure are drawn.

    >>> looks(2)[1]
    Look(colour='#D55E00', dash=[12.0, 4.0], shape='square')
    """
    return [*islice(map(Look, cycle(style.colours), cycle(map(style.scaled, DASHES)), cycle(SHAPES)), count)]


def style_named(name: str) -> Style:
    """A style by its name."""
    if name not in STYLES:
        raise UnknownName("style", name, STYLES)
    return STYLES[name]
