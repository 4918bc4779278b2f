import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vambrace as vb
from vambrace.errors import InvalidParameter, MissingExtra
from vambrace.report.figures import BOUND, FORMATS, lines_figure, number, save
from vambrace.report.legend import for_file

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
    return vb.figure(results, title="Armour")


def test_a_figure_says_what_it_shows(figure: Any) -> None:
    chart = figure.to_dict()
    assert chart["title"]["text"] == "Armour"
    assert chart["title"]["subtitle"] == ["mean of 4 games; band: 5 % to 95 % of the games"]
    for part in ("Armour", "ucb1", "se-wr:budget=2", "no attack", "conceal:budget=2"):
        assert part in chart["description"]
    axes = [layer["encoding"] for layer in chart["vconcat"][0]["spec"]["layer"]]
    assert {each["x"]["title"] for each in axes} == {"round"}
    assert any("regret" in each["y"].get("title", "") for each in axes)


def test_a_figure_draws_mean_and_band_of_every_result(figure: Any, results: list[vb.Result]) -> None:
    rows = figure.to_dict()["vconcat"][0]["data"]["values"]
    assert len(rows) == 4 * 2
    drawn = iter(rows)
    for result in results:
        for c, t in enumerate((5, 30)):
            row, column = next(drawn), result.pseudo_regret[:, c]
            assert row["line"].startswith(result.policy.name)
            assert row["facet"] == ("no attack" if result.adversary is None else "conceal:budget=2")
            assert (row["x"], row["mean"]) == (t, column.mean())
            assert [row["low"], row["high"]] == np.quantile(column, [0.05, 0.95]).tolist()


def kinds(chart: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in chart["spec"]["layer"]]


def test_one_game_has_no_band_and_says_so(results: list[vb.Result], figure: Any) -> None:
    assert kinds(figure.to_dict()["vconcat"][0]) == ["area", "line", "point"]
    alone = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.1]), horizon=30, replications=1, interpret=True)
    chart = vb.figure([alone]).to_dict()
    assert kinds(chart["vconcat"][0]) == ["line", "point"]
    assert chart["title"]["subtitle"] == ["one game each, so no band"]


def rows_of(ends: dict[str, float], **more: Any) -> list[dict[str, Any]]:
    """Straight lines from 0 at round 1 to their ends at round 100."""
    return [
        {"facet": "f", "line": line, "x": x, "mean": end * x / 100, "low": end * x / 200, "high": end * x / 50, **more}
        for line, end in ends.items()
        for x in range(1, 101)
    ]


def drawn(rows: list[dict[str, Any]], axis: str = "round") -> dict[str, Any]:
    return dict(lines_figure(rows, axis=axis, title="t", alt="a").chart.to_dict())


def test_only_theory_is_dotted_and_the_legend_says_so() -> None:
    """A line for each policy, in its dash; what was proved, in dots with round ends, which no other line has."""
    lines = lines_figure(rows_of({"a": 10, "b": 20}, bound=25.0), axis="round", title="t", alt="a")
    drawn = [layer for layer in lines.chart.to_dict()["spec"]["layer"] if layer["mark"]["type"] == "line"]
    bound, mean = sorted(drawn, key=lambda layer: str(layer["encoding"]["y"]["field"]))
    assert (bound["mark"]["strokeDash"], bound["mark"]["strokeCap"]) == ([0.1, 4.0], "round")
    assert "strokeDash" not in bound["encoding"]
    assert "strokeDash" not in mean["mark"]
    assert mean["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [12, 4]]
    assert [entry.label for entry in lines.entries] == ["a", "b", BOUND]
    assert [entry.look.shape for entry in lines.entries] == ["circle", "square", ""]
    assert lines.entries[-1].look.dash == bound["mark"]["strokeDash"]
    without = lines_figure(rows_of({"a": 10}), axis="round", title="t", alt="a")
    assert [entry.label for entry in without.entries] == ["a"]
    alone = [{"facet": "f", "line": "Theorem 1", "x": x, "bound": 5.0} for x in (1, 2)]
    named = lines_figure([*rows_of({"a": 10}), *alone], axis="round", title="t", alt="a").entries
    assert [(entry.label, entry.look.dash, entry.look.shape) for entry in named[1:]] == [("Theorem 1", [0.1, 4.0], "")]


def test_the_legend_of_a_file_has_a_sample_of_each_line(tmp_path: Path) -> None:
    lines = lines_figure(rows_of({"one": 10, "other": 20}, bound=25.0), axis="round", title="t", alt="a")
    save(for_file(lines), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for label in ("one", "other", BOUND):
        assert f">{label}</text>" in text
    rules = re.findall(r'<line [^>]*stroke-width="2"[^>]*>', text)
    dashes = [re.search(r'stroke-dasharray="([^"]*)"', rule) for rule in rules]
    assert [dash and dash[1] for dash in dashes] == ["1,0", "12,4", "0.1,4"]


def test_a_curve_of_many_points_has_few_marks() -> None:
    rows = drawn(rows_of({"a": 10, "b": 20}))["data"]["values"]
    marked = [row["x"] for row in rows if row["marked"] and row["line"] == "a"]
    assert (marked[0], marked[-1]) == (1, 100)
    assert len(marked) == 8
    assert all(row["marked"] for row in drawn(rows_of({"a": 10}), axis="budget")["data"]["values"])


def scale_of(chart: dict[str, Any], sign: str) -> dict[str, Any]:
    (encoding,) = (layer["encoding"] for layer in chart["spec"]["layer"] if layer["mark"]["type"] == "point")
    return dict(encoding[sign].get("scale", {}))


def test_a_line_that_would_lie_on_the_axis_is_drawn_on_a_logarithmic_scale() -> None:
    near, far = drawn(rows_of({"a": 10, "b": 20})), drawn(rows_of({"a": 10, "b": 1000}))
    assert [scale_of(near, sign).get("type") for sign in "xy"] == [None, None]
    assert [scale_of(far, sign).get("type") for sign in "xy"] == ["log", "log"]
    low, high = scale_of(far, "y")["domain"]
    assert 0 < low <= 0.1
    assert high >= 2000
    nothing = drawn(
        [*rows_of({"a": 10, "b": 1000}), {"facet": "f", "line": "c", "x": 1, "mean": 0, "low": 0, "high": 0}]
    )
    assert scale_of(nothing, "y")["type"] == "symlog"  # which has room for zero
    assert scale_of(nothing, "y")["domain"][0] == 0


def test_every_facet_has_its_own_x_axis() -> None:
    """One axis for each column would hang in the air where the last row is not full."""
    assert drawn(rows_of({"a": 10}))["resolve"] == {"axis": {"x": "independent"}}


def test_large_numbers_are_powers_of_ten_on_axes_and_in_tables(tmp_path: Path) -> None:
    values = [1, 50, 2000, 300_000, 10**6, 2 * 10**9, 10**12]
    rows = [{"facet": "", "line": "a", "x": x, "mean": x, "low": x, "high": x} for x in values]
    save(for_file(lines_figure(rows, axis="horizon", title="t", alt="a")), tmp_path / "x.svg")
    labels = re.findall(r">([^<>]+)</text>", (tmp_path / "x.svg").read_text(encoding="utf-8"))
    for text in ("1", "300,000", "10⁶", "2·10⁹", "10¹²"):
        assert text in labels
        assert text in [number(value) for value in values]
    assert not re.search(r"\d[kMGT]$|e\+", " ".join(labels))
    assert [number(each, 6) for each in (12.5, 31_622.8, 999_999.9, 0.5)] == ["12.5", "31,622.8", "10⁶", "0.5"]
    assert [number(each) for each in (999.9, -1234.5, 9.999, 999_999.9)] == ["1,000", "-1,234", "10", "10⁶"]


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_is_written(figure: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"figure{ending}"
    save(figure, path)
    assert path.read_bytes().startswith(OPENINGS[ending])
    assert list(path.parent.iterdir()) == [path]


def test_a_png_has_two_pixels_for_each_of_the_svg(figure: Any, tmp_path: Path) -> None:
    for ending in (".png", ".svg"):
        save(figure, tmp_path / f"figure{ending}")
    (width,) = re.findall(r'^<svg[^>]* width="([\d.]+)"', (tmp_path / "figure.svg").read_text(encoding="utf-8"))
    pixels = int.from_bytes((tmp_path / "figure.png").read_bytes()[16:20], "big")
    assert pixels == pytest.approx(2 * float(width), abs=2)


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
    path = tmp_path / "figure.json"
    if old is not None:
        path.write_text(old)
    with pytest.raises(OSError, match="no space left"):
        save(Failing(), path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if old is None else [old])


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_extra_it_is_named(results: list[vb.Result], monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=r"expected the extra vambrace\[report\].*, got none"):
        vb.figure(results)
