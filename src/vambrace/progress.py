"""Progress of long work, on standard error: bars on a terminal, and occasional lines in a log."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds before a bar appears
EVERY = 10.0  # seconds before the first line of a log, and at least between two lines

_lock = threading.Lock()
_shown: "Progress | None" = None  # what the terminal shows: a row for each bar, also for nested work


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """The progress of some work: on a terminal a bar that appears after a second, in a log an occasional line.

    Args:
        title: What is being done.
        total: How much there is to do; None: unknown.
        show: True: a bar; False: nothing; None: a bar if standard error is a terminal, otherwise lines.
        unit: What is counted; with a unit, a bar also shows how many are done per second.
        patience: Seconds before anything is shown; None: 1 for a bar, 10 for lines.
    """

    def __init__(
        self, title: str, total: int | None, *, show: bool | None = None, unit: str = "", patience: float | None = None
    ) -> None:
        self._title, self._total, self._unit, self._silent = title, total, unit, show is False
        self._is_bar = sys.stderr.isatty() if show is None else show
        self.patience = (PATIENCE if self._is_bar else EVERY) if patience is None else patience
        self._started = time.monotonic()
        self._due = self._started + self.patience
        self._row: TaskID | None = None

    def __exit__(self, *_: object) -> None:
        global _shown
        with _lock:
            if self._row is not None and _shown is not None:
                _shown.stop() if len(_shown.tasks) == 1 else _shown.remove_task(self._row)
                _shown = _shown if _shown.live.is_started else None

    def update(self, done: int, news: str = "") -> None:
        """Show how much is done, if it is time to: never more than the total, which may be a guess. And the news."""
        now = time.monotonic()
        if self._silent or now < self._due:
            return
        speed, told = done / max(now - self._started, 1e-9), f", {news}" if news else ""
        done = done if self._total is None else min(done, self._total)
        count = "" if self._total is None else f"{done:,} of {self._total:,} {self._unit}".rstrip()
        if self._is_bar:
            self._draw(done, f"{count}, {speed:,.{'2g' if speed < 10 else '0f'}}/s{told}" if self._unit else news)
        else:
            share = "" if self._total is None else f": {count} ({100 * done / max(self._total, 1):.0f} %)"
            sys.stderr.write(f"{self._title}{share}{told}\n")
            sys.stderr.flush()
            self._due = now + max(EVERY, (now - self._started) / 10)  # about eighty lines per day of work

    def _draw(self, done: int, text: str) -> None:
        global _shown
        with _lock:
            if _shown is None:
                import rich.progress as parts
                from rich.console import Console
                from rich.table import Column

                console = Console(file=sys.stderr, force_terminal=True)
                title = parts.TextColumn("{task.description}", markup=False, table_column=Column())  # may be wrapped
                bar = parts.SpinnerColumn(table_column=Column(no_wrap=True)), title, parts.BarColumn(20)
                more = parts.TaskProgressColumn(), "{task.fields[text]}", parts.TimeRemainingColumn()
                _shown = parts.Progress(*bar, *more, console=console, transient=True)
                _shown.start()
            if self._row is None:
                self._row = _shown.add_task(self._title, total=self._total, text=text)
            _shown.update(self._row, completed=done, text=text)


@contextmanager
def waiting(title: str, *, show: bool | None = None, patience: float | None = None) -> Iterator[None]:
    """Show a moving bar, or one line in a log, during work of unknown length."""
    with ProgressBar(title, None, show=show, patience=patience) as bar:
        timer = threading.Timer(bar.patience, bar.update, [0])
        if show is not False:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if show is not False:
                timer.join()  # a bar that is just being opened must be closed too


def compiling(title: str, *, show: bool | None = None) -> AbstractContextManager[None]:
    """Say that a program is being compiled, if that takes longer than half a second."""
    return waiting(f"compiling {title} (kept for next time)", show=show, patience=0.5)
