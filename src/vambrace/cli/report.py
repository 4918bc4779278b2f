"""`vambrace report`."""

import json
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = ("vambrace report out/poster", "vambrace report out/reproduce --json")


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of `vambrace run`, or a folder of these.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verdicts on the paper's claims as JSON; write nothing.")
    ] = False,
) -> None:
    """Write the report of finished experiments.

    The page is DIR/report.html; its figures are in DIR/figures as SVG, PNG and PDF.
    """
    from vambrace.paper import reproduce

    if as_json:
        typer.echo(json.dumps(reproduce.verdicts(folder), indent=2, ensure_ascii=False))
    else:
        typer.echo(reproduce.write(folder))
