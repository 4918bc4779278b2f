import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace.errors import InvalidParameter, MissingExtra
from vambrace.report.figures import COLOURS, FORMATS, regret_figure, save

OPENINGS = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>", ".json": b"{"}


@pytest.fixture(scope="module")
def results() -> list[vb.Result]:
    """Two policies, each without and with an attack."""
    return [
        vb.simulate(
            policy, vb.Bernoulli([0.9, 0.1]), attack, horizon=30, replications=4, checkpoints=[5], interpret=True
        )
        for policy in (vb.UCB1(), vb.SEWR(budget=2))
        for attack in (None, vb.Conceal(budget=2))
    ]


@pytest.fixture(scope="module")
def figure(results: list[vb.Result]) -> Any:
    return regret_figure(results, title="Armour")


def test_a_figure_says_what_it_shows(figure: Any) -> None:
    chart = figure.to_dict()
    assert chart["title"]["text"] == "Armour"
    assert "4 replications" in chart["title"]["subtitle"]
    for part in ("Armour", "ucb1", "se-wr:budget=2", "no attack", "conceal:budget=2"):
        assert part in chart["description"]
    axes = [layer["encoding"] for layer in chart["spec"]["layer"]]
    assert {each["x"]["title"] for each in axes} == {"round"}
    assert any("regret" in each["y"].get("title", "") for each in axes)
    assert {each["color"]["title"] for each in axes} == {"policy"}


def test_a_figure_draws_mean_and_band_of_every_result(figure: Any, results: list[vb.Result]) -> None:
    rows = figure.to_dict()["data"]["values"]
    assert len(rows) == 4 * 2
    drawn = iter(rows)
    for result in results:
        for c, t in enumerate((5, 30)):
            row, column = next(drawn), result.pseudo_regret[:, c]
            assert row["policy"].startswith(result.policy.name)
            assert row["attack"] == ("no attack" if result.adversary is None else "conceal:budget=2")
            assert (row["round"], row["mean"]) == (t, column.mean())
            assert [row["low"], row["high"]] == np.quantile(column, [0.05, 0.95]).tolist()


def test_lines_differ_in_more_than_colour(figure: Any) -> None:
    encodings = [layer["encoding"] for layer in figure.to_dict()["spec"]["layer"]]
    (dashes,) = (each["strokeDash"]["scale"]["range"] for each in encodings if "strokeDash" in each)
    colours = encodings[0]["color"]["scale"]["range"]
    assert len(set(map(str, dashes))) == len(set(colours)) == 2


def test_no_results_are_no_figure() -> None:
    with pytest.raises(InvalidParameter, match=r"expected .+, got "):
        regret_figure([])


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_is_written(figure: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"figure{ending}"
    save(figure, path)
    assert path.read_bytes().startswith(OPENINGS[ending])
    assert list(path.parent.iterdir()) == [path]


class Page(HTMLParser):
    """The tags of a page, and the addresses that they load or lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "srcset", "data")]


def test_the_page_loads_nothing_from_elsewhere(figure: Any, tmp_path: Path) -> None:
    save(figure, tmp_path / "figure.html")
    text = (tmp_path / "figure.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "script" in page.tags
    assert page.addresses == []
    assert re.findall(r"""(?:@import|\bimport\s*\(|\bfrom)\s*['"(]*https?:""", text) == []
    assert "Armour: regret against rounds for ucb1" in text


def test_the_picture_has_an_alternative_text(figure: Any, tmp_path: Path) -> None:
    save(figure, tmp_path / "figure.svg")
    assert "regret against rounds for ucb1" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["figure.gif", "figure", ".svg", "figure.SVG.txt"])
def test_an_unknown_ending_is_refused_before_anything_is_touched(figure: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"^figure: expected a name ending in \.svg, .*, got '"):
        save(figure, tmp_path / "folder" / name)
    assert list(tmp_path.iterdir()) == []


class Failing:
    """A figure that breaks in the middle of writing itself."""

    def save(self, path: Path, **_: Any) -> None:
        path.write_text("half")
        raise OSError("no space left")


@pytest.mark.parametrize("old", [None, "the figure of yesterday"])
def test_a_failing_save_leaves_what_was_there(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "figure.svg"
    if old is not None:
        path.write_text(old)
    with pytest.raises(OSError, match="no space left"):
        save(Failing(), path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if old is None else [old])


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_extra_it_is_named(results: list[vb.Result], monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=r"expected the extra vambrace\[report\].*, got none"):
        regret_figure(results)


@pytest.mark.parametrize("ground", ["#ffffff", "#161616"])
def test_lines_stand_out_from_what_they_are_drawn_on(ground: str) -> None:
    """WCAG 2.1, 1.4.11: a contrast of three to one for what is to be seen in a picture."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for colour in COLOURS:
        dark, light = sorted((luminance(colour), luminance(ground)))
        assert (light + 0.05) / (dark + 0.05) >= 3.0, colour
