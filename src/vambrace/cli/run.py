"""`vambrace run`."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace.cli import common
from vambrace.cli.status import duration, print_status

EXAMPLES = (
    "vambrace run mine.toml",
    "vambrace run mine.toml --dry-run",
    "vambrace run poster --out results/poster --workers 4",
    "vambrace run mine.toml --dask tcp://10.0.0.1:8786",
)


def command(
    experiment: Annotated[str, typer.Argument(metavar="FILE|SUITE", help="A TOML file, or a name such as poster.")],
    out: Annotated[Path | None, common.option("DIR", "The folder of the results; out/NAME by default.")] = None,
    workers: common.Workers = None,
    dask: Annotated[str | None, common.option("ADDRESS", "Use this Dask scheduler; local starts one here.")] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast/--keep-going", help="Stop at the first failed cell.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be played and kept; play nothing.")
    ] = False,
    data: common.Data = None,
    as_json: common.Json = False,
) -> None:
    """Run an experiment, or the part of it that is missing.

    An experiment is a grid of games; one point of the grid is a cell. If the file has changed, what still belongs to it
    is kept: more replications, policies or budgets are added. The exit code is 1 if cells failed.
    """
    from vambrace.lab.experiment import read
    from vambrace.lab.runner import run
    from vambrace.lab.store import Store
    from vambrace.paper.suites import find

    wanted = read(find(experiment), common.files(data))
    folder = Path("out") / wanted.name if out is None else out
    if dry_run:
        _print_forecast(folder, Store(folder).forecast(wanted), workers or os.cpu_count() or 1, as_json)
        return
    found = run(wanted, folder, workers=workers, dask=dask, fail_fast=fail_fast)
    print_status(found, as_json)
    if found.failed:
        raise typer.Exit(1)


def _print_forecast(folder: Path, found: Any, workers: int, as_json: bool) -> None:
    if as_json:
        common.print_json({"folder": str(folder)} | found.summary())
        return
    counts = {"to play": found.play, "to extend": found.extend, "kept": found.kept, "put aside": found.aside}
    parts = ", ".join(f"{len(cells):,} {what}" for what, cells in counts.items())
    typer.echo(f"{folder}: cells: {parts}; games to play: {found.games:,}")
    if found.games and found.seconds is None:
        typer.echo("How long it takes is not known: nothing has been played in this folder.")
    elif found.games:
        each = f", {duration(found.seconds / workers)} on {workers} processes" if workers > 1 else ""
        cells = f"{found.measured} measured cell{'s' if found.measured > 1 else ''}"
        typer.echo(f"About {duration(found.seconds)} of computing{each}, judged from {cells}.")
