"""Sessions of the dashboard: a cookie of 256 random bits that stands for a key, until it ends or somebody logs out.

The database has the SHA-256 of each cookie, so every process knows the session, a logout ends it for all of them, and
who reads the database cannot use it. A session also ends with its key. A cookie has a seal, with a secret that the
database holds: strangers who guess cause no look into the database. The token against forged forms (CSRF) is another
seal over the cookie.
"""

import secrets
from hashlib import sha256
from hmac import compare_digest, digest

from vambrace.live.sql import SCHEMA_LOCK, Database

COOKIE = "vambrace_session"
TOKEN_HEADER = "x-csrf-token"
LIFETIME = 12 * 3_600  # seconds
MOST_OF_A_KEY = 100  # sessions; the oldest ends when there are more
_NAME = "sessions"


def load_secret(database: Database) -> bytes:
    """The secret of this service; made if there is none."""
    query = "SELECT content FROM vambrace_service_secrets WHERE name = ?"
    with database.transaction(SCHEMA_LOCK):
        found = database.run(query, _NAME)
        if not found:
            database.run("INSERT INTO vambrace_service_secrets VALUES (?, ?)", _NAME, secrets.token_hex(32))
            found = database.run(query, _NAME)
    return bytes.fromhex(found[0][0])


def begin(database: Database, secret: bytes, key_id: str, now: float) -> str:
    """The cookie of a new session. What has ended is removed, so their number is bounded."""
    text = secrets.token_urlsafe(32)
    cookie = f"{text}.{_seal(secret, 'session', text)}"
    kept = "SELECT digest FROM vambrace_service_sessions WHERE key = ? ORDER BY ends DESC, digest LIMIT ?"
    with database.transaction(SCHEMA_LOCK):
        database.run("DELETE FROM vambrace_service_sessions WHERE ends <= ?", now)
        database.run(
            f"DELETE FROM vambrace_service_sessions WHERE key = ? AND digest NOT IN ({kept})",
            *(key_id, key_id, MOST_OF_A_KEY - 1),
        )
        values = (_digest(cookie), key_id, now + LIFETIME)
        database.run("INSERT INTO vambrace_service_sessions (digest, key, ends) VALUES (?, ?, ?)", *values)
    return cookie


def is_ours(secret: bytes, cookie: str) -> bool:
    """Whether a cookie was made by this service; it may have ended."""
    text, _, seal = cookie.rpartition(".")
    return cookie.isascii() and compare_digest(seal, _seal(secret, "session", text))


def key_id_of(database: Database, cookie: str, now: float) -> str | None:
    """The id of the key that a cookie stands for; None: the cookie is not ours, or its time is over."""
    statement = "SELECT key FROM vambrace_service_sessions WHERE digest = ? AND ends > ?"
    found = database.run(statement, _digest(cookie), now)
    return str(found[0][0]) if found else None


def end(database: Database, cookie: str) -> None:
    """End a session, for every process and every copy of the cookie."""
    with database.transaction(SCHEMA_LOCK):
        database.run("DELETE FROM vambrace_service_sessions WHERE digest = ?", _digest(cookie))


def token_for(secret: bytes, cookie: str) -> str:
    """The token that every form of a session must send."""
    return _seal(secret, "form", cookie)


def is_token(secret: bytes, cookie: str, token: str) -> bool:
    """Whether a token belongs to a session."""
    return token.isascii() and compare_digest(token, token_for(secret, cookie))


def _seal(secret: bytes, purpose: str, text: str) -> str:
    return digest(secret, f"{purpose}:{text}".encode(), sha256).hex()


def _digest(cookie: str) -> str:
    return sha256(cookie.encode()).hexdigest()
