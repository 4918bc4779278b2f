"""`vambrace certify`."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace import __version__
from vambrace.cli import common
from vambrace.cli.common import option
from vambrace.errors import InvalidParameter

MOST_ARMS = 50  # in a table
EXAMPLES = (
    "vambrace certify test.csv",
    "vambrace certify log.csv --arm variant --reward bought --html page.html",
    "vambrace certify tests.csv --group test --design fixed",
    "vambrace certify shop.db --sql 'SELECT variant, converted FROM visits'",
    "zcat log.csv.gz | vambrace certify -",
)


def command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="CSV, JSON, Parquet, Excel, a database; - is stdin.")
    ],
    arm: Annotated[str | None, option("COLUMN", "The arm; columns are found by their names by default.")] = None,
    reward: Annotated[str | None, option("COLUMN", "The reward, in a log of events.")] = None,
    events: Annotated[str | None, option("COLUMN", "The number of events, in a table of arms.")] = None,
    successes: Annotated[str | None, option("COLUMN", "The number of successes, in a table of arms.")] = None,
    delta: Annotated[float, option("NUMBER", "The chance that the certificate is wrong.")] = 0.05,
    threat: Annotated[str, option("THREAT", "What was done to events: alter, inject or suppress.")] = "alter",
    design: Annotated[str, option("DESIGN", "adaptive (a bandit, or several looks) or fixed (one look).")] = "adaptive",
    reward_range: Annotated[str | None, option("LOW,HIGH", "The possible rewards, if not 0 to 1.")] = None,
    unit: Annotated[str, option("NAME", "What rewards are counted in, such as EUR.")] = "",
    group: Annotated[str | None, option("COLUMN", "The test, in a file of many tests: certify each.")] = None,
    user: Annotated[str | None, option("COLUMN", "The person: count one event for each.")] = None,
    time: Annotated[str | None, option("COLUMN", "The time: numbers, or dates such as 2026-01-31 13:45.")] = None,
    drop: Annotated[list[str] | None, option("ARM", "Leave out an arm, such as Total; may be repeated.")] = None,
    sheet: Annotated[str | None, option("NAME", "The sheet, in an Excel file with several.")] = None,
    sql: Annotated[str | None, option("QUERY", "The query, in a database.")] = None,
    html: Annotated[Path | None, option("FILE", "Write a page with a figure and tables.")] = None,
    as_json: common.Json = False,
) -> None:
    """Find how many fake events would overturn the winner of a test.

    A file has one row for each event (arm, reward) or one for each arm (arm, events, successes).
    """
    from vambrace import data
    from vambrace.audit.certificate import Certificate
    from vambrace.audit.certification import certify

    common.check_target(html, (".html",))
    ends = None if reward_range is None else common.numbers("reward_range", reward_range)
    options: dict[str, Any] = {"arm": arm, "reward": reward, "events": events, "successes": successes}
    options |= {"delta": delta, "threat": threat, "design": design, "reward_range": ends, "unit": unit}
    options |= {"user": user, "time": time, "drop": drop, "sheet": sheet, "sql": sql}
    with ExitStack() as stack:
        sources = [stack.enter_context(_opened(each)) for each in files]
        source = data.title(sources)
        answer = certify(sources, **options, group=group)
    found = {"": answer} if isinstance(answer, Certificate) else answer
    notes = [*answer.notes, *_notes(() if isinstance(answer, Certificate) else answer.left_out)]
    if html is not None:
        from vambrace.report import certificates as page

        page.save(found, html, source=source, made_by=f"vambrace {__version__}", notes=notes, many=group is not None)
    if as_json:
        every = [each.to_dict() for each in found.values()]
        tests = [{"test": test, **each} for test, each in zip(found, every, strict=True)]
        common.print_json(every[0] if group is None else tests)
        return
    _print_found(found, group is not None)
    for note in notes:
        common.print_note(note)


def _notes(left_out: tuple[str, ...]) -> list[str]:
    notes = []
    if left_out:
        notes.append(f"{len(left_out):,} left out, with one arm only, the first of them {left_out[0]!r}.")
    return notes


def _print_found(found: Mapping[str, Any], many: bool) -> None:
    from vambrace.audit import tables
    from vambrace.audit.certification import standing

    one = next(iter(found.values()))
    parameters = f"threat {one.threat}, design {one.design}, delta {one.delta:g}"
    parameters += f"\ncolumns: {common.visible(tables.columns_used(one.columns))}"
    if many:
        typer.echo(f"{len(found):,} tests, {standing(found.values(), 0):,} with a certified winner.\n{parameters}\n")
        common.print_table("", tables.STANDS, tables.stands(found.values()))
        return
    typer.echo("\n".join(common.visible(each) for each in one.sentences()) + f"\n{parameters}\n")
    n_arms = 1 + len(one.rivals)
    others = f", the {MOST_ARMS - 1} closest of {n_arms:,}" if n_arms > MOST_ARMS else ""
    common.print_table(f"the winner and its rivals{others}", tables.ARMS, tables.arms(one, MOST_ARMS))
    common.print_table("arms that may be best", tables.STEPS, tables.steps(one)[:MOST_ARMS])


@contextmanager
def _opened(name: str) -> Iterator[Any]:
    """The name of a file; a copy of standard input, or of a pipe such as the shell's <(...)."""
    from vambrace import data

    if name == "-" and sys.stdin is None:
        raise InvalidParameter("standard input: expected a log, got a closed stream")
    elif name == "-":
        with data.spooled(sys.stdin.buffer, "standard input") as spooled:
            yield spooled
    elif Path(name).is_fifo():
        with open(name, "rb") as file, data.spooled(file, name) as spooled:
            yield spooled
    else:
        yield name
