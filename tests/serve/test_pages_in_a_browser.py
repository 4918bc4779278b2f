"""The dashboard in Chromium: what people do with it. No page asks for anything elsewhere, or complains."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any
from urllib.request import Request, urlopen

import axe_playwright_python
import pytest
import uvicorn
from playwright.sync_api import Page

from browser import Seen, Visitor
from effort import repeated
from vambrace.serve import keys, tables
from vambrace.serve.app import create_app
from vambrace.serve.pages import static
from vambrace.serve.settings import Settings

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
SERIOUS = ("serious", "critical")
VEGA = static.Vega()  # made once for all services of this module
LONG = 60_000  # milliseconds, on a busy machine


@contextmanager
def running(url: str) -> Iterator[str]:
    """The address of a service with this database, while the block runs."""
    app = create_app(Settings(db=url))
    app.state.vega = VEGA
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    app.state.experiments.stop_soon()
    server.should_exit = True
    thread.join()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/service.db"


@pytest.fixture
def home(url: str) -> Iterator[str]:
    with running(url) as found:
        yield found


def call(home: str, path: str, body: Any, key: str = "") -> Any:
    """What the API answers."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with urlopen(Request(f"{home}/v1{path}", json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


def play(home: str, experiment: str, n: int, best: str, key: str = "") -> None:
    """Decisions and their answers: one arm always wins."""
    found = call(home, f"/experiments/{experiment}/ask", {"count": n}, key)["decisions"]
    answers = [{"id": each["id"], "reward": float(each["arm"] == best)} for each in found]
    call(home, f"/experiments/{experiment}/tell", {"answers": answers}, key)


def key_with(url: str, *roles: str) -> str:
    database = tables.opened(url)
    text, _ = keys.create(database, name=f"key to {' and '.join(roles)}", roles=roles)
    database.close()
    return text


