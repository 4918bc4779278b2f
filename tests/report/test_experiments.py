"""The report as a page: what stands in it, what it loads, and that all figures are drawn."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vambrace as vb
from browser import Visitor, chromium, visit  # noqa: F401
from paper import fabricated
from vambrace.errors import MissingExtra, StoreError
from vambrace.lab import experiment as spec
from vambrace.lab import runner as run
from vambrace.lab.panels import panels as panels_of
from vambrace.lab.study import Study, load
from vambrace.paper import reproduce as report
from vambrace.paper.suites import ORDER
from vambrace.report import experiments, finals, page, panels

EXPERIMENT: dict[str, Any] = {
    "name": "mine",
    "title": "A trial <of> & mine",
    "replications": 4,
    "checkpoints": 5,
    "horizons": [40],
    "budgets": [0, 5],
    "policies": ["ucb1", "se-wr:budget={budget}"],
    "adversaries": ["conceal"],
    "environments": {"two": "bernoulli:means=0.9/0.5"},
    "panels": [
        {"name": "against-rounds", "title": "Over time"},
        {"name": "against-budgets", "axis": "budget", "budgets": [0, 1, 2, 4, 8]},
        {"name": "against-horizons", "horizons": [40, 80]},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small experiment, finished, with its report."""
    target = tmp_path_factory.mktemp("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vambrace.lab.cells.simulate", lambda *a, **k: vb.simulate(*a, **k, interpret=True))
        assert run.run(spec.parse(EXPERIMENT), target, workers=1, progress=False).missing == ()
    assert report.write(target) == target / "report.html"
    return target


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of all suites, with made-up numbers."""
    studies = [fabricated.study(name, fabricated.plausible) for name in ORDER]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "FORMATS", ())
        return experiments.write(studies, tmp_path_factory.mktemp("whole"), paper=report.paper(studies))


GAPS = """() => [...document.querySelectorAll(".role-axis-label")].flatMap(axis => {
  const boxes = [...axis.querySelectorAll("text")].filter(text => text.getAttribute("opacity") !== "0")
    .map(text => text.getBoundingClientRect());
  return boxes.slice(1).flatMap((box, k) => box.top === boxes[k].top ? [box.left - boxes[k].right] : []);
})"""  # between neighbours on the horizontal axes


class Outline(HTMLParser):
    """The elements of a page with their attributes, and the text of each heading."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_data(self, data: str) -> None:
        if self._inside in ("h1", "h2", "h3"):
            self.headings[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def test_the_page_has_a_figure_and_a_table_for_each_panel(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Outline(text)
    assert page.headings == ["A trial <of> & mine", "Results", "Over time", "The policies compared"]
    assert sum("data-facets" in attributes for _, attributes in page.found) == 3
    assert "64 games in 16 cells" in text
    assert [word for word in ("Seeds", "numba", "Versions") if word not in text] == []
    assert 'id="claims"' not in text  # it is no suite
    specs = [json.loads(found) for found in re.findall(r'application/json">(.*?)</script>', text)]
    assert all("The last point of each line: ucb1" in each["description"] for each in specs)
    axes = [each["spec"]["layer"][1]["encoding"]["x"]["title"] for each in specs]
    assert axes == ["round", "budget C (fake events)", "horizon T (rounds)"]
    for each in specs:
        rows = each["data"]["values"]
        assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)


def test_a_bound_at_one_point_only_is_left_out_and_said() -> None:
    """One point makes no line: the legend would name dots that nobody sees."""

    def rows(bounds: list[float | None]) -> list[dict[str, Any]]:
        shared = {"facet": "f", "line": "l", "mean": 1.0, "low": 1.0, "high": 1.0}
        return [shared | {"x": x, "bound": bound} for x, bound in enumerate(bounds)]

    cases: list[tuple[list[float | None], list[float | None], str]] = [
        ([None, None, 9.0], [None, None, None], "What the theory promises does not fit into the figure; the table"),
        ([None, 8.0, 9.0], [None, 8.0, 9.0], "Dotted, in the colour of its policy: what the theory promises."),
        ([8.0, 9.0, 70.0], [8.0, 9.0, None], "promises, where the figure has room; the table has the rest."),
        ([8.0, 60.0, 70.0], [None, None, None], "What the theory promises does not fit into the figure; the table"),
    ]
    for given, expected, sentence in cases:
        found = rows(given)
        (caption,) = panels._fit_bounds(found, 50.0)
        assert [row["bound"] for row in found] == expected
        assert sentence in caption
    assert panels._fit_bounds(rows([None, None]), 50.0) == []


def test_the_numbers_are_those_of_the_results(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    study = load(folder)
    drawn = json.loads(re.findall(r'application/json">(.*?)</script>', text)[0])["data"]["values"]
    for play in study.panel("against-rounds"):
        last = [
            row["mean"]
            for row in drawn
            if row["line"] == play.game.line
            and row["x"] == 40
            and ("no attack" in row["facet"]) == (play.game.adversary is None)
        ]
        assert last == [pytest.approx(play.regret, rel=1e-4)]
    bounds = {row["bound"] for row in drawn if row["line"] == "ucb1"}
    assert bounds == {None}  # nothing is promised for it


def play(tmp_path: Path, **changes: Any) -> Study:
    """The small experiment with changes, played."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vambrace.lab.cells.simulate", lambda *a, **k: vb.simulate(*a, **k, interpret=True))
        run.run(spec.parse(EXPERIMENT | {"panels": []} | changes), tmp_path, workers=1, progress=False)
    return load(tmp_path)


def test_a_band_is_named_and_one_game_has_none(folder: Path, tmp_path: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert text.count("Mean of 4 games; band: the 95 % interval of that mean.") >= 3
    study = play(tmp_path, replications=1)
    ((_, drawn),) = panels.figures_of(study)
    assert drawn.caption.startswith("One game, no band.")
    chart = drawn.file().to_dict()
    assert chart["title"]["subtitle"][0] == "One game, no band."
    assert "area" not in [layer["mark"]["type"] for layer in chart["vconcat"][0]["spec"]["layer"]]
    ((table, _),) = tables_of(study)
    assert "regret" in table.headings
    assert "95 %" not in table.headings
    assert "[" not in table.files["md"].partition("\n\n")[0]


def tables_of(study: Study) -> list[tuple[page.Table, list[finals.Final]]]:
    """The table of each panel, and the numbers in it."""
    found = []
    for panel in panels_of(study.experiment):
        ended = finals.finals(panel, study.panel(panel.name), study.experiment.environments)
        found.append((finals.page_table(panel.title or panel.name, ended, panel.name), ended))
    return found


def test_a_table_has_what_differs_first_and_says_once_what_does_not(folder: Path) -> None:
    study = load(folder)
    (rounds, _), (budgets, _), (horizons, _) = tables_of(study)
    assert list(rounds.headings[:5]) == ["policy", "attack", "C", "regret", "95 %"]
    assert "T" not in rounds.headings
    assert "arms" not in rounds.headings
    assert rounds.caption.startswith("Over time. T = 40. Regret: the mean; 95 %: the interval of that mean.")
    assert "T" in horizons.headings
    assert all(len(row) == len(budgets.headings) for row in budgets.rows)
    shares = [row[list(rounds.headings).index("best arm")] for row in rounds.rows]
    assert all(re.fullmatch(r"\d+\.\d %", share) for share in shares)


def test_figures_are_written_in_three_formats_with_their_data(folder: Path) -> None:
    openings = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".csv": b"facet,line,axis,x,mean,low,high,bound,"}
    for name in ("against-rounds", "against-budgets", "against-horizons"):
        for ending, opening in openings.items():
            assert (folder / "figures" / f"mine-{name}{ending}").read_bytes().startswith(opening)
    assert not [*folder.rglob("*unfinished*")]


def test_a_half_finished_experiment_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "half"
    target.mkdir()
    (target / "experiment.json").write_bytes((folder / "experiment.json").read_bytes())
    (target / "cells").mkdir()
    kept = sorted((folder / "cells").iterdir())[:3]
    for path in kept:
        (target / "cells" / path.name).write_bytes(path.read_bytes())
    text = report.write(target).read_text(encoding="utf-8")
    total = len([*(folder / "cells").iterdir()])
    assert f"{total - 3} of {total} cells are missing" in text


def test_attacks_that_differ_in_a_parameter_are_not_drawn_as_one_line(tmp_path: Path) -> None:
    rivals = ["conceal:budget={budget}", "conceal:budget={2 * budget}"]
    mine = spec.parse(EXPERIMENT | {"adversaries": rivals, "policies": ["ucb1"], "budgets": [5], "panels": []})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vambrace.lab.cells.simulate", lambda *a, **k: vb.simulate(*a, **k, interpret=True))
        run.run(mine, tmp_path, workers=1, progress=False)
    ((_, drawn),) = panels.figures_of(load(tmp_path))
    places = [(row["facet"], row["x"]) for row in drawn.chart.to_dict()["data"]["values"]]
    assert len({*places}) == len(places)
    assert {facet for facet, _ in places} == {"conceal:budget=C, C = 5", "conceal:budget=2*C, C = 5"}


def test_the_best_of_each_game_is_bold(folder: Path) -> None:
    """Slowly and plainly: of the rows with the same attack, budget, horizon and arms, the one with the least regret."""
    for table, ended in tables_of(load(folder)):
        bold = {k for k, _ in table.best}
        for k, one in enumerate(ended):
            rivals = [
                other.regret
                for other in ended
                if (other.attack, other.budget, other.horizon, other.arms)
                == (one.attack, one.budget, one.horizon, one.arms)
            ]
            assert len(rivals) == 2
            assert (k in bold) == one.best == (one.regret == min(rivals))
    assert "<strong>" in (folder / "report.html").read_text(encoding="utf-8")


def test_tables_are_files_too(folder: Path) -> None:
    frame = pl.read_csv(folder / "tables" / "mine-against-rounds.csv")
    study = load(folder)
    assert frame["regret"].to_list() == [pytest.approx(play.regret) for play in study.panel("against-rounds")]
    assert {"policy", "attack", "budget", "low", "high", "best_arm", "bound", "best"} <= {*frame.columns}
    names = {path.name for path in (folder / "tables").iterdir()}
    assert {
        f"mine-against-{axis}.{ending}" for axis in ("rounds", "budgets") for ending in ("csv", "tex", "md")
    } <= names
    assert {"mine-ranks.csv", "mine-differences.csv"} <= names
    assert pl.read_csv(folder / "tables" / "mine-differences.csv").height == vb.compare(study).table.height


def test_a_figure_that_nobody_could_read_is_left_out_and_the_page_says_what_to_do(tmp_path: Path) -> None:
    places = {f"place-{k}": f"bernoulli:means=0.9/{k / 50}" for k in range(panels.MOST_FACETS + 1)}
    study = play(tmp_path, environments=places, policies=["ucb1"], budgets=[0], adversaries=[], replications=1)
    assert [*panels.figures_of(study)] == []
    text = experiments.write([study], tmp_path / "out").read_text(encoding="utf-8")
    assert "would have 25 facets, and at most 24 can be read" in text
    assert "worst = true" in text


def test_two_experiments_of_one_name_are_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "experiment.json").write_bytes((folder / "experiment.json").read_bytes())
    with pytest.raises(StoreError, match="expected experiments of different names, got 'mine' in one and in other"):
        report.write(tmp_path)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected a folder that `vambrace run` made, or one with such folders"):
        report.write(tmp_path)


def test_the_suites_give_the_papers_tables_and_figures(whole: Path) -> None:
    page = Outline(whole.read_text(encoding="utf-8"))
    assert page.headings[:3] == [report.TITLE, "The claims", "The paper's tables and figures"]
    links = {str(attributes.get("href")) for tag, attributes in page.found if tag == "a"}
    assert all(link.startswith(("#", "data:text/plain;base64,")) for link in links)
    links = {link for link in links if link.startswith("#")}
    targets = {f"#{attributes['id']}" for _, attributes in page.found if attributes.get("id")}
    assert links <= targets
    assert {f"#{name}" for name in ORDER} <= links
    text = whole.read_text(encoding="utf-8")
    assert re.search(r'</span>, corrected by <a href="#E14">E14</a>', text)
    assert '<dt id="E14">E14</dt><dd>the conditions of the proof</dd>' in text
    assert "How the paper's four algorithms follow from one another" in text
    assert "What needs the file headlines is left out: give it with --data headlines=FILE." in text
    assert text.count("data-facets=") == 17 + 2  # one for each panel that needs no file, the price and the exponents


@pytest.mark.parametrize(("width", "dark"), [pytest.param(1280, False, marks=pytest.mark.slow), (390, True)])
def test_a_browser_draws_all_and_asks_for_nothing(visit: Visitor, whole: Path, width: int, dark: bool) -> None:  # noqa: F811
    seen = visit(whole.as_uri(), width=width, dark=dark)
    seen.page.wait_for_selector("body[data-drawn]", timeout=120_000)
    figures = seen.page.locator("[data-facets]")
    assert figures.count() > 10
    assert seen.page.locator("[data-facets] svg.marks").count() == figures.count()
    assert (seen.complaints, seen.elsewhere) == ([], [])
    # nothing sticks out, and every picture has words
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    labels = seen.page.locator("[data-facets] svg.marks").evaluate_all(
        "all => all.map(each => each.getAttribute('aria-label') || each.querySelector('[aria-label]')?.ariaLabel)"
    )
    assert all(labels)
    assert seen.page.get_by_label("Save this figure").count() == figures.count()
    widths = figures.evaluate_all("all => all.map(each => each.querySelector('svg').getBoundingClientRect().width)")
    assert max(widths) <= width


def test_two_numbers_on_an_axis_are_not_read_as_one(visit: Visitor, tmp_path: Path) -> None:  # noqa: F811
    study = play(tmp_path, budgets=[0, 10, 30, 100, 300, 1000, 3000])
    seen = visit(experiments.write([study], tmp_path / "out").as_uri(), width=390)
    seen.page.wait_for_selector("body[data-drawn]", timeout=120_000)
    gaps = seen.page.evaluate(GAPS)
    assert len(gaps) >= 3
    assert min(gaps) >= 4


def test_a_phone_shows_the_regret_without_scrolling(visit: Visitor, whole: Path) -> None:  # noqa: F811
    seen = visit(whole.as_uri(), width=390)
    seen.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    regrets = seen.page.locator("thead :is(th, button):text-is('regret')").all()
    assert len(regrets) > 10
    for heading in regrets:
        box = heading.bounding_box()
        if box is not None:  # that of the table of results is not shown on a phone
            assert box["x"] + box["width"] <= 390
    captions = seen.page.locator("caption").evaluate_all("all => all.map(each => each.getBoundingClientRect().right)")
    assert max(captions) <= 390


def test_tables_can_be_sorted_and_downloaded_and_a_line_shown_alone(visit: Visitor, folder: Path) -> None:  # noqa: F811
    seen = visit((folder / "report.html").as_uri())
    seen.page.wait_for_selector("body[data-drawn]", timeout=120_000)
    table = seen.page.locator("table[data-sorted]").first
    column = [text.split("\u00a0")[0] for text in table.locator("thead th").all_inner_texts()].index("regret")

    def regrets() -> list[float]:
        return [float(text) for text in table.locator(f"tbody tr td:nth-child({column + 1})").all_inner_texts()]

    found = regrets()
    button = table.locator("thead button").nth(column)
    button.click()
    assert regrets() == sorted(found)
    button.click()
    assert regrets() == sorted(found, reverse=True) != sorted(found)
    with seen.page.expect_download() as waited:
        seen.page.get_by_role("link", name="LaTeX").first.click()
    assert waited.value.suggested_filename == "mine-against-rounds.tex"
    assert Path(waited.value.path()).read_text(encoding="utf-8") == (
        folder / "tables" / "mine-against-rounds.tex"
    ).read_text(encoding="utf-8")
    lines = seen.page.locator("figure").first.locator("path[aria-roledescription='line mark']")
    line = seen.page.locator(".key [role=button]").first
    line.click()
    assert line.get_attribute("aria-pressed") == "true"
    opacities = {float(text or 1) for text in lines.evaluate_all("all => all.map(x => x.getAttribute('opacity'))")}
    assert opacities == {1.0, 0.12}
    assert (seen.complaints, seen.elsewhere) == ([], [])


def test_without_programs_the_page_has_pictures(chromium: Any, folder: Path) -> None:  # noqa: F811
    for width in (390, 1280):
        context = chromium.new_context(viewport={"width": width, "height": 900}, java_script_enabled=False)
        opened = context.new_page()
        opened.goto((folder / "report.html").as_uri())
        pictures = opened.locator("noscript svg.marks")
        assert pictures.count() == 3
        box = pictures.first.bounding_box()
        assert box is not None
        assert 200 < box["width"] <= width
        assert opened.locator("figure > div").first.is_hidden()
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        context.close()


def test_without_the_extra_it_is_named(whole: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page.templates.cache_clear()
    with pytest.raises(MissingExtra, match=r"pages: expected the extra vambrace\[report\] \(jinja2\), got none"):
        page.write(tmp_path / "x.html", "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_page_escapes_what_it_is_given_and_may_load_nothing(folder: Path, tmp_path: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "A trial &lt;of&gt; &amp; mine" in text
    assert "<of>" not in text
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none';")
    assert "eval" not in policy
    title = "</script><script>alert(1)</script>"
    study = play(tmp_path, title=title)
    written = experiments.write([study], tmp_path / "out").read_text(encoding="utf-8")
    assert "alert(1)" in written
    assert "<script>alert(1)" not in written
