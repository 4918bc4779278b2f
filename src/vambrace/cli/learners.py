"""`vambrace learners`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vambrace import validation
from vambrace.cli import common
from vambrace.errors import InvalidParameter, JournalError

if TYPE_CHECKING:
    from vambrace.live.core import Core

ACTIONS = ("list", "show", "check", "export")
EXAMPLES = (
    "vambrace learners list sqlite:///shop.db",
    "vambrace learners show postgresql://shop@localhost/shop headlines",
    "vambrace learners check sqlite:///shop.db headlines",
    "vambrace learners export sqlite:///shop.db headlines --to log.csv",
)


def command(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="list, show, check or export.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="sqlite:///FILE or postgresql://USER@HOST/DATABASE.")],
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The learner; all of them by default.")] = None,
    to: Annotated[Path | None, common.option("FILE", "Where export writes: .csv, .parquet or .ndjson.")] = None,
    as_json: common.Json = False,
) -> None:
    """Look into a database of learners, check it, and export it.

    list: names, policies and sizes. show: what a learner knows of each arm. check: replay the journal from its first
    event and compare, bit for bit, with the snapshot and the live state. export: a log that certify reads.
    """
    from vambrace.live import sql

    validation.choice("action", action, ACTIONS)
    if (action == "export") != (to is not None):
        raise InvalidParameter(f"to: expected a file with export, and only there, got {to and str(to)!r} with {action}")
    database = sql.open_database(url, create=False)
    names = sql.learners(database) if name is None else [name]
    database.close()
    if action in ("show", "export") and name is None:
        raise InvalidParameter(f"name: expected a learner ({', '.join(names) or 'there is none'}), got none")
    if action == "list":
        _list(url, names, as_json)
    elif action == "check":
        _check(url, names, as_json)
    elif action == "show":
        _show(url, names[0], as_json)
    else:
        _export(url, names[0], to or Path(), as_json)


def _list(url: str, names: list[str], as_json: bool) -> None:
    found = []
    for name in names:
        core, number = _loaded(url, name)
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(core.time)) if number > 1 else ""
        sizes = {"arms": len(core.arms), "decisions": core.asked, "open": len(core.open), "events": number}
        found.append({"name": name, "policy": core.settings.to_dict()["policy"]} | sizes | {"last_event": when})
    if as_json:
        common.print_json(found)
        return
    columns = ("name", "policy", "arms", "decisions", "open", "events", "last event (UTC)")
    common.print_table("", columns, [[_cell(value) for value in each.values()] for each in found])


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _loaded(url: str, name: str) -> "tuple[Core, int]":
    from vambrace.live.fold import Fold
    from vambrace.live.sql import open_journal

    journal = open_journal(url, name, create=False)
    fold = Fold(journal)
    try:
        return fold.load(), fold.number
    finally:
        journal.close()


def _show(url: str, name: str, as_json: bool) -> None:
    from vambrace.live.explanation import explained

    found = explained(_loaded(url, name)[0])
    if as_json:
        common.print_json({"name": name} | found.to_dict())
    else:
        typer.echo("\n".join(map(common.visible, str(found).splitlines())))


def _check(url: str, names: list[str], as_json: bool) -> None:
    from vambrace.live.checking import check
    from vambrace.live.sql import open_journal

    found = []
    for name in names:
        journal = open_journal(url, name, create=False)
        found.append({"name": name} | check(journal))
        journal.close()
    if as_json:
        common.print_json(found)
    for each in () if as_json else found:
        said = f"{each['events']:,} events replayed; {each['difference'] or 'the same state, bit for bit'}"
        typer.echo(f"{each['name']}: {said}")
    wrong = [each["name"] for each in found if each["difference"]]
    if wrong:
        raise JournalError(
            f"journal: expected replay and live state to be equal, got a difference in {', '.join(wrong)}"
        )


def _export(url: str, name: str, to: Path, as_json: bool) -> None:
    from vambrace.live import export
    from vambrace.live.sql import open_journal

    common.check_target(to, export.ENDINGS)
    journal = open_journal(url, name, create=False)
    written = export.save(journal, to)
    journal.close()
    if as_json:
        common.print_json({"name": name, "rows": written, "file": str(to)})
    else:
        typer.echo(f"{written:,} answered decisions written to {to}")
