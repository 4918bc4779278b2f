"""What `vambrace certify` prints and writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vambrace.cli import common
from vambrace.files import whole_file

if TYPE_CHECKING:
    from vambrace.audit.certification import Certificates

MOST_ROWS = 50  # of a table
MOST_STEPS = 20
MOST_NAMES = 5  # in a cell


def write(found: "Certificates", csv: Path | None, parquet: Path | None) -> None:
    """Write a table with one row for each test, whole or not at all."""
    for path, write in ((csv, "write_csv"), (parquet, "write_parquet")):
        if path is not None:
            with whole_file(path) as unfinished:
                getattr(found.to_frame(), write)(unfinished)


def show(found: "Certificates", notes: Sequence[str], *, many: bool) -> None:
    """Print the certificate, or a summary of many, with notes on how the log was read."""
    from vambrace.audit import tables
    from vambrace.audit.certification import standing

    one = next(iter(found.values()))
    n_certified = standing(found.values(), 0)
    said = [f"{len(found):,} tests, {n_certified:,} with a certified winner."] if many else one.sentences()
    parameters = f"threat {one.threat}, design {one.design}, delta {one.delta:g}"
    for text in (*said, parameters, f"columns: {tables.columns_used(one.columns)}", *notes):
        common.print_note(text)
    typer.echo()
    if many:
        common.print_table("winners that stand", tables.STANDS, tables.stands(found.values()))
        some = f", {MOST_ROWS} of {n_certified:,}" if n_certified > MOST_ROWS else ""
        rows = tables.tests(found)[:MOST_ROWS]
        common.print_table(f"certified winners{some}", tables.TESTS, rows, widest=common.PAGE)
        return
    n_arms = 1 + len(one.rivals)
    others = f", the {MOST_ROWS - 1} closest of {n_arms:,}" if n_arms > MOST_ROWS else ""
    common.print_table(
        f"the winner and its rivals{others}", tables.ARMS, tables.arms(one, MOST_ROWS), widest=common.PAGE
    )
    common.print_table(
        "arms that may be best", tables.STEPS, tables.steps(one, MOST_NAMES)[:MOST_STEPS], widest=common.PAGE
    )
    if one.over_time:
        common.print_table("as the log grew", tables.MOMENTS, tables.moments(one, MOST_STEPS), widest=common.PAGE)
