"""The page of a certificate, and that of many."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from browser import Visitor, chromium, visit  # noqa: F401
from vambrace.audit.certificate import certify_counts
from vambrace.data import File
from vambrace.report import certificates as page

EXPECTED = certify_counts([4000, 3000, 5000], [400, 900, 100], ["a", "b", "c"])
LONG = "a headline with many words that goes on and on, for a phone much too long"


def test_the_page_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    strange = certify_counts([9000, 9000], [300, 3000], ["<b>&", "ok"])
    page.save({"": strange}, path, source="a<b>.csv", made_by="vambrace 1", notes=["a note"])
    text = path.read_text(encoding="utf-8")
    for part in (
        str(strange),
        "a&lt;b&gt;.csv",
        "&lt;b&gt;&amp;",
        "a note",
        "vambrace 1",
        "prefers-color-scheme: dark",
    ):
        assert part in text
    assert "<b>" not in text
    assert text.count("<svg") == 2  # one for a phone, one for a desk
    assert 'name="viewport"' in text
    outside = re.findall(r"""(?:src|href|url|@import)\s*[=(]\s*["']?(?!#)[^"'>]*""", text)
    assert outside == []
    assert not re.search(r"<(script|link|img|iframe)", text)
    assert {*re.findall(r"https?://[^\"' ]+", text)} <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert [each.name for each in path.parent.iterdir()] == ["report.html"]


def test_the_page_can_be_heard(tmp_path: Path) -> None:
    """Headings in order, a caption and scopes for each table, and words for the figure."""
    for name, certificates in (("one", {"": EXPECTED}), ("many", {"x": EXPECTED, "y": certify_counts([9, 9], [1, 2])})):
        page.save(certificates, tmp_path / "x.html", source="s", made_by="m", many=name == "many")
        text = (tmp_path / "x.html").read_text(encoding="utf-8")
        assert '<html lang="en">' in text
        headings = re.findall(r"<h(\d)", text)
        assert headings[0] == "1"
        assert {*headings[1:]} == {"2"}
        tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
        assert len(tables) == (3 if name == "one" else 4)
        for table in tables:
            assert re.search(r"<caption>[^<]+</caption>", table)
            assert "<th>" not in table
        assert text.count("<th ") == text.count('<th scope="')
        images = re.findall(r'role="img" aria-label="[^"]+beats every other[^"]+"><svg', text)
        assert text.count("<svg") == len(images) == (2 if name == "one" else 0)
        for region in re.findall(r'<div class="wide"[^>]*>', text):
            assert re.search(r'role="region" tabindex="0" aria-label="[^"]+"', region)


def test_certified_tests_come_first_and_the_rest_is_folded(tmp_path: Path) -> None:
    weak, strong = certify_counts([900, 900], [100, 300], ["p", "q"]), EXPECTED
    page.save(
        {"w": weak, "n": certify_counts([9, 9], [1, 2]), "s": strong},
        tmp_path / "x.html",
        source="s",
        made_by="m",
        many=True,
    )
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert weak.certified
    assert (weak.budget or 0) < (strong.budget or 0)
    assert "<h1>2 of 3 tests have a certified winner</h1>" in text
    order = [text.index(f'<th scope="row">{name}</th>') for name in "swn"]
    assert order == sorted(order)
    assert order[1] < text.index("<details>") < order[2]


def test_a_page_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def broken(*_: Any, **__: Any) -> None:
        raise OSError("full")

    monkeypatch.setattr(Path, "write_text", broken)
    with pytest.raises(OSError, match="full"):
        page.save({"": EXPECTED}, path, source="x", made_by="y")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_two_figures_of_a_page_share_no_id(tmp_path: Path) -> None:
    page.save({"": EXPECTED}, tmp_path / "x.html", source="s", made_by="m")
    ids = re.findall(r'\bid="([^"]+)"', (tmp_path / "x.html").read_text(encoding="utf-8"))
    assert len(ids) == len({*ids})


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_browser_shows_every_interval_whole(
    visit: Visitor,  # noqa: F811
    tmp_path: Path,
    width: int,
    dark: bool,
) -> None:
    found = certify_counts([100_000, 100_000, 100_000], [2000, 2800, 1925], ["A", LONG, "C"])
    page.save({"": found}, tmp_path / "x.html", source="s", made_by="m")
    seen = visit((tmp_path / "x.html").as_uri(), width=width, dark=dark)
    assert (seen.complaints, seen.elsewhere) == ([], [])
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    shown = seen.page.locator("figure svg:visible")
    assert shown.count() == 1
    box = shown.bounding_box()
    assert box is not None
    for part in shown.locator("line, text").all():  # rules of the intervals, names, notes, ticks
        inside = part.bounding_box()
        if inside is not None:
            assert box["x"] - 1 <= inside["x"]
            assert inside["x"] + inside["width"] <= box["x"] + box["width"] + 1 <= width
    assert shown.get_by_text("beaten up to C = ").count() == 2


def growing(n_days: int = 12) -> dict[str, list[Any]]:
    days = [f"2026-03-{day:02}" for day in range(1, n_days + 1) for _ in "AB"]
    return {"day": days, "arm": ["A", "B"] * n_days, "views": [1000] * 2 * n_days, "clicks": [20, 40] * n_days}


def test_the_figure_over_time_has_a_step_for_each_day() -> None:
    found = vb.certify(growing(), time="day")
    chart = page.moments_figure(found).to_dict()
    rows = chart["data"]["values"]
    assert [(row["time"], row["C"], row["winner"]) for row in rows] == [
        (each.time, each.budget, each.winner) for each in found.over_time
    ]
    assert {later["at"] - row["at"] for row, later in pairwise(rows)} == {24 * 3600 * 1000}
    assert chart["layer"][0]["mark"]["interpolate"] == "step-after"
    assert chart["layer"][0]["encoding"]["y"]["title"] == "stands up to C (events)"
    assert chart["layer"][0]["encoding"]["x"]["title"] == "day"
    since = next(each.time for each in found.over_time if each.budget is not None)
    assert f"since {since}. It was largest at 2026-03-12: {found.budget}." in chart["description"]
    numbers = vb.certify({**growing(), "day": [k // 2 for k in range(24)]}, time="day")
    assert [row["at"] for row in page.moments_figure(numbers).to_dict()["data"]["values"]] == list(range(12))


@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False)])
def test_a_browser_shows_all_times(visit: Visitor, tmp_path: Path, width: int, dark: bool) -> None:  # noqa: F811
    found = vb.certify(growing(), time="day")
    page.save({"": found}, tmp_path / "x.html", source="s", made_by="m", command="vambrace certify " + "x" * 200)
    seen = visit((tmp_path / "x.html").as_uri(), width=width, dark=dark)
    assert (seen.complaints, seen.elsewhere) == ([], [])
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    shown = seen.page.locator("figure svg:visible").nth(1)
    box = shown.bounding_box()
    assert box is not None
    assert shown.get_by_text("stands up to C (events)").count() == 1
    for part in shown.locator("path, text").all():
        inside = part.bounding_box()
        if inside is not None and inside["width"] > 0:
            assert box["x"] - 1 <= inside["x"]
            assert inside["x"] + inside["width"] <= box["x"] + box["width"] + 1 <= width
    n_open = sum(each.budget is None for each in found.over_time)
    assert 0 < n_open < 12
    assert shown.locator("[aria-roledescription=tick], .mark-rect.role-mark path").count() >= n_open
    seen.page.locator("summary").click()
    assert seen.page.locator("details tr").count() == 1 + 12


def test_paper_is_light_and_wide(visit: Visitor, tmp_path: Path) -> None:  # noqa: F811
    page.save({"": EXPECTED}, tmp_path / "x.html", source="s", made_by="m")
    seen = visit((tmp_path / "x.html").as_uri(), width=390, dark=True)
    seen.page.emulate_media(media="print")
    look = "getComputedStyle(document.body)"
    assert seen.page.evaluate(f"[{look}.color, {look}.backgroundColor]") == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert seen.page.evaluate("getComputedStyle(document.querySelector('.roomy')).display") == "block"
    assert seen.page.pdf(format="A4").startswith(b"%PDF")


def test_the_page_names_its_files(tmp_path: Path) -> None:
    files = []
    for k in range(102):
        path = tmp_path / f"{k}.csv"
        path.write_text(f"{k}\n" * 500, encoding="utf-8")
        files.append(File(f"log {k}", path, path.stat().st_size))
    page.save({"": EXPECTED}, tmp_path / "x.html", source="s", made_by="m", files=files)
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    for each in files[:100]:
        assert f'<th scope="row">{each.name}</th><td>{each.size:,} bytes, SHA-256 {each.sha256()}</td>' in text
    assert "log 100<" not in text
    assert '<th scope="row">more files</th><td>2</td>' in text
    assert re.search(r'<th scope="row">made</th><td>20\d\d-\d\d-\d\d \d\d:\d\d UTC</td>', text)
