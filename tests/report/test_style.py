"""Lines that can be told apart: on paper, on a screen, in grey, and from what is theory."""

from itertools import combinations

import pytest

from vambrace.errors import UnknownName
from vambrace.report.style import COLOURS, DASHES, INKS, PAPER, SCREEN, STYLES, THEORY, Look, Style, looks, style_named


def luminance(colour: str) -> float:
    """The share of light that a colour gives back."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def lightness(colour: str) -> float:
    """How light it looks when colours are gone: from 0, black, to 100, white (CIE L*)."""
    share = luminance(colour)
    return 116 * share ** (1 / 3) - 16 if share > 0.008856 else 903.3 * share


@pytest.mark.parametrize(("colours", "ground"), [(COLOURS, "#ffffff"), (COLOURS, "#161616"), (INKS, "#ffffff")])
def test_lines_stand_out_from_what_they_are_drawn_on(colours: list[str], ground: str) -> None:
    """WCAG 2.1, 1.4.11: a contrast of three to one for what is to be seen in a picture."""
    for colour in colours:
        dark, light = sorted((luminance(colour), luminance(ground)))
        assert (light + 0.05) / (dark + 0.05) >= 3.0, colour


def differences(one: Look, other: Look) -> int:
    """In how many ways two lines differ in grey: dash, shape, and how light they are."""
    light = abs(lightness(one.colour) - lightness(other.colour)) >= 20
    return (one.dash != other.dash) + (one.shape != other.shape) + light


def test_eight_policies_can_be_told_apart_in_grey() -> None:
    """On paper in two ways at least; on a screen, where colours must suit a light and a dark page, in one."""
    for style, least in ((PAPER, 2), (SCREEN, 1)):
        assert min(differences(one, other) for one, other in combinations(looks(8, style), 2)) >= least
        assert len({look.colour for look in looks(8, style)}) == 8


def test_no_two_of_fifty_policies_look_the_same() -> None:
    for style in STYLES.values():
        assert len({str(look) for look in looks(50, style)}) == 50


@pytest.mark.parametrize("style", STYLES.values(), ids=list(STYLES))
def test_no_line_looks_like_theory(style: Style) -> None:
    """Theory is dots; the shortest stroke of a dashed line is many times as long as a dot."""
    strokes = [stroke for look in looks(50, style) if look.dash[1] > 0 for stroke in look.dash[::2]]
    assert min(strokes) > 10 * style.dots[0] + style.stroke
    assert style.dots[0] < 0.2
    assert THEORY not in DASHES


def test_an_unknown_style_is_named() -> None:
    assert style_named("paper") is PAPER
    with pytest.raises(UnknownName, match="unknown style 'papers'; did you mean 'paper'"):
        style_named("papers")
