"""The tables of the service, beside those of learners: keys, sessions, closed experiments, actions, incidents."""

import json
import time
from typing import Any, NamedTuple

from vambrace.live.sql import LEARNERS, Database, Tables, open_database

TABLES = Tables(
    "vambrace_service",
    (
        (
            "CREATE TABLE vambrace_service_keys (id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
            " roles TEXT NOT NULL, experiments TEXT, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION,"
            " revoked DOUBLE PRECISION)",
            "CREATE TABLE vambrace_service_closed (name TEXT PRIMARY KEY, time DOUBLE PRECISION NOT NULL)",
            "CREATE TABLE vambrace_service_actions"
            " (time DOUBLE PRECISION NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, details TEXT NOT NULL)",
            "CREATE TABLE vambrace_service_incidents (experiment TEXT NOT NULL, minute BIGINT NOT NULL,"
            " actor TEXT NOT NULL, kind TEXT NOT NULL, number BIGINT NOT NULL,"
            " PRIMARY KEY (experiment, minute, actor, kind))",
            "CREATE TABLE vambrace_service_secrets (name TEXT PRIMARY KEY, content TEXT NOT NULL)",
        ),
        (
            "CREATE TABLE vambrace_service_sessions (digest TEXT PRIMARY KEY, key TEXT NOT NULL,"
            " ends DOUBLE PRECISION NOT NULL)",
        ),
    ),
)


class Action(NamedTuple):
    """One line of the audit log: who did what and when."""

    time: float
    actor: str  # the id of a key; "command line"; "nobody" where there are no keys
    action: str
    details: dict[str, Any]


def opened(url: str, *, create: bool = True) -> Database:
    """A connection to the database of a service, with all tables; `create`: also if there is no such file yet."""
    database = open_database(url, create=create)
    database.migrate(LEARNERS)
    database.migrate(TABLES)
    return database


def record(database: Database, actor: str, action: str, **details: Any) -> None:
    """Write a line of the audit log; with the transaction of the caller, if there is one."""
    text = json.dumps(details, separators=(",", ":"))
    database.run("INSERT INTO vambrace_service_actions VALUES (?, ?, ?, ?)", time.time(), actor, action, text)


def actions(database: Database, most: int) -> list[Action]:
    """The last lines of the audit log, newest first."""
    statement = "SELECT time, actor, action, details FROM vambrace_service_actions ORDER BY time DESC LIMIT ?"
    return [
        Action(when, actor, action, json.loads(text)) for when, actor, action, text in database.run(statement, most)
    ]
