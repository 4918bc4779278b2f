"""`vambrace reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from vambrace.cli import common
from vambrace.cli.status import print_status

EXAMPLES = ("vambrace reproduce", "vambrace reproduce --out results --data headlines=headlines.csv")


def command(
    out: Annotated[Path, common.option("DIR", "The folder of the results.")] = Path("out/reproduce"),
    workers: common.Workers = None,
    data: common.Data = None,
) -> None:
    """Run every suite of the paper and write one report.

    Plays only what is missing in the folder. Prints the path of the report. The exit code is 1 if cells failed.
    """
    from vambrace.paper.reproduce import reproduce

    found, path = reproduce(out, workers=workers, data=common.files(data))
    for status in found:
        print_status(status, as_json=False)
    typer.echo(path)
    if any(status.failed for status in found):
        raise typer.Exit(1)
