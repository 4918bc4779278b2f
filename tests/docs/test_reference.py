"""What the code writes into the documentation is what it would write today, and says all there is to say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import docstring_markdown
import pages
import reference
import rooms
import speed
import vambrace as vb
from vambrace import registry, theory

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_command_line_page_is_up_to_date() -> None:
    assert (DOCS / "reference/cli.md").read_text(encoding="utf-8") == reference.command_line(), "run make docs"


@pytest.mark.parametrize("command", ["", "simulate", "certify"])
def test_the_command_line_page_has_what_help_prints(command: str) -> None:
    shown = re.search(rf"#{command or 'vambrace'} }}\n\n```text\n(.*?)\n```", reference.command_line(), re.DOTALL)
    run = "import sys; sys.argv[0] = 'vambrace'; from vambrace.cli import main; main()"
    printed = subprocess.run(
        [sys.executable, "-c", run, *command.split(), "--help"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    assert printed.returncode == 0
    assert shown is not None
    assert shown[1] == printed.stdout.rstrip()


@pytest.mark.parametrize("page", ["index.md", "theory.md", "design.md"])
def test_tables_between_marks_are_up_to_date(page: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == reference.filled(DOCS)[DOCS / page], "run make docs"


def test_the_overview_is_the_one_that_is_shipped() -> None:
    assert (DOCS / "images/overview.svg").read_bytes() == reference.OVERVIEW.read_bytes()


def test_the_drawing_has_every_room() -> None:
    drawn = (DOCS / "images/rooms.svg").read_text(encoding="utf-8")
    assert drawn == rooms.drawing(), "run make docs"
    named = [name for layer in rooms.layers() for name in layer]
    assert re.findall(r'font-weight="600" fill="#[0-9a-f]{6}">([\w.]+)</text>', drawn) == named
    assert len(named) > 20
    assert {*rooms.LABELS} <= {*named}


def test_every_public_name_is_described_once() -> None:
    described = [name for page in reference.PAGES for name in reference.names_of(page)]
    assert sorted(described) == sorted(reference.public())
    assert {f"vambrace.{name}" for name in vb.__all__} <= {*described}
    assert {f"vambrace.theory.{name}" for name in theory.__all__} <= {*described}


def test_a_page_names_a_class_and_the_module_that_explains_it() -> None:
    page = reference.api("policies")
    assert re.findall(r"^::: vambrace\.(?:Policy|SE|SEWR|policies\.se_wr)$", page, re.MULTILINE) == [
        "::: vambrace.Policy",
        "::: vambrace.SE",
        "::: vambrace.policies.se_wr",
        "::: vambrace.SEWR",
    ]
    assert page.count("'!^init$'") == page.count("::: vambrace.") - page.count("members: false") - 1


def test_every_registered_name_is_in_the_tables() -> None:
    tables = reference.tables()
    for kind in ("policy", "adversary", "environment"):
        for name, thing in registry.known(kind).items():
            assert f"| [{name}](" in tables
            assert f"#vambrace.{thing.__name__})" in tables


def test_the_tables_say_who_leaps() -> None:
    assert all(map(reference.leaps, (vb.SEWR, vb.PEWR, vb.Conceal, vb.PhaseBurst, vb.Bernoulli, vb.Replay)))
    assert not any(map(reference.leaps, (vb.UCB1, vb.MSSEWR, vb.Invert, vb.ACE, vb.Beta)))


def test_a_docstring_becomes_markdown() -> None:
    text = """First line, with `E6`, E6 and ``E7``, see docs/leap.md.

Setting     rewards in [0, 1]
            and more
Guarantee   none

>>> 1 + 1
2
>>> for i in ():
...     pass

Afterwards.
"""
    assert docstring_markdown.markdown(text).split("\n\n") == [
        "First line, with `E6`, [E6](../errata.md#e6) and ``E7``, see [docs/leap.md](../leap.md).",
        "- **Setting:** rewards in [0, 1]\n            and more\n- **Guarantee:** none",
        "```pycon\n>>> 1 + 1\n2\n>>> for i in ():\n...     pass\n```",
        "Afterwards.\n",
    ]


def test_a_cell_of_a_table_keeps_its_signs() -> None:
    assert reference.cell("r* and a_b < c | d, `a_b | c` (E6)") == (
        r"r\* and a\_b &lt; c &#124; d, `a_b | c` ([E6](../errata.md#e6))"
    )


def test_a_page_without_its_marks_is_refused() -> None:
    page = "a\n<!-- x: written by the code -->\nold\n<!-- end of x -->\nb\n"
    filled = pages.between(page, "x", "new")
    assert filled == "a\n<!-- x: written by the code -->\n\nnew\n\n<!-- end of x -->\nb\n"
    assert pages.between(filled, "x", "new") == filled
    with pytest.raises(ValueError, match="expected"):
        pages.between("a\n", "x", "new")


def test_measured_tables_go_into_the_page_of_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "benchmarks.md").write_text((DOCS / "benchmarks.md").read_text(encoding="utf-8"), encoding="utf-8")
    for name in speed.MARKS:
        (tmp_path / f"{name}.md").write_text(f"| {name} |\n|---|\n| 1 |\n", encoding="utf-8")
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["speed.py", str(tmp_path)])
    speed.main()
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "<!-- bench: written by the code -->\n\n| bench |\n|---|\n| 1 |\n\n<!-- end of bench -->" in page
    assert "| leap |" in page
    assert "has not been run" not in page
