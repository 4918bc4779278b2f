"""Sessions of the dashboard: a cookie that stands for a key, sealed with a secret that the database holds.

A cookie holds the id of the key, when it ends, and a seal over both. So every process knows it, nothing is stored, and
it ends with its key. The token against forged forms (CSRF) is another seal over the same cookie.
"""

import secrets
from hashlib import sha256
from hmac import compare_digest, digest

from vambrace.live.sql import SCHEMA_LOCK, Database

COOKIE = "vambrace_session"
TOKEN_HEADER = "x-csrf-token"
LIFETIME = 12 * 3_600  # seconds
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


def cookie_for(secret: bytes, key_id: str, now: float) -> str:
    """The cookie of a new session."""
    text = f"{key_id}.{int(now) + LIFETIME}"
    return f"{text}.{_seal(secret, 'session', text)}"


def key_id_of(secret: bytes, cookie: str, now: float) -> str | None:
    """The id of the key that a cookie stands for; None: the cookie is not ours, or its time is over."""
    text, _, seal = cookie.rpartition(".")
    if not cookie.isascii() or not compare_digest(seal, _seal(secret, "session", text)):
        return None
    key_id, _, ends = text.partition(".")
    return key_id if int(ends) > now else None


def token_for(secret: bytes, cookie: str) -> str:
    """The token that every form of a session must send."""
    return _seal(secret, "form", cookie)


def is_token(secret: bytes, cookie: str, token: str) -> bool:
    """Whether a token belongs to a session."""
    return token.isascii() and compare_digest(token, token_for(secret, cookie))


def _seal(secret: bytes, purpose: str, text: str) -> str:
    return digest(secret, f"{purpose}:{text}".encode(), sha256).hex()
