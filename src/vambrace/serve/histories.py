"""The pasts of all experiments, in memory: each look reads only what is new in the journal."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from vambrace.live.fold import Fold
from vambrace.live.journal import Entry, Journal
from vambrace.live.settings import Settings
from vambrace.serve.experiments import Experiments
from vambrace.serve.history import History

MOST_HISTORIES = 50
MOST_ENTRIES = 100_000  # that one look reads, so that it takes seconds at most; the next look reads on
BREATH = 1_000  # entries after which other threads get a turn

Result = TypeVar("Result")


class _Kept:
    """A history, a lock for it, and its last entry."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.history: History | None = None
        self.last: Entry | None = None

    def catch_up(self, journal: Journal) -> History:
        """Read what is new; all of it if the journal was replaced by a copy."""
        entries = iter(journal.read(max(self.last.number - 1, 0) if self.last is not None else 0))
        first = next(entries, None)
        if self.history is None or first != self.last:
            if self.history is not None:
                entries = iter(journal.read())
                first = next(entries)
            settings = Fold(journal).settings()
            self.history = History(Settings.from_dict(settings or {}), 0.0 if first is None else first.time)
        self.last = first
        for n, entry in enumerate(entries):
            self.history.apply(entry)
            self.last = entry
            if n >= MOST_ENTRIES:
                break
            if n % BREATH == 0:
                time.sleep(0)
        return self.history


class Histories:
    """The pasts of the experiments that somebody looked at lately.

    Args:
        experiments: The experiments.
    """

    def __init__(self, experiments: Experiments) -> None:
        self._experiments = experiments
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def look(self, name: str, see: Callable[[History], Result]) -> Result:
        """What somebody sees in the past of an experiment, up to now; in a thread, and one at a time."""
        kept = self._kept.setdefault(name, _Kept())
        self._kept.move_to_end(name)
        if len(self._kept) > MOST_HISTORIES:
            self._kept.popitem(last=False)

        def work(journal: Journal) -> Result:
            with kept.lock:
                try:
                    return see(kept.catch_up(journal))
                except BaseException:
                    kept.history = kept.last = None
                    raise

        return await self._experiments.read(name, work)
