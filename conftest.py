"""Fixed seeds everywhere: a test passes today exactly if it passes tomorrow. And a browser and a database.

It stands here and not in tests/ because the examples in src/ are tests too.
"""

import gc
import importlib

import pytest
from hypothesis import settings

from browser import chromium, visit  # noqa: F401 (fixtures)
from postgres import postgres_url, server, url  # noqa: F401

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules stay to the end: looking for garbage among them again and again takes time."""
    gc.collect()
    gc.freeze()


LONG = ("serve", "lab", "docs", "report", "live", "test_examples", "test_reproduce")  # files that start other programs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first: at the end short ones keep all workers busy."""
    items.sort(key=lambda item: not any(word in part for part in item.path.parts[-2:] for word in LONG))


@pytest.fixture(autouse=True)
def _examples_are_interpreted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The short games of docstrings take longer to compile than to play as plain Python; the numbers are the same."""
    if isinstance(request.node, pytest.DoctestItem):
        simulate = importlib.import_module("vambrace.engine.simulation").simulate
        monkeypatch.setitem(simulate.__kwdefaults__, "interpret", True)
