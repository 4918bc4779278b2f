"""`vambrace certify`."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace import __version__
from vambrace.cli import certificates, common
from vambrace.cli.common import option
from vambrace.errors import InvalidParameter

EXAMPLES = (
    "vambrace certify test.csv",
    "vambrace certify log.csv --arm variant --reward bought --html page.html",
    "vambrace certify log.parquet --user visitor --time day",
    "vambrace certify orders.csv --reward paid --reward-range 0,5000 --unit EUR",
    "vambrace certify tests.csv --group test --design fixed --csv found.csv",
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
    html: Annotated[Path | None, option("FILE", "Write a page with figures and tables.")] = None,
    csv: Annotated[Path | None, option("FILE", "Write a table with one row for each test.")] = None,
    parquet: Annotated[Path | None, option("FILE", "Write the same table as Parquet.")] = None,
    as_json: common.Json = False,
) -> None:
    """Find how many fake events would overturn a finished test.

    A file has one row for each event (arm, reward) or one for each arm (arm, events, successes).
    """
    from vambrace import data
    from vambrace.audit.certificate import Certificate
    from vambrace.audit.certification import Certificates, certify

    for path, ending in ((html, ".html"), (csv, ".csv"), (parquet, ".parquet")):
        common.check_target(path, (ending,))
    ends = None if reward_range is None else common.numbers("reward_range", reward_range)
    options: dict[str, Any] = {"arm": arm, "reward": reward, "events": events, "successes": successes}
    options |= {"delta": delta, "threat": threat, "design": design, "reward_range": ends, "unit": unit}
    options |= {"user": user, "time": time, "drop": drop, "sheet": sheet, "sql": sql, "group": group}
    with ExitStack() as stack:
        sources = [stack.enter_context(_opened(each)) for each in files]
        answer = certify(sources, **options)
        found = Certificates({"": answer}) if isinstance(answer, Certificate) else answer
        notes = [*answer.notes, *_left_out(found)]
        if html is not None:
            from vambrace.report import certificates as page

            words: dict[str, Any] = {"source": data.title(sources), "command": _command(sources, options)}
            words |= {"made_by": f"vambrace {__version__}", "notes": notes}
            page.save(found, html, files=data.files(sources), many=group is not None, **words)
    certificates.write(found, csv, parquet)
    if as_json:
        every = [each.to_dict() for each in found.values()]
        tests = [{"test": test, **each} for test, each in zip(found, every, strict=True)]
        common.print_json(every[0] if group is None else tests)
    else:
        certificates.show(found, notes, many=group is not None)


def _left_out(found: Any) -> list[str]:
    """What must be said about tests that have one arm only."""
    if not found.left_out:
        return []
    n, first = len(found.left_out), found.left_out[0]
    names = f"{first!r} was" if n == 1 else f"{n:,} tests, the first of them {first!r}, were"
    return [f"{names} left out: only one arm."]


def _command(sources: list[Any], options: Mapping[str, Any]) -> str:
    """A command line that finds the same again."""
    from vambrace import data

    words = ["vambrace", "certify", *(data.title(each) for each in sources)]
    defaults = {"delta": 0.05, "threat": "alter", "design": "adaptive", "unit": ""}
    for name, value in options.items():
        if value == defaults.get(name):
            continue
        text = ",".join(f"{each:g}" for each in value) if name == "reward_range" else value
        words += [f"--{name.replace('_', '-')}={each}" for each in (text if isinstance(text, list) else [text])]
    return shlex.join(words)


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