def check_access(page: Page) -> None:
    """What axe-core finds."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")["violations"]
    told = [(each["id"], each["help"], [node["html"][:200] for node in each["nodes"]]) for each in found]
    assert not [each for each, whole in zip(told, found, strict=True) if whole["impact"] in SERIOUS]


def check_quiet(*seen: Seen) -> None:
    for each in seen:
        assert not each.complaints
        assert not each.elsewhere


def log_in(page: Page, key: str) -> None:
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Log in").click()


def test_create_ask_tell_and_watch_the_page_change(home: str, visit: Visitor) -> None:
    seen = visit(home, home=home)
    page = seen.page
    page.get_by_role("link", name="New experiment").click()
    page.get_by_label("Name").fill("headlines")
    page.get_by_label("Arms, one in each line").fill("old\nnew")
    page.get_by_label("Fake answers to withstand").fill("3")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="No answers yet").wait_for()
    page.wait_for_selector("#experiment[data-drawn]", timeout=LONG)
    address = page.url
    play(home, "headlines", 20, best="new")
    play(home, "headlines", 300, best="new")
    page.get_by_role("heading", name="“new” is the best arm").wait_for(timeout=LONG)
    assert page.url == address
    assert page.locator("#decisions").inner_text() == "320"
    page.wait_for_function("Number(document.querySelector('#experiment').dataset.drawn) > 600", timeout=LONG)
    for name in ("rates", "certificate", "share", "loss"):
        assert page.locator(f'figure[data-chart="{name}"] svg').count() == 1
    assert (page.locator('figure[data-chart="rates"] svg').text_content() or "").count("new") == 1
    page.get_by_label("Add an arm").fill("newest")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="No winner yet").wait_for()
    page.get_by_label("Retire an arm").select_option("old")
    page.get_by_role("button", name="Retire").click()
    page.get_by_role("row", name=re.compile("old retired")).wait_for()
    page.get_by_label("I am sure").check()
    page.get_by_role("button", name="Close the experiment").click()
    page.locator(".tag", has_text="closed").wait_for()
    assert page.get_by_role("button", name="Retire").count() == 0
    check_quiet(seen)


@pytest.mark.slow  # 5 s
def test_each_role_logs_in_and_sees_what_it_may(url: str, home: str, visit: Visitor) -> None:
    call(home, "/experiments", {"name": "shop", "arms": ["a", "b"], "policy": "kl-ucb-wr:budget=2"})
    texts = {role: key_with(url, role) for role in ("ask", "tell", "read", "admin")} | {
        "both": key_with(url, "read", "admin")
    }
    sleep(1.1)  # within a second the service knows that there are keys
    for role, text in texts.items():
        seen = visit(f"{home}/experiments/shop", home=home)
        page = seen.page
        assert page.url == f"{home}/login?next=/experiments/shop"
        log_in(page, text)
        if role in ("read", "both"):
            page.get_by_role("heading", name="No answers yet").wait_for()
            assert page.get_by_role("button", name="Retire").count() == (role == "both")
            check_quiet(seen)
        else:
            page.get_by_role("heading", name="This is not allowed").wait_for()
            assert not [each for each in seen.complaints if "403" not in each]  # the browser notes the status itself
        page.get_by_role("button", name="Log out").click()
        page.get_by_role("heading", name="Log in").wait_for()
        assert not page.context.cookies()


def dropped(page: Page, name: str, text: str) -> None:
    """Drop a file on the page, as from a folder."""
    page.evaluate(
        """([name, text]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], name, {type: "text/csv"}));
          const event = new DragEvent("drop", {dataTransfer: transfer, bubbles: true});
          document.getElementById("upload").dispatchEvent(event);
        }""",
        [name, text],
    )


def test_a_dropped_table_gets_its_certificate(home: str, visit: Visitor) -> None:
    seen = visit(f"{home}/certify", home=home)
    page = seen.page
    dropped(page, "ab.csv", "arm,views,clicks\nold,50000,600\nnew,50000,1000\n")
    wanted = "new beats every other arm unless at least 178 of the 100,000 events were altered."
    page.get_by_role("heading", name=wanted).wait_for(timeout=LONG)
    assert page.evaluate("document.activeElement.textContent") == wanted
    assert page.locator("#certificate svg:visible").count() == 1
    check_access(page)
    check_quiet(seen)
    dropped(page, "photo.png", "no table")
    page.locator("#progress", has_text="expected one that ends in .csv").wait_for(timeout=LONG)
    assert page.locator("#certificate").inner_text() == ""
    assert [each for each in seen.complaints if "422" not in each] == []


@pytest.fixture
def busy(home: str) -> str:
    """A service with an experiment to which much has happened, also strange things."""
    call(
        home,
        "/experiments",
        {"name": "headlines", "arms": ["old", "new", "a " + "long " * 20], "policy": "kl-ucb-wr:budget=3"},
    )
    for _ in range(5):
        play(home, "headlines", 100, best="new")
    forged = {"id": "0-00000000000000000000000000000000-0000000000000000", "reward": 1.0}
    for _ in range(3):
        call(home, "/experiments/headlines/tell", forged)
        sleep(0.6)
    call(home, "/experiments", {"name": "empty", "arms": ["only"], "policy": "ucb1"})
    return home


def pages_of(home: str) -> list[str]:
    return [f"{home}{path}" for path in ("/", "/new", "/experiments/headlines", "/experiments/empty", "/certify")]


def drawn(seen: Seen) -> Page:
    if "/experiments/" in seen.page.url:
        seen.page.wait_for_selector("#experiment[data-drawn]", timeout=LONG)
    return seen.page


def test_everybody_can_use_the_pages(busy: str, visit: Visitor) -> None:
    """axe-core finds nothing serious, in the light and in the dark; nothing is wider than a phone."""
    most = [busy, f"{busy}/experiments/headlines"]
    for dark, addresses in ((False, repeated(pages_of(busy), quick=most[1:])), (True, repeated(most, quick=most[:1]))):
        for address in addresses:
            seen = visit(address, home=busy, width=390, dark=dark)
            page = drawn(seen)
            if "headlines" in address:
                page.locator("summary", has_text="table").click()
                assert page.get_by_role("heading", name="Look at this").count() == 1
            check_access(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
            check_quiet(seen)


@pytest.mark.slow  # seven seconds
def test_the_pages_work_by_keyboard_alone(home: str, visit: Visitor) -> None:
    call(home, "/experiments", {"name": "shop", "arms": ["a", "b"], "policy": "ucb1"})
    page = visit(home, home=home).page
    press: Callable[[str], None] = page.keyboard.press
    press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(20):
        press("Tab")
        if page.evaluate("document.activeElement.textContent") == "shop":
            break
    press("Enter")
    page.get_by_role("heading", name="No answers yet").wait_for()
    page.get_by_label("Add an arm").focus()
    page.keyboard.type("c")
    press("Enter")
    page.get_by_role("row", name=re.compile("^c ")).wait_for()


@pytest.mark.slow  # eight seconds
def test_a_page_says_that_the_service_is_away_and_comes_back(url: str, visit: Visitor) -> None:
    with running(url) as home:
        call(home, "/experiments", {"name": "shop", "arms": ["a", "b"], "policy": "ucb1"})
        seen = visit(f"{home}/experiments/shop", home=home)
        drawn(seen)
    seen.page.get_by_text("No connection to the service").wait_for(timeout=LONG)


@pytest.mark.slow  # half a minute, and more on a busy machine
def test_all_pages_in_both_widths_and_colours(busy: str, visit: Visitor, tmp_path: Path) -> None:
    """The pictures are for looking at; pytest keeps them for the last three runs."""
    for width in (1280, 390):
        for dark in (False, True):
            for n, address in enumerate(pages_of(busy)):
                seen = visit(address, home=busy, width=width, dark=dark)
                page = drawn(seen)
                page.screenshot(path=tmp_path / f"{n}-{width}-{'dark' if dark else 'light'}.png", full_page=True)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, address
                check_access(page)
                check_quiet(seen)
