"""The browser that tests look through sees what a page does wrong."""

from pathlib import Path

from browser import Visitor, served

PAGE = """<!doctype html><link rel="icon" href="data:,">
<style>@media (prefers-color-scheme: dark) {{ p {{ color: red }} }}</style>
<p>{0}</p>"""


def write(folder: Path, body: str) -> Path:
    path = folder / "page.html"
    path.write_text(PAGE.format(body), encoding="utf-8")
    return path


def test_a_good_page_is_quiet_and_can_be_looked_at(visit: Visitor, tmp_path: Path) -> None:
    page = write(tmp_path, "words")
    seen = visit(f"{page.as_uri()}#there", width=390, dark=True)
    assert (seen.complaints, seen.elsewhere) == ([], [])
    assert seen.page.evaluate("[innerWidth, getComputedStyle(document.querySelector('p')).color]") == [
        390,
        "rgb(255, 0, 0)",
    ]
    assert seen.page.screenshot(path=tmp_path / "page.png", full_page=True).startswith(b"\x89PNG")


def test_what_a_page_asks_for_elsewhere_is_refused_and_told(visit: Visitor, tmp_path: Path) -> None:
    page = write(tmp_path, '<img src="http://192.0.2.1/x.png"><img src="beside.png">')
    (tmp_path / "beside.png").write_bytes(b"")
    seen = visit(page.as_uri())
    assert sorted(seen.elsewhere) == [(tmp_path / "beside.png").as_uri(), "http://192.0.2.1/x.png"]
    assert len(seen.complaints) == 2  # both failed to load
    seen = visit(page.as_uri(), home=tmp_path.as_uri())
    assert seen.elsewhere == ["http://192.0.2.1/x.png"]


def test_errors_of_a_script_are_told(visit: Visitor, tmp_path: Path) -> None:
    page = write(tmp_path, "<script>console.log('fine'); console.error('one'); throw new Error('two')</script>")
    assert visit(page.as_uri()).complaints == ["one", "two"]


def test_a_folder_is_served(visit: Visitor, tmp_path: Path) -> None:
    write(tmp_path, "words")
    with served(tmp_path) as home:
        seen = visit(f"{home}page.html", home=home)
        assert seen.page.inner_text("p") == "words"
        assert (seen.complaints, seen.elsewhere) == ([], [])
