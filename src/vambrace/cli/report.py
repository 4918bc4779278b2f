"""`vambrace report`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from vambrace.cli import common

EXAMPLES = (
    "vambrace report out/poster",
    "vambrace report out/poster --style paper",
    "vambrace report out/reproduce --json",
)


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of `vambrace run`, or a folder of these.")],
    style: Annotated[
        str, common.option("STYLE", "Look of the figure files: screen, or paper (one column, labels, no title).")
    ] = "screen",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verdicts on the paper's claims as JSON; write nothing.")
    ] = False,
) -> None:
    """Write the report of finished experiments.

    The page is DIR/report.html. Beside it, for a paper: DIR/figures (each as SVG, PNG, PDF, and its data as CSV),
    DIR/tables (LaTeX, Markdown, CSV), and a methods paragraph (methods.md, methods.tex).
    """
    from vambrace.paper import reproduce
    from vambrace.report.style import style_named

    chosen = style_named(style)
    if as_json:
        typer.echo(json.dumps(reproduce.verdicts(folder), indent=2, ensure_ascii=False))
    else:
        typer.echo(reproduce.write(folder, style=chosen))
