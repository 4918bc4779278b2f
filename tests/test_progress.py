import io
import sys
import threading
from contextlib import suppress
from types import SimpleNamespace

import pytest

from vambrace import progress
from vambrace.progress import PATIENCE, ProgressBar, waiting


class Stream(io.StringIO):
    """Standard error, on a terminal or not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(
    monkeypatch: pytest.MonkeyPatch,
    *moments: float,
    terminal: bool = True,
    show: bool | None = None,
    unit: str | None = None,
) -> list[str]:
    """What a bar has written to standard error after each update, made so many seconds after it was opened."""
    clock = SimpleNamespace(now=100.0)
    stream = Stream(terminal=terminal)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    texts = []
    with ProgressBar("counting", 4, show=show, unit=unit) as bar:
        for done, moment in enumerate(moments, start=1):
            clock.now = 100.0 + moment
            bar.update(done)
            texts.append(stream.getvalue())
    return [*texts, stream.getvalue()]


def test_a_bar_appears_after_patience_and_never_before(monkeypatch: pytest.MonkeyPatch) -> None:
    early, still_early, late, final = shown(monkeypatch, 0.0, PATIENCE - 0.01, PATIENCE)
    assert (early, still_early) == ("", "")
    assert "counting" in late
    assert "75%" in final
    assert final.endswith("\x1b[2K")  # transient: it wipes its line when it ends


def test_work_that_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 0.1, 0.9 * PATIENCE) == ["", "", ""]


@pytest.mark.parametrize(("terminal", "show"), [(False, None), (True, False)])
def test_nobody_watches_so_it_is_silent(monkeypatch: pytest.MonkeyPatch, terminal: bool, show: bool | None) -> None:
    assert shown(monkeypatch, 100.0, terminal=terminal, show=show) == ["", ""]


def test_a_bar_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 0.5 * PATIENCE, terminal=False, show=True) == ["", ""]
    assert "counting" in shown(monkeypatch, 2 * PATIENCE, terminal=False, show=True)[-1]


def test_a_bar_with_a_unit_tells_how_many_and_how_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = shown(monkeypatch, 0.0, PATIENCE, 2 * PATIENCE, unit="cells")[-1]
    assert "3/4" in text
    assert "cells/s" in text
    assert "cells/s" not in shown(monkeypatch, 0.0, PATIENCE)[-1]


def test_work_that_cannot_tell_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with waiting("reading"):
        pass
    assert stream.getvalue() == ""  # it was quick
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    opened = threading.Event()
    update = ProgressBar.update

    def watched(bar: ProgressBar, done: int) -> None:
        update(bar, done)
        opened.set()

    monkeypatch.setattr(ProgressBar, "update", watched)
    with suppress(KeyboardInterrupt), waiting("reading"):
        assert opened.wait(60)
        raise KeyboardInterrupt
    assert "reading" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")


def test_a_bar_ends_with_what_it_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Stream(terminal=True))
    started = []
    with suppress(KeyboardInterrupt), ProgressBar("counting", 4) as watched:
        watched.update(1)
        assert watched._bar is not None
        started.append(watched._bar.live)
        assert started[0].is_started
        raise KeyboardInterrupt
    assert [live.is_started for live in started] == [False]
