"""Every program and every command that a page shows with its output prints exactly that output.

The README or a page of `docs/` may hold a ```python or a ```sh block directly followed by a ```text block. The blocks
of a page run in order in one folder, the programs in one namespace, as a reader would paste them. A block without a
```text block is not run, except for programs of `docs/start`, which then print nothing.

`make docs` runs these tests, and so does CI; `make test` does not, since programs of pages take long.

    python tests/docs/test_pages.py docs/start/live.md      writes the outputs of a page anew; then look at the change
"""

import os
import re
import shutil
import subprocess
import sys
from codeop import compile_command
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
LINES = r"(?:(?!```).*\n)*"  # of one block: none of them is a fence
SHOWN = re.compile(
    rf"^```(?P<language>python|sh)\n(?P<source>{LINES})```$(?:\n\s*^```text\n(?P<output>{LINES})```$)?", re.MULTILINE
)


class Block(NamedTuple):
    """What a page shows, and where."""

    language: str
    source: str
    output: str
    line: int  # of the page, before the first line of the source


def shown(page: str, *, every_program: bool = False) -> list[re.Match[str]]:
    """Where the blocks of a page stand before their output, and, where that is asked for, programs without any."""
    return [
        found
        for found in SHOWN.finditer(page)
        if found["output"] is not None or (every_program and found["language"] == "python")
    ]


def blocks(page: str, *, every_program: bool = False) -> list[Block]:
    """The same as blocks."""
    return [
        Block(found["language"], found["source"], found["output"] or "", page.count("\n", 0, found.start("source")))
        for found in shown(page, every_program=every_program)
    ]


def run_program(block: Block, name: str, namespace: dict[str, Any]) -> str:
    """What a program prints; a traceback shows the lines of the page."""
    printed = StringIO()
    code = compile("\n" * block.line + block.source, name, "exec")
    with redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_commands(block: Block, command: Path) -> str:
    """What commands print in a shell that knows `vambrace`, errors included, without the blanks that tables end in."""
    from command_line import without_progress  # tests/ is not on the path yet where this file is the program

    found = {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PATH": f"{command}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["bash", "-c", block.source],
        env=os.environ | found,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
    )
    return "\n".join(line.rstrip() for line in without_progress(done.stdout).rstrip().splitlines()) + "\n"


def make_command(folder: Path) -> Path:
    """Put the command `vambrace` of this tree into a folder."""
    script = folder / "vambrace"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vambrace.cli "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return folder


def outputs(page: str, command: Path) -> Iterator[str]:
    """What each block of a page prints, in the present folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in PAGES[page]:
        if block.language == "sh":
            yield run_commands(block, command)
        else:
            yield run_program(block, str(ROOT / page), namespace)


def write(page: str) -> None:
    """Write below the blocks of a page what they print."""
    text = (ROOT / page).read_text(encoding="utf-8")
    with TemporaryDirectory() as folder, chdir(folder):
        printed = list(outputs(page, make_command(Path(folder))))
    for found, output in reversed([*zip(shown(text, every_program=in_full(page)), printed, strict=True)]):
        if found["output"] is not None:
            text = text[: found.start("output")] + output + text[found.end("output") :]
    (ROOT / page).write_text(text, encoding="utf-8")


def in_full(page: str) -> bool:
    """Whether every program of a page runs."""
    return page.startswith("docs/start/")


PAGES = {
    page: found
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in [path.relative_to(ROOT).as_posix()]
    if (found := blocks(path.read_text(encoding="utf-8"), every_program=in_full(page)))
}


@pytest.fixture
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command `vambrace` of this tree."""
    return make_command(tmp_path_factory.mktemp("bin"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Path) -> None:
    if any(block.language == "sh" for block in PAGES[page]) and not shutil.which("bash"):
        pytest.skip("no bash to run its commands in")
    monkeypatch.chdir(tmp_path)
    for block, printed in zip(PAGES[page], outputs(page, command), strict=True):
        assert printed == block.output, f"{page}, line {block.line + 1}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(("docs/start/", "README"))])
def test_programs_can_be_pasted_into_the_interpreter(page: str) -> None:
    """Which takes a blank line for the end of a statement, and needs one there."""
    for block in PAGES[page]:
        if block.language == "python":
            waiting: list[str] = []
            for line in [*block.source.splitlines(), ""]:
                waiting.append(line)
                if compile_command("\n".join(waiting), f"{page}, line {block.line + 1}") is not None:
                    waiting = []
            assert not any(waiting), f"{page}, line {block.line + 1}"


def test_only_a_block_directly_before_its_output_runs() -> None:
    page = "# A\n```python\nx = 2\n```\n\n```text\n```\n```python\nf(x) -> y\n```\nwords\n```text\nnot an output\n```\n"
    page += "```python\nprint(x)\n```\n```text\n2\n```\n```sh\nmake test\n```\n\n```sh\nls\n```\n\n```text\na\n```\n"
    expected = [("python", "x = 2\n", "", 2), ("python", "print(x)\n", "2\n", 15), ("sh", "ls\n", "a\n", 25)]
    assert blocks(page) == [Block(*each) for each in expected]
    assert blocks(page, every_program=True) == sorted(
        [Block(*each) for each in expected] + [Block("python", "f(x) -> y\n", "", 8)], key=lambda block: block.line
    )


def test_programs_of_a_page_share_names_and_tracebacks_name_its_lines() -> None:
    namespace: dict[str, Any] = {}
    assert run_program(Block("python", "x = 2\n", "", 2), "page.md", namespace) == ""
    assert run_program(Block("python", "print(x)\n", "2\n", 15), "page.md", namespace) == "2\n"
    with pytest.raises(ZeroDivisionError) as caught:
        run_program(Block("python", "\n1 / 0\n", "", 20), "page.md", namespace)
    assert (caught.traceback[-1].lineno, str(caught.traceback[-1].path)[-7:]) == (21, "page.md")  # counted from zero


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_commands_find_vambrace_and_show_what_it_says(command: Path) -> None:
    from vambrace import __version__

    source = "vambrace --version\nvambrace lst || echo no $?\n"
    error = "vambrace: error: No such command 'lst'. Did you mean 'list'?"
    assert run_commands(Block("sh", source, "", 0), command) == f"{__version__}\n{error}\nno 2\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    for each in sys.argv[1:]:
        write(Path(each).resolve().relative_to(ROOT).as_posix())
