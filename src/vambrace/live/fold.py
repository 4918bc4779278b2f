"""The core of a durable learner: the fold of its journal, and commands that write to it.

The events of a batch of commands are one transaction. The core changes while it runs; if anything fails, the core is
forgotten and nobody is answered, and the next transaction folds the journal again. So what the core says is always what
the journal says.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from vambrace.errors import DecisionError, JournalError, SnapshotError
from vambrace.live import events, snapshots
from vambrace.live.clock import Clock
from vambrace.live.core import Core
from vambrace.live.events import Event, Id
from vambrace.live.journal import Entry, Journal
from vambrace.live.settings import Settings
from vambrace.protocols import Policy

ASKED = "asked"
OPENED = "opened"  # the kind of the first entry: the settings
SNAPSHOT_EVERY = 10_000  # events

Work = Callable[[Core, float], Any]


class Request:
    """Some work that waits for its transaction, and then what came of it.

    Attributes:
        work: Called with the core and the time. The events of what it does are written.
        result: What it returned.
        error: What it raised, or why its events were not written.
    """

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None


class _Unfinished(Exception):
    """Some work raised after it had changed the core: all must be done again, without it."""


class Fold:
    """A journal and the core that it makes. One thread at a time.

    Args:
        journal: The events.
        clock: The time of new events.
        policy: The policy, if it is not registered.
    """

    def __init__(self, journal: Journal, *, clock: Clock | None = None, policy: Policy | None = None) -> None:
        self.journal, self.clock, self._policy = journal, clock or Clock(), policy
        self.core: Core | None = None
        self.number = 0  # of the last event in the core, or that will be written with this transaction
        self._last: Entry | None = None  # the entry of this number; None: the core is from a snapshot
        self._unwritten: list[Entry] = []
        self._unwritten_keys: dict[str, Entry] = {}  # those of them with a key: a transaction writes once, at its end

    def create(self, settings: Settings) -> bool:
        """Begin the journal with these settings; False if it has begun already."""
        with self.journal.transaction():
            return self.begin(settings)

    def begin(self, settings: Settings) -> bool:
        """The same within a transaction, which may write more."""
        if self.settings() is not None:
            return False
        payload = json.dumps(settings.to_dict(), separators=(",", ":"))
        self.journal.append([Entry(1, self.clock.read(), OPENED, None, None, payload)])
        return True

    def settings(self) -> dict[str, Any] | None:
        """What the journal began with, as `Settings.to_dict` wrote it; None if it has not begun."""
        first = next(iter(self.journal.read(upto=1)), None)
        if first is None:
            return None
        if first.kind != OPENED:
            raise JournalError(f"journal: expected the settings as event 1, got {first.kind!r}: it is damaged")
        content: dict[str, Any] = _json_of(first, dict)
        return content

    def load(self, *, from_snapshot: bool = True, upto: int | None = None) -> Core:
        """The core of the journal.

        Args:
            from_snapshot: Start from the snapshot, if there is one; otherwise from the first event.
            upto: The number of the last event to read; None: all.
        """
        if self.core is None:
            core, self.number = self._start(from_snapshot)
            core.remembered, core.find_closed, core.on_event = 0, self._find_closed, self._record
            self.core = core
        entries = iter(self.journal.read(self.number - 1, upto))
        self._check_same(next(entries, None))
        for entry in entries:
            if entry.number != self.number + 1:
                raise JournalError(f"journal: expected event {self.number + 1}, got {entry.number}: it is damaged")
            self.core.apply(event_of(entry))
            self.number, self._last = entry.number, entry
        return self.core

    def _check_same(self, found: Entry | None) -> None:
        """Whether the journal still has the last event of the core: it may have been restored from an older copy."""
        if found is None or found.number != self.number or self._last not in (None, found):
            raise JournalError(
                f"journal: expected event {self.number} as it was, got {'none' if found is None else 'another'}: "
                "it was restored from a copy, or is damaged; nothing was acknowledged"
            )

    def _start(self, from_snapshot: bool) -> tuple[Core, int]:
        """The core of the snapshot, or of the first entry. A snapshot that cannot be read is not needed."""
        saved = self.journal.load_snapshot() if from_snapshot else None
        if saved is not None:
            try:
                return snapshots.core_of(json.loads(saved[1]), self._policy), saved[0]
            except (SnapshotError, ValueError):
                pass
        settings = self.settings()
        if settings is None:
            raise JournalError("journal: expected at least the first event, got none")
        try:
            return Core(Settings.from_dict(settings, self._policy)), 1
        except KeyError as error:
            raise JournalError(f"journal: expected the setting {error} in event 1, got none: it is damaged") from error

    def run(self, batch: Sequence[Request]) -> None:
        """Do all the work in one transaction. Then each has its result or its error, and its events are on disk.

        An error that concerns them all is raised; then nothing is on disk, or it is unknown whether it is.
        """
        while True:
            todo = [request for request in batch if request.error is None]
            try:
                if self.core is None:
                    self.load()  # before the lock is taken, since this may take seconds
                with self.journal.transaction():
                    self._run(todo)
                return
            except _Unfinished:
                self.forget()
            except BaseException:
                self.forget()
                raise

    def forget(self) -> None:
        """Fold the journal again at the next call."""
        self.core, self._last, self._unwritten, self._unwritten_keys = None, None, [], {}

    def _record(self, event: Event) -> None:
        """Write an event of the core with this transaction."""
        self.number += 1
        self._last = entry_of(self.number, event, self._present().rounds, None)
        self._unwritten.append(self._last)

    def name_last(self, key: str) -> None:
        """Give the last event, a decision of this transaction, an idempotency key."""
        self._last = self._unwritten[-1] = self._unwritten_keys[key] = self._unwritten[-1]._replace(key=key)

    def find_keys(self, keys: Sequence[str]) -> dict[str, tuple[events.Asked, int]]:
        """The decisions that were made for idempotency keys, and their rounds; with one question to the journal."""
        found = {key: self._unwritten_keys[key] for key in keys if key in self._unwritten_keys}
        written = self.journal.find(keys=[key for key in keys if key not in found])
        known: dict[str, tuple[events.Asked, int]] = {}
        for entry in (*found.values(), *written):
            event = event_of(entry)
            if entry.key is not None and isinstance(event, events.Asked):
                known[entry.key] = event, json.loads(entry.payload)[-1]
        return known

    def _present(self) -> Core:
        if self.core is None:
            raise JournalError("journal: expected a transaction, got none")
        return self.core

    def _run(self, batch: Sequence[Request]) -> None:
        core, before = self.load(), self.number
        now = self.clock.read()
        for request in batch:
            start = self.number
            try:
                request.result = request.work(core, now)
            except JournalError:
                raise
            except Exception as error:
                request.error = error
                if self.number > start or core.is_in_doubt:
                    raise _Unfinished from error
        self._write()
        if self.number // SNAPSHOT_EVERY > before // SNAPSHOT_EVERY:
            self.journal.save_snapshot(self.number, snapshot_text(core))

    def _write(self) -> None:
        if self._unwritten:
            self.journal.append(self._unwritten)
            self._unwritten, self._unwritten_keys = [], {}

    def _find_closed(self, key: Id) -> float | events.Asked | None:
        found: float | events.Asked | None = None
        self._write()  # what this batch did is found, too
        for event in map(event_of, self.journal.find(decision=str(key))):
            if isinstance(event, events.Asked):
                found = event
            elif isinstance(event, events.Told | events.ToldLate):
                found = event.reward
        if found is None:
            raise DecisionError(f"decision {key}: not in this journal, which may have been restored from an older copy")
        return found


def entry_of(number: int, event: Event, round: int, key: str | None) -> Entry:
    """An event as the journal stores it: what has a column is not in the payload; a decision has its round there."""
    kind, time, *rest = events.encoded(event)
    decision = rest.pop(0) if hasattr(event, "id") else None
    if isinstance(event, events.Asked):
        rest.append(round)
    return Entry(number, time, kind, decision, key, json.dumps(rest, separators=(",", ":")))


def event_of(entry: Entry) -> Event:
    """The event of an entry that is not the first."""
    named = [] if entry.decision is None else [entry.decision]
    payload = _json_of(entry, list)
    return events.decoded([entry.kind, entry.time, *named, *(payload[:-1] if entry.kind == ASKED else payload)])


def _json_of(entry: Entry, kind: type[Any]) -> Any:
    """The payload of an entry, which is a list or a dict."""
    try:
        payload = json.loads(entry.payload)
    except ValueError:
        payload = None
    if not isinstance(payload, kind):
        raise JournalError(f"journal: expected JSON in event {entry.number}, got {entry.payload[:80]!r}: it is damaged")
    return payload


def snapshot_text(core: Core) -> str:
    """The core as text; equal cores have equal texts."""
    return json.dumps(snapshots.content_of(core), separators=(",", ":"))
