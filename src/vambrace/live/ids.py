"""Ids of decisions: texts that nobody can guess, with the arm in them, sealed with a key that only the learner knows.

An id is ``arm-nonce-seal``: the number of the arm, 128 bits of which 48 are the time in milliseconds, 76 are random
and from the operating system, and 4 count, and 64 bits of BLAKE2b over both under the learner's key. So no id is ever
given twice, also not by two learners that were restored from one snapshot; an id of another learner, or one that
somebody made up, is recognised without a list of all ids. The time comes first, so that ids of one moment are
neighbours in the index of a database: random ones would change a page for each decision.

Eight ids of an arm are made together, because a digest has room for eight seals: this takes a third of the time. So
the time is when they were made, and the last of them may be given much later. Who knows one of the eight knows the
nonces of the others, but not their seals.
"""

import os
import secrets
import time
from hashlib import blake2b
from hmac import compare_digest

KEY_BYTES = 16
RANDOM_DIGITS = 19  # hexadecimal, as the digit that counts
SEAL_DIGITS = 16
TOGETHER = 8
MOST_KEPT = 10_000  # arms of learners that have unused ids

_unused: dict[tuple[bytes, int], list[str]] = {}
if hasattr(os, "register_at_fork"):  # a copy of this process must not give the same ones
    os.register_at_fork(after_in_child=_unused.clear)


def new_key() -> str:
    """A key for a new learner, as hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def new_id(key: bytes, arm: int) -> str:
    """An id for a decision to play this arm."""
    try:
        return _unused[key, arm].pop()  # in one step, so that no other thread gets the same
    except (KeyError, IndexError):
        if len(_unused) >= MOST_KEPT:
            _unused.clear()
        made = _made(key, arm)
        last = made.pop()
        _unused[key, arm] = made
        return last


def is_genuine(key: bytes, text: str) -> bool:
    """Whether an id was made with this key."""
    body, _, seal = text.rpartition("-")
    block, count = body[:-1], body[-1:]
    if not text.isascii() or count not in set("01234567"):
        return False
    return compare_digest(seal, _seals(key, block)[int(count)])


def arm_of(text: str | int) -> int:
    """The number of the arm in an id that is genuine."""
    return int(str(text).partition("-")[0])


def _made(key: bytes, arm: int) -> list[str]:
    block = f"{arm}-{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)[:RANDOM_DIGITS]}"
    return [f"{block}{count}-{seal}" for count, seal in enumerate(_seals(key, block))]


def _seals(key: bytes, block: str) -> list[str]:
    digits = blake2b(block.encode(), key=key).hexdigest()
    return [digits[i : i + SEAL_DIGITS] for i in range(0, TOGETHER * SEAL_DIGITS, SEAL_DIGITS)]
