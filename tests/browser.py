"""Pages as a browser shows them: what they ask for, what they complain about, what they look like.

The fixture `visit` opens pages in headless Chromium; where there is none, its tests are skipped and say so. Nothing
leaves the machine: what a page asks for outside its home is refused and written down.

    def test_the_page_is_quiet(visit: Visitor, tmp_path: Path) -> None:
        seen = visit((tmp_path / "page.html").as_uri(), width=390, dark=True)
        assert (seen.complaints, seen.elsewhere) == ([], [])
        seen.page.screenshot(path=tmp_path / "page.png", full_page=True)
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, Protocol

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Seen(NamedTuple):
    """An open page, and what it did. The lists grow while the page is used."""

    page: Page
    complaints: list[str]  # warnings and errors on the console, and exceptions that nobody caught
    elsewhere: list[str]  # addresses outside its home that it asked for


class Visitor(Protocol):
    """Opens a page. `home` is where it may load from, by default nothing but the page itself."""

    def __call__(
        self, address: str, *, home: str | None = None, width: int = 1280, height: int = 900, dark: bool = False
    ) -> Seen: ...


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of one module; no longer, because an event loop runs with it."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--disable-quic", "--disable-sync"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visitor]:
    """Opens pages, each in a browser window of its own, and closes them after the test."""
    contexts = []

    def open_page(
        address: str, *, home: str | None = None, width: int = 1280, height: int = 900, dark: bool = False
    ) -> Seen:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        seen = Seen(context.new_page(), [], [])

        def guard(route: Route) -> None:
            asked = route.request.url
            if asked.startswith((home or address.partition("#")[0], "data:", "blob:")):
                route.continue_()
            else:
                seen.elsewhere.append(asked)
                route.abort()

        context.route("**/*", guard)
        seen.page.on(
            "console", lambda said: seen.complaints.append(said.text) if said.type in ("warning", "error") else None
        )
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.goto(address, wait_until="load")
        return seen

    yield open_page
    for context in contexts:
        context.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on a web server of this machine, while the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and keeps no log."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass
