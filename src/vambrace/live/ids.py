"""Ids of decisions: texts that nobody can guess, with the arm in them, sealed with a key that only the learner knows.

An id is ``arm-nonce-seal``: the number of the arm; 128 bits of which 48 are the time in milliseconds, 72 are random and
from the operating system, and 8 count; and 64 bits of SHAKE-256 over the learner's key, the arm and the nonce. So no id
is ever given twice, also not by two learners that were restored from one snapshot; an id of another learner, or one
that somebody made up, is recognised without a list of all ids. The time comes first, so that ids of one moment are
neighbours in the index of a database: random ones would change a page for each decision.

The ids of an arm are made 32 together, whose seals are one digest: this takes a tenth of the time. So the time is when
they were made, and the last of them may be given much later. Who knows one of them knows the nonces of the others, but
not their seals.
"""

import os
import secrets
import time
from hashlib import shake_256
from hmac import compare_digest

KEY_BYTES = 16
RANDOM_BYTES = 9
SEAL_DIGITS = 16  # hexadecimal
TOGETHER = 32
COUNTS = {f"{count:02x}": count * SEAL_DIGITS for count in range(TOGETHER)}  # and where the seal is in the digest
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
    block, count = body[:-2], body[-2:]
    if not text.isascii() or count not in COUNTS:
        return False
    at = COUNTS[count]
    return compare_digest(seal, _seals(key, block)[at : at + SEAL_DIGITS])


def arm_of(text: str | int) -> int:
    """The number of the arm in an id that is genuine."""
    return int(str(text).partition("-")[0])


def _made(key: bytes, arm: int) -> list[str]:
    block = f"{arm}-{time.time_ns() // 1_000_000:012x}{secrets.token_hex(RANDOM_BYTES)}"
    seals = _seals(key, block)
    return [f"{block}{count}-{seals[at : at + SEAL_DIGITS]}" for count, at in COUNTS.items()]


def _seals(key: bytes, block: str) -> str:
    """The seals of all counts, one after the other."""
    return shake_256(key + block.encode()).hexdigest(TOGETHER * SEAL_DIGITS // 2)
