"""`vambrace run`."""

from pathlib import Path
from typing import Annotated

import typer

from vambrace.cli import common
from vambrace.cli.status import print_status

EXAMPLES = ("vambrace run mine.toml", "vambrace run poster --out results/poster --workers 4")


def command(
    experiment: Annotated[str, typer.Argument(metavar="FILE|SUITE", help="A TOML file, or a name such as poster.")],
    out: Annotated[Path | None, common.option("DIR", "The folder of the results; out/NAME by default.")] = None,
    workers: common.Workers = None,
    dask: Annotated[str | None, common.option("ADDRESS", "Use this Dask scheduler; local starts one here.")] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast/--keep-going", help="Stop at the first failed cell.")] = False,
    data: common.Data = None,
    as_json: common.Json = False,
) -> None:
    """Run an experiment, or the part of it that is missing.

    An experiment is a grid of games; one point of the grid is a cell. The exit code is 1 if cells failed.
    """
    from vambrace.lab.experiment import read
    from vambrace.lab.runner import run
    from vambrace.paper.suites import find

    wanted = read(find(experiment), common.files(data))
    folder = Path("out") / wanted.name if out is None else out
    found = run(wanted, folder, workers=workers, dask=dask, fail_fast=fail_fast)
    print_status(found, as_json)
    if found.failed:
        raise typer.Exit(1)
