"""The site: built without a complaint, loads nothing from elsewhere, and every link in it leads somewhere.

`make docs` runs these tests, and so does CI; `make test` does not, since building the site takes long.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from browser import Visitor, served

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """The addresses of a page: what it loads, where it leads, what can be led to; and pictures without words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.loads: list[str] = re.findall(r"""url\(\s*['"]?([^'")]+)""", html)
        self.leads: list[str] = []
        self.anchors: set[str] = {""}
        self.silent: list[str] = []
        self.words = ""  # of the article, code aside
        self.inside: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        if "article" in self.inside and not {"code", "script", "style"} & {*self.inside}:
            self.words += data

    def handle_endtag(self, tag: str) -> None:
        while tag in self.inside and self.inside.pop() != tag:
            pass

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        relation = given.get("rel", "")
        for name in ("src", "href", "srcset", "data", "poster"):
            if name in given:
                clicked = (tag, name) == ("a", "href") or (tag == "link" and relation in ("next", "prev", "canonical"))
                (self.leads if clicked else self.loads).append(given[name])
        if tag == "img" and not given.get("alt", "").strip():
            self.silent.append(given.get("src", "?"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, in a copy, so that nothing is left in the working tree."""
    home = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", home / "docs", ignore=shutil.ignore_patterns("reference"))
    shutil.copy(ROOT / "mkdocs.yml", home)
    for folder in ("src", "studies"):  # mkdocstrings reads the docstrings there
        (home / folder).symlink_to(ROOT / folder, target_is_directory=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    write = "import pathlib, sys, reference; reference.main(pathlib.Path(sys.argv[1]))"
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    for command in ([sys.executable, "-c", write, str(home / "docs")], build):
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return home / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    found = {path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(found) > 25
    return found


def addresses(pages: dict[str, Page], kind: str) -> Iterator[tuple[str, str]]:
    return ((name, address) for name, page in pages.items() for address in getattr(page, kind))


def test_every_page_is_in_the_navigation(site: Path, pages: dict[str, Page]) -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    written = {name.replace(".html", ".md") for name in pages if not name.startswith("assets/")} - {"404.md"}
    assert listed == written


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    sheets = [(path.name, found) for path in site.rglob("*.css") for found in Page(path.read_text("utf-8")).loads]
    drawings = [(path.name, found) for path in site.rglob("*.svg") for found in Page(path.read_text("utf-8")).loads]
    foreign = [
        (name, address)
        for name, address in [*addresses(pages, "loads"), *sheets, *drawings]
        if re.match(r"(?:[a-z][a-z0-9+.-]*:|//)", address) and not address.startswith("data:")
    ]
    assert foreign == []
    imports = [path.name for path in site.rglob("*.css") if "@import" in path.read_text("utf-8")]
    assert imports == []


def test_every_address_within_the_site_resolves(site: Path, pages: dict[str, Page]) -> None:
    lost = []
    for name, address in [*addresses(pages, "leads"), *addresses(pages, "loads")]:
        if re.match(r"(?:[a-z]+:|#__)", address) or name == "404.html":  # elsewhere, or a control of the theme
            continue
        path, anchor = urldefrag(urljoin(f"/{name}", address))
        target = unquote(path).lstrip("/") or "index.html"
        found = target in pages or (site / target).is_file()
        if not found or (target in pages and unquote(anchor) not in pages[target].anchors):
            lost.append((name, address))
    assert lost == []


def test_every_picture_says_what_it_shows(pages: dict[str, Page]) -> None:
    assert [(name, page.silent) for name, page in pages.items() if page.silent] == []


def test_no_markdown_is_left_on_a_page(pages: dict[str, Page]) -> None:
    """A list after a line of text, for one, is a list elsewhere and not here."""
    left = re.compile(r"\*\*|\]\(|`|\{ #|^\s*(?:[-*]|\d+\.) \w|^\|[ -]|\\[][*_<>|]", re.MULTILINE)
    assert {name: found[0] for name, page in pages.items() if (found := left.search(page.words))} == {}


def test_what_is_wrong_is_seen() -> None:
    page = Page('<link href="//x/y.css"><a href="z.html#a"><img src="p.png" alt=" "><p id="b" style="a: url(q.png)">')
    assert (page.loads, page.leads, page.silent) == (["q.png", "//x/y.css", "p.png"], ["z.html#a"], ["p.png"])
    assert page.anchors == {"", "b"}
    page = Page("<p>out</p><article><p>a<br>- b <code>c <b>d</b></code></p><p>e</article><p>f</p>")
    assert page.words == "a- b e"


SEEN = [
    (page, *how)
    for page in ("index.html", "concepts.html", "reference/policies.html", "errata.html")
    for how in ((1280, False), (390, True))
]
QUICK = (("index.html", 1280, False), ("reference/policies.html", 390, True))


@pytest.mark.parametrize(
    ("page", "width", "dark"), [pytest.param(*each, marks=[] if each in QUICK else [pytest.mark.slow]) for each in SEEN]
)
def test_a_page_is_quiet_and_fits_its_window(site: Path, visit: Visitor, page: str, width: int, dark: bool) -> None:
    with served(site) as home:
        seen = visit(f"{home}{page}", home=home, width=width, dark=dark)
        assert (seen.complaints, seen.elsewhere) == ([], [])
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        scheme = seen.page.evaluate("document.body.getAttribute('data-md-color-scheme')")
        assert scheme == ("slate" if dark else "default")


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_search_finds_a_word_without_a_network(site: Path, visit: Visitor, on_disk: bool) -> None:
    with served(site) as server:
        home = f"{site.as_uri()}/" if on_disk else server
        seen = visit(f"{home}index.html", home=home)
        seen.page.get_by_role("button", name="Search").click()
        seen.page.get_by_role("combobox").fill("concealment")
        seen.page.get_by_role("option", name=re.compile("concealment", re.IGNORECASE)).first.wait_for()
        assert (seen.complaints, seen.elsewhere) == ([], [])
