"""`vambrace status`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace.cli import common

EXAMPLES = ("vambrace status out/poster",)


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `vambrace run` fills.")],
    as_json: common.Json = False,
) -> None:
    """Show which cells of a run are done, missing or failed, and why."""
    from vambrace.lab.store import Store

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


def duration(seconds: float) -> str:
    """A number of seconds as people say it."""
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"
