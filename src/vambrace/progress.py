"""A progress bar for anything that lasts longer than a second; silent where nobody watches."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.progress

PATIENCE = 1.0  # seconds before a bar appears


class ProgressBar:
    """Shows itself on standard error after a second, if that is a terminal (or if `show` says so).

    With a `unit` it also tells how many there are and how many are done in a second.
    """

    def __init__(self, title: str, total: int | None, *, show: bool | None = None, unit: str | None = None) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._show = sys.stderr.isatty() if show is None else show
        self._started = time.monotonic()
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int) -> None:
        """Tell how much of the total is done."""
        if not self._show:
            return
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE:
                return
            self._bar = self._open()
        self._bar.update(self._bar.tasks[0].id, completed=done)

    def _open(self) -> "rich.progress.Progress":
        import rich.console
        import rich.progress as parts

        rate = (parts.MofNCompleteColumn(), _rate_column(self._unit)) if self._unit else ()
        bar = parts.Progress(
            parts.TextColumn("{task.description}"),
            parts.BarColumn(),
            parts.TaskProgressColumn(),
            *rate,
            parts.TimeRemainingColumn(),
            console=rich.console.Console(stderr=True, force_terminal=True),
            transient=True,
        )
        bar.add_task(self._title, total=self._total)
        bar.start()
        return bar


@contextmanager
def waiting(title: str, *, show: bool | None = None) -> Iterator[None]:
    """A bar that moves but has no end, for work that cannot tell how far it is."""
    with ProgressBar(title, None, show=show) as bar:
        timer = threading.Timer(PATIENCE, bar.update, [0])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # so that a bar that is just opening is there to be closed


def _rate_column(unit: str) -> "rich.progress.ProgressColumn":
    import rich.progress as parts
    from rich.text import Text

    class Rate(parts.ProgressColumn):
        def render(self, task: "parts.Task") -> Text:
            return Text(f"{task.speed:.2g} {unit}/s" if task.speed else f"? {unit}/s")

    return Rate()
