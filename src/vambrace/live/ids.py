"""Ids of decisions: texts that nobody can guess, with the arm in them, sealed with a key that only the learner knows.

An id is ``arm-nonce-seal``: the number of the arm, 128 bits of which 48 are the time in milliseconds and 80 are random
bits from the operating system, and 64 bits of BLAKE2b over both under the learner's key. So no id is ever given twice,
also not by two learners that were restored from one snapshot; an id of another learner, or one that somebody made up,
is recognised without a list of all ids. The time comes first, so that ids of one moment are neighbours in the index of
a database: random ones would change a page for each decision.
"""

import secrets
import time
from hashlib import blake2b
from hmac import compare_digest

KEY_BYTES = 16
RANDOM_BYTES = 10


def new_key() -> str:
    """A key for a new learner, as hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def new_id(key: bytes, arm: int) -> str:
    """An id for a decision to play this arm."""
    text = f"{arm}-{time.time_ns() // 1_000_000:012x}{secrets.token_hex(RANDOM_BYTES)}"
    return f"{text}-{_seal(key, text)}"


def is_genuine(key: bytes, text: str) -> bool:
    """Whether an id was made with this key."""
    body, _, seal = text.rpartition("-")
    return text.isascii() and compare_digest(seal, _seal(key, body))


def arm_of(text: str | int) -> int:
    """The number of the arm in an id that is genuine."""
    return int(str(text).partition("-")[0])


def _seal(key: bytes, text: str) -> str:
    return blake2b(text.encode(), key=key, digest_size=8).hexdigest()
