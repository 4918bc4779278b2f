"""`vambrace status`."""

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace.cli import common

EXAMPLES = ("vambrace status out/poster", "vambrace status out/poster --watch")
TERMINAL, LOG = 1.0, 10.0  # seconds between two looks, by who reads
MOST_WORKERS = 20  # lines


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `vambrace run` fills.")],
    watch: Annotated[bool, typer.Option("--watch", help="Show how a run is going, until it ends.")] = False,
    as_json: common.Json = False,
) -> None:
    """Show which cells are done, missing or failed, and why.

    With --watch: cells done and failed, by each worker, and the time that is left.
    """
    from vambrace.lab.store import Store

    if watch:
        _watch(folder)
    print_status(Store(folder).status(), as_json)


def print_status(found: Any, as_json: bool) -> None:
    """Print what a folder holds."""
    if as_json:
        common.print_json(found.summary())
        return
    for title, cells in (("failed", found.failed), ("damaged", found.damaged)):
        for name, reason in cells.items():
            typer.echo(f"{title}: {name}: {reason}")
    for name in found.unknown:
        typer.echo(f"unknown: {name}")
    names = ("done", "incomplete", "missing", "failed", "damaged")
    counts = {name: getattr(found, name) for name in names}
    parts = ", ".join(f"{len(cells)} {title}" for title, cells in counts.items() if cells or title == "done")
    running = f"; in use by {found.running}" if found.running else ""
    typer.echo(f"{found.name}: {parts} of {found.total} cells in {found.folder}{running}")
    if found.aside:
        cells = f"{len(found.aside)} finished cell{'s' if len(found.aside) > 1 else ''}"
        typer.echo(f"aside: {cells} that the experiment no longer has, in {found.folder / 'aside'}")


def _watch(folder: Path) -> None:
    """Print how a run is going until it ends: in place on a terminal, otherwise line by line."""
    from vambrace.lab.tally import going

    terminal, shown = sys.stdout.isatty(), 0
    while (now := going(folder)) is not None:
        lines = _lines(now) if now else []
        if terminal:
            typer.echo("".join(["\x1b[F\x1b[K" * shown, *(f"{common.visible(line)}\n" for line in lines)]), nl=False)
            shown = len(lines)
        elif lines:
            typer.echo("; ".join(map(common.visible, lines)))
        time.sleep(TERMINAL if terminal else LOG)


def _lines(now: dict[str, Any]) -> list[str]:
    left = "" if now["left"] is None else f", about {duration(now['left'])} left"
    counts = f"{now['done']:,} done, {now['failed']:,} failed of {now['cells']:,} cells"
    lines = [f"{now['experiment']}: {counts}; {duration(now['elapsed'])} so far{left}"]
    ranked = sorted(now["workers"].items(), key=lambda each: -each[1]["done"])
    for name, own in ranked[:MOST_WORKERS]:
        lines.append(
            f"  {name}: {own['done']:,} done, {own['failed']:,} failed, {duration(own['seconds'])} of computing"
        )
    return lines + ([f"  and {len(ranked) - MOST_WORKERS} more workers"] if len(ranked) > MOST_WORKERS else [])


def duration(seconds: float) -> str:
    """A number of seconds as people say it."""
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"
