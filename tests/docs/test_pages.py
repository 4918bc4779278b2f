"""Every program that a page shows with its output prints exactly that output.

A page of `docs/` may hold a ```python block directly followed by a ```text block. The programs of a page run in one
namespace, in order, as a reader would type them. A ```python block without a ```text block is not run.
"""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LINES = r"(?:(?!```).*\n)*"  # of one block: none of them is a fence
SHOWN = re.compile(rf"^```python\n(?P<source>{LINES})```\n\s*```text\n(?P<output>{LINES})```$", re.MULTILINE)


class Program(NamedTuple):
    """What a page shows, and where."""

    source: str
    output: str
    line: int  # of the page, before the first line of the source


def programs(page: str) -> list[Program]:
    """The programs of a page that stand before their output."""
    return [
        Program(found["source"], found["output"], page.count("\n", 0, found.start("source")))
        for found in SHOWN.finditer(page)
    ]


def run(program: Program, name: str, namespace: dict[str, Any]) -> str:
    """What a program prints; a traceback shows the lines of the page."""
    printed = StringIO()
    code = compile("\n" * program.line + program.source, name, "exec")
    with redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


PAGES = {
    path.relative_to(DOCS).as_posix(): found
    for path in sorted(DOCS.rglob("*.md"))
    if (found := programs(path.read_text(encoding="utf-8")))
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page: str) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for program in PAGES[page]:
        assert run(program, str(DOCS / page), namespace) == program.output, f"docs/{page}, line {program.line + 1}"


def test_only_a_program_directly_before_its_output_runs() -> None:
    page = "# A\n```python\nx = 2\n```\n\n```text\n```\n```python\nf(x) -> y\n```\nwords\n```text\nnot an output\n```\n"
    page += "```python\nprint(x)\n```\n```text\n2\n```\n"
    assert programs(page) == [Program("x = 2\n", "", 2), Program("print(x)\n", "2\n", 15)]


def test_programs_of_a_page_share_names_and_tracebacks_name_its_lines() -> None:
    namespace: dict[str, Any] = {}
    assert run(Program("x = 2\n", "", 2), "page.md", namespace) == ""
    assert run(Program("print(x)\n", "2\n", 15), "page.md", namespace) == "2\n"
    with pytest.raises(ZeroDivisionError) as caught:
        run(Program("\n1 / 0\n", "", 20), "page.md", namespace)
    assert (caught.traceback[-1].lineno, str(caught.traceback[-1].path)[-7:]) == (21, "page.md")  # counted from zero
