"""The changelog: what it says about moved modules and migrated skeletons is so."""

import re
from importlib import import_module
from pathlib import Path

from vambrace import __version__

ROOT = Path(__file__).parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SKELETONS = [(ROOT / f"docs/extend/{page}.md").read_text(encoding="utf-8") for page in ("policy", "attack")]


def test_every_released_version_has_a_section() -> None:
    titles = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert titles[0] == "Unreleased"
    assert "0.1.0" in titles
    assert ".dev" in __version__ or __version__ in titles


def test_modules_are_where_they_moved() -> None:
    rows = re.findall(r"^  \| `vambrace\.[^|]+\| (.+) \|$", CHANGELOG, re.MULTILINE)
    moved = [name for row in rows for name in re.findall(r"`(vambrace[\w.]*)`", row)]
    assert len(moved) > 10
    for name in moved:
        import_module(name)


def test_the_migrated_signatures_are_those_of_the_skeletons() -> None:
    """Lines that a diff adds, without blanks: a long signature may be broken."""
    added = re.findall(r"^  \+ *(def .+)$", CHANGELOG, re.MULTILINE)
    assert len(added) == 5
    pages = re.sub(r"\s", "", "".join(SKELETONS))
    for line in added:
        assert re.sub(r"\s", "", line) in pages, line
