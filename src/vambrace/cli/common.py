"""What several commands share: options, numbers as people write them, and tables."""

import json
import os
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace import own_code
from vambrace.errors import InvalidParameter
from vambrace.parameters import Kind
from vambrace.protocols import Environment

PAGE = 80  # columns
NARROWEST = 30  # columns of a wrapped cell
WIDEST = 200  # columns of a table where nobody says how many there are: in a pipe or a file


def option(metavar: str, help: str, *names: str) -> Any:  # noqa: A002
    """An option, with what stands for its value in the help text."""
    return typer.Option(*names, metavar=metavar, help=help)


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Means = Annotated[str | None, option("NUMBERS", "Means of Bernoulli arms, such as 0.9,0.8,0.7.")]
Env = Annotated[str | None, option("ARMS", "Arms of another kind, such as beta:means=0.9/0.8.")]
Horizon = Annotated[str, option("NUMBER", "Rounds per game (1e6 is accepted).")]
Replications = Annotated[str, option("NUMBER", "Games, each with random numbers of its own.")]
Seed = Annotated[str, option("NUMBER", "The same seed gives the same figures.")]
Unbounded = Annotated[bool, typer.Option("--unbounded", help="Let altered rewards leave [0, 1].")]
Threads = Annotated[int | None, option("NUMBER", "Games played at the same time; one per core by default.")]
Goal = Annotated[str, option("GOAL", "loss 50%, arm 4 90%, best 10% or regret 5000: what the attacker wants.")]
Effort = Annotated[str, option("EFFORT", "quick, standard or thorough: how long to search.")]
Workers = Annotated[int | None, option("NUMBER", "Processes; one per core by default.")]
Data = Annotated[list[str] | None, option("NAME=FILE", "A file that the experiment asks for; may be repeated.")]


def whole(**texts: str) -> dict[str, Any]:
    """The values of options that are whole numbers, such as 1000 or 1e6, by name."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            number = int(text) if text.lstrip("+-").isdigit() else float(text)
            found[name] = int(number)
            if found[name] != number:
                raise ValueError
        except (ValueError, OverflowError):
            raise InvalidParameter(f"{name}: expected a whole number such as 1000 or 1e6, got {text!r}") from None
    return found


def numbers(name: str, text: str) -> list[float]:
    """Numbers with commas between them."""
    return [Kind(float).parse(name, each) for each in text.split(",")]


def environment(means: str | None, env: str | None) -> Environment:
    """The arms of --means or --env."""
    if (means is None) == (env is None):
        came = "neither" if means is None else "both"
        raise InvalidParameter(f"environment: expected either --means 0.9,0.8 or --env NAME:means=0.9/0.8, got {came}")
    return own_code.environment(f"bernoulli:means={(means or '').replace(',', '/')}" if env is None else env)


def games(result: Any, *more: str) -> str:
    """What the title of a table says about the games, with what must be said about the arms."""
    times = f"{result.replications:,} replication{'s' if result.replications > 1 else ''}"
    return ", ".join(filter(None, [f"{result.horizon:,} rounds", times, *more, result.environment.note]))


def files(given: list[str] | None) -> dict[str, Path]:
    """The files of --data by name."""
    found = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or not path:
            raise InvalidParameter(f"data: expected NAME=FILE, got {text!r}")
        found[name] = Path(path)
    return found


def check_target(path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse a file of unknown format or in a place that cannot be written before the work, not after it."""
    if path is None:
        return
    if path.suffix not in endings:
        raise InvalidParameter(f"file: expected a name ending in {' or '.join(endings)}, got {str(path)!r}")
    if path.is_dir():
        raise InvalidParameter(f"file: expected a file, got the folder {str(path)!r}")
    there = next(folder for folder in path.absolute().parents if folder.exists())  # missing folders are made at the end
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InvalidParameter(f"file: expected a folder that can be written, got {str(there)!r}")


def print_json(value: Any) -> None:
    """Print for programs."""
    typer.echo(json.dumps(value, indent=2))


def visible(text: str) -> str:
    """The text without the power over a terminal that the names of strangers may have."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, widest: int = WIDEST) -> None:
    """Print a table; where it is too wide, with a wrapped last column or the cells of each row below each other."""
    from rich.cells import cell_len  # some signs take two columns

    lines = [[*columns], *([visible(cell) for cell in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    indent = sum(widths[:-1]) + 2 * len(widths) - 2
    room = shutil.get_terminal_size((widest, 24)).columns - indent
    if widths[-1] > room < NARROWEST:
        print_records(title, columns, lines[1:])
        return
    widths[-1] = min(widths[-1], room)
    lines.insert(1, ["─" * width for width in widths])
    _print_title(title)
    for line in lines:
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths[:-1], strict=False)]
        last = textwrap.wrap(line[-1], room) if cell_len(line[-1]) > room else [line[-1]]
        typer.echo("  ".join([*padded, f"\n{' ' * indent}".join(last)]).rstrip())
    typer.echo()


def print_records(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print the first cell of each row, and below it the others with their headings, in eighty columns."""
    _print_title(title)
    width = max(map(len, columns[1:]))
    for row in rows:
        typer.echo(visible(row[0]))
        for heading, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                first, rest = f"    {heading:<{width}}  ", " " * (width + 6)
                typer.echo(textwrap.fill(visible(cell), PAGE, initial_indent=first, subsequent_indent=rest))
    typer.echo()


def print_note(text: str) -> None:
    """Print a sentence in eighty columns."""
    typer.echo(textwrap.fill(visible(text), PAGE, break_on_hyphens=False))


def _print_title(title: str) -> None:
    if title:
        typer.secho(f"{textwrap.fill(visible(title), PAGE)}\n", bold=True)
