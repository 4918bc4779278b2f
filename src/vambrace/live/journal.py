"""The journal of a learner: its events in the order in which they happened, on disk. The state is their fold.

A journal is four methods (append, read, save_snapshot, load_snapshot), a transaction that they share, and an index, so
that a decision which was answered long ago is found on disk and need not be in memory.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol


class Entry(NamedTuple):
    """One event as it is stored. Apart from its number, a journal does not know what it means.

    Attributes:
        number: Its place in the journal of this learner, from one, without holes.
        time: When it happened, in seconds since 1970.
        kind: The kind of the event.
        decision: The id of the decision that it belongs to, or None. Indexed.
        key: The idempotency key of the request that caused it, or None. Indexed; a journal has each key once.
        payload: Everything else, as JSON.
    """

    number: int
    time: float
    kind: str
    decision: str | None
    key: str | None
    payload: str


class Journal(Protocol):
    """The events of one learner. What a transaction wrote is on disk when the transaction ends, or not at all."""

    def transaction(self) -> AbstractContextManager[None]:
        """Take the lock of this learner, and commit at the end; an error in the block undoes everything."""

    def append(self, entries: Sequence[Entry]) -> None:
        """Write events after the last one; only in a transaction."""

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """The events with a higher number than `after`, in their order; the last one is `upto`, or the newest."""

    def save_snapshot(self, number: int, content: str) -> None:
        """Keep the state after event `number` in place of an older one; only in a transaction."""

    def load_snapshot(self) -> tuple[int, str] | None:
        """The number and the content of the newest snapshot."""

    def find(self, *, decision: str | None = None, keys: Sequence[str] = ()) -> list[Entry]:
        """The events of a decision, or of idempotency keys, in their order."""

    def close(self) -> None:
        """Release what the operating system gave; the next call opens it again."""
