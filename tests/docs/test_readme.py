"""The README: its commands run, its links lead somewhere, and what it counts is so."""

import importlib
import re
import shlex
import sys
from pathlib import Path
from typing import NoReturn

import pytest

import vambrace as vb
from command_line import without_progress
from vambrace import cli, registry

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    words
    for block in re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    if "vambrace serve" not in block  # tests/docs/test_service.py runs it
    for line in block.splitlines()
    if (words := shlex.split(line, comments=True))
]
# These take a minute or more: as written with the slow tests, otherwise up to where the work begins.
SLOW = {
    "attack": "redteam.team.red_team",
    "break": "redteam.breakdown.breakdown",
    "choose": "redteam.choosing.choose",
    "leaderboard": "redteam.leaderboard.enter",
    "run": "lab.runner.run",
    "verify": "theory.verification.verify",
}
OURS = [words for words in COMMANDS if words[0] == "vambrace"]


class Reached(Exception):
    """The work was about to begin."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the examples, to fill."""
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer sets its own


def test_every_command_is_make_or_vambrace() -> None:
    assert {words[0] for words in COMMANDS} == {"make", "vambrace"}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for words in COMMANDS:
        if words[0] == "make":
            assert len(words) == 2
            assert words[1] in targets


@pytest.mark.parametrize(
    "words",
    [pytest.param(words, marks=[pytest.mark.slow] if words[1] in SLOW else [], id=words[1]) for words in OURS],
)
@pytest.mark.usefixtures("here")
def test_a_command_runs_as_written(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    told = capsys.readouterr()
    assert (stopped.value.code, without_progress(told.err)) == (0, "")
    assert told.out


@pytest.mark.parametrize("words", [words for words in OURS if words[1] in SLOW], ids=lambda words: words[1])
@pytest.mark.usefixtures("here")
def test_a_slow_command_is_understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def reach(*_: object, **__: object) -> NoReturn:
        raise Reached

    module, _, name = SLOW[words[1]].rpartition(".")
    monkeypatch.setattr(importlib.import_module(f"vambrace.{module}"), name, reach)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(Reached):
        cli.main()


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert (ROOT / link.partition("#")[0]).exists(), link


def test_everything_shipped_is_named_and_counted() -> None:
    for kind in ("policy", "adversary", "environment"):
        for thing in registry.known(kind).values():
            assert f"`{thing.__name__}`" in README or f"vb.{thing.__name__}(" in README
    assert f"| **{len(registry.known('adversary'))}** |" in README
    ten_lines = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[0].strip().splitlines()
    assert sum(bool(line) for line in ten_lines) == 10
    assert vb.__name__ in ten_lines[0]


def test_the_picture_shows_what_is_written_beside_it() -> None:
    picture = (ROOT / "docs" / "images" / "fake-events.svg").read_text(encoding="utf-8")
    (words,) = re.findall(r"^!\[([^\]]*)\]\(docs/images/fake-events\.svg\)$", README, re.MULTILINE)
    figures = re.findall(r"(?:to|at)\s([\d,]+\d)", words)
    assert len(figures) == 2
    for figure in figures:
        assert f">loses {figure}<" in picture
