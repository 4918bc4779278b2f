"""`vambrace keys`."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from vambrace import validation
from vambrace.cli import common
from vambrace.cli.common import option
from vambrace.errors import InvalidParameter

if TYPE_CHECKING:
    from vambrace.live.sql import Database
    from vambrace.serve.keys import Key

ACTIONS = ("create", "list", "revoke", "rotate", "log")
DAY = 86_400.0
EXAMPLES = (
    "vambrace keys create shop --role ask --role tell --days 365",
    "vambrace keys create collector --role tell --experiment headlines",
    "vambrace keys list --db postgresql://shop@localhost/shop",
    "vambrace keys rotate 1f2e3d4c --overlap 7",
    "vambrace keys revoke 1f2e3d4c",
    "vambrace keys log",
)


def command(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="create, list, revoke, rotate or log.")],
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The name of a new key, or an id.")] = None,
    db: Annotated[str, option("URL", "sqlite:///FILE or postgresql://USER@HOST/DATABASE.")] = "sqlite:///vambrace.db",
    roles: Annotated[list[str] | None, option("ROLE", "ask, tell, read or admin; may be repeated.", "--role")] = None,
    experiments: Annotated[
        list[str] | None, option("NAME", "Only this experiment; may be repeated.", "--experiment")
    ] = None,
    days: Annotated[float | None, option("NUMBER", "A new key is valid for this long; for ever by default.")] = None,
    overlap: Annotated[float, option("NUMBER", "With rotate: days for which the old key is valid too.")] = 1.0,
    as_json: common.Json = False,
) -> None:
    """Make, list, rotate and revoke the keys of a service.

    A key is shown once, when it is made: only its SHA-256 is in the database. As soon as there is a key, every call of
    the service needs one. log: who did what with keys and experiments.
    """
    from vambrace.serve import keys, tables

    validation.choice("action", action, ACTIONS)
    if (action in ("list", "log")) != (name is None):
        came = "none" if name is None else repr(name)
        raise InvalidParameter(f"name: expected one with create, revoke and rotate only, got {came} with {action}")
    database = tables.opened(db, create=action == "create")
    try:
        if action == "create":
            lifetime = None if days is None else days * DAY
            made = keys.create(database, name=name or "", roles=roles or (), experiments=experiments, lifetime=lifetime)
            _show_new(*made, as_json)
        elif action == "rotate":
            _show_new(*keys.rotate(database, name or "", overlap=overlap * DAY), as_json)
        elif action == "revoke":
            _list([keys.revoke(database, name or "")], as_json)
        elif action == "list":
            _list(list(keys.load(database).values()), as_json)
        else:
            _log(database, as_json)
    finally:
        database.close()


def _show_new(text: str, key: "Key", as_json: bool) -> None:
    if as_json:
        common.print_json({"key": text} | _row(key))
    else:
        typer.echo(text)
        typer.echo(f"This is key {key.id}. Keep it: it is not shown again.", err=True)  # a script reads only the key


def _row(key: "Key") -> dict[str, str]:
    only = "all" if key.experiments is None else " ".join(sorted(key.experiments))
    return {
        "id": key.id,
        "name": key.name,
        "roles": " ".join(sorted(key.roles)),
        "experiments": only,
        "created": _moment(key.created),
        "expires": "never" if key.expires is None else _moment(key.expires),
        "state": key.state(time.time()),
    }


def _list(found: list["Key"], as_json: bool) -> None:
    rows = [_row(key) for key in found]
    if as_json:
        common.print_json(rows)
    else:
        columns = ("id", "name", "roles", "experiments", "created", "expires", "state")
        common.print_table("", columns, [[*row.values()] for row in rows])


def _log(database: "Database", as_json: bool) -> None:
    from vambrace.serve import tables

    found = tables.actions(database, 1_000)
    if as_json:
        common.print_json([each._asdict() for each in found])
        return
    rows = [
        (_moment(each.time), each.actor, each.action, " ".join(f"{key}={value}" for key, value in each.details.items()))
        for each in found
    ]
    common.print_table("", ("time (UTC)", "key", "action", "details"), rows)


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
