"""Keys: 256 random bits that are shown once. The database has their SHA-256, what they may do, and until when.

The id of a key is the first eight hexadecimal digits of that SHA-256: it is found quickly, can be printed in logs, and
says nothing about the key. Whether a key is right is decided by comparing all digits in constant time.
"""

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Literal, get_args

from vambrace.errors import InvalidParameter, UnknownName
from vambrace.live.sql import NAME, Database
from vambrace.serve import tables

Role = Literal["ask", "tell", "read", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
PREFIX, SECRET_BYTES, ID_LENGTH = "vb_", 32, 8
LENGTH = len(PREFIX) + 43  # URL-safe base64 of 32 bytes
COLUMNS = "id, digest, name, roles, experiments, created, expires, revoked"
COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Key:
    """What the database knows of a key."""

    id: str
    digest: str
    name: str
    roles: frozenset[str]
    experiments: frozenset[str] | None  # None: all
    created: float
    expires: float | None
    revoked: float | None

    def state(self, now: float) -> Literal["valid", "expired", "revoked"]:
        """Whether it can be used."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "valid"


def digest_of(text: str) -> str:
    """The SHA-256 of a key, in hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def matching(known: dict[str, Key], text: str, now: float) -> Key | None:
    """The valid key with this text."""
    digest = digest_of(text)
    key = known.get(digest[:ID_LENGTH])
    if key is None or not compare_digest(key.digest, digest) or key.state(now) != "valid":
        return None
    return key


def load(database: Database) -> dict[str, Key]:
    """All keys by id, also those that expired or were revoked."""
    rows = database.run(f"SELECT {COLUMNS} FROM vambrace_service_keys ORDER BY created, id")
    return {row[0]: _key(row) for row in rows}


def create(
    database: Database,
    *,
    name: str,
    roles: Iterable[str],
    experiments: Iterable[str] | None = None,
    lifetime: float | None = None,
    actor: str = COMMAND_LINE,
) -> tuple[str, Key]:
    """A new key: its text, which nobody can find out later, and what the database knows of it."""
    wanted, only = _roles(roles), None if experiments is None else frozenset(map(_experiment, experiments))
    if only is not None and not only:
        raise InvalidParameter("experiments: expected at least one name, got none")
    if lifetime is not None and not 0 < lifetime <= 10**10:
        raise InvalidParameter(f"lifetime: expected a number of seconds from 0 to 1e10, got {lifetime}")
    with database.transaction(0):
        text, key = _insert(database, _name(name), wanted, only, lifetime)
        tables.record(database, actor, "create key", key=key.id, name=key.name, **_scope(key))
    return text, key


def revoke(database: Database, key_id: str, *, actor: str = COMMAND_LINE) -> Key:
    """End a key at once."""
    with database.transaction(0):
        key = _known(database, key_id)
        if key.revoked is None:
            database.run("UPDATE vambrace_service_keys SET revoked = ? WHERE id = ?", time.time(), key.id)
            tables.record(database, actor, "revoke key", key=key.id, name=key.name)
        return _known(database, key_id)


def rotate(database: Database, key_id: str, *, overlap: float, actor: str = COMMAND_LINE) -> tuple[str, Key]:
    """A new key that may do the same, while the old one is valid for `overlap` more seconds."""
    if not 0 <= overlap <= 10**10:
        raise InvalidParameter(f"overlap: expected a number of seconds from 0 to 1e10, got {overlap}")
    with database.transaction(0):
        old, now = _known(database, key_id), time.time()
        if old.state(now) != "valid":
            raise InvalidParameter(f"key: expected a valid one, got {old.id}, which is {old.state(now)}")
        lifetime = None if old.expires is None else old.expires - old.created
        text, key = _insert(database, old.name, old.roles, old.experiments, lifetime)
        ends = now + overlap if old.expires is None else min(old.expires, now + overlap)
        database.run("UPDATE vambrace_service_keys SET expires = ? WHERE id = ?", ends, old.id)
        tables.record(database, actor, "rotate key", key=old.id, new=key.id, name=key.name, overlap=overlap)
    return text, key


def _insert(
    database: Database, name: str, roles: frozenset[str], experiments: frozenset[str] | None, lifetime: float | None
) -> tuple[str, Key]:
    now, known = time.time(), load(database)
    text = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    while digest_of(text)[:ID_LENGTH] in known:  # one in four billion
        text = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    digest, ends = digest_of(text), None if lifetime is None else now + lifetime
    key = Key(digest[:ID_LENGTH], digest, name, roles, experiments, now, ends, None)
    only = None if experiments is None else " ".join(sorted(experiments))
    values = (key.id, digest, name, " ".join(sorted(roles)), only, now, ends, None)
    database.run(f"INSERT INTO vambrace_service_keys ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
    return text, key


def _key(row: tuple[object, ...]) -> Key:
    key_id, digest, name, roles, experiments, *times = row
    only = None if experiments is None else frozenset(str(experiments).split())
    return Key(str(key_id), str(digest), str(name), frozenset(str(roles).split()), only, *times)  # type: ignore[arg-type]


def _known(database: Database, key_id: str) -> Key:
    known = load(database)
    if key_id not in known:
        raise UnknownName("key", key_id, known)
    return known[key_id]


def _scope(key: Key) -> dict[str, object]:
    return {
        "roles": sorted(key.roles),
        "experiments": None if key.experiments is None else sorted(key.experiments),
        "expires": key.expires,
    }


def _roles(given: Iterable[str]) -> frozenset[str]:
    found = frozenset(given)
    for role in sorted(found - set(ROLES)):
        raise UnknownName("role", role, ROLES)
    if not found:
        raise InvalidParameter(f"roles: expected some of {', '.join(ROLES)}, got none")
    return found


def _name(given: str) -> str:
    if not isinstance(given, str) or not 1 <= len(given) <= 100 or not given.isprintable():
        raise InvalidParameter(f"name: expected 1 to 100 printable characters, got {given!r}")
    return given


def _experiment(given: str) -> str:
    if not NAME.fullmatch(given):
        raise InvalidParameter(f"experiment: expected letters, digits, dots, hyphens or underscores, got {given!r}")
    return given
