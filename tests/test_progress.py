"""Signs of life, with clocks and timers that only move when a test says so."""

import io
import threading
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace

import pytest

from vambrace import progress
from vambrace.progress import EVERY, PATIENCE, ProgressBar, compiling, waiting

CLEARED = "\x1b[2K"  # what a bar ends with: it wipes its line


class Stream(io.StringIO):
    """Standard error, on a terminal or not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Clock:
    """Time that stands still, and timers that ring when it is moved."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waiting: list[tuple[float, Callable[[], None]]] = []

    def timer(self, delay: float, call: Callable[[int], None], words: list[int]) -> SimpleNamespace:
        entry = (self.now + delay, lambda: call(*words))
        return SimpleNamespace(
            start=lambda: self.waiting.append(entry), cancel=lambda: self.waiting.clear(), join=lambda: None
        )

    def move(self, seconds: float) -> None:
        self.now += seconds
        for due, ring in [*self.waiting]:
            if due <= self.now:
                self.waiting.remove((due, ring))
                ring()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(threading, "Timer", clock.timer)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return clock


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Stream:
    stream = Stream(terminal=True)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Stream:
    stream = Stream(terminal=False)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


# ------------------------------------------------------------------------------------------------------- on a terminal


def test_a_bar_appears_after_patience_and_never_before(clock: Clock, terminal: Stream) -> None:
    with ProgressBar("counting", 4) as bar:
        bar.update(1)
        clock.move(PATIENCE - 0.01)
        bar.update(2)
        assert terminal.getvalue() == ""
        clock.move(0.01)
        bar.update(3)
        assert "counting" in terminal.getvalue()
    assert "75%" in terminal.getvalue()
    assert terminal.getvalue().endswith(CLEARED)


def test_a_bar_with_a_unit_tells_how_many_and_how_fast(clock: Clock, terminal: Stream) -> None:
    with ProgressBar("counting", 4, unit="cells") as bar:
        clock.move(2.0)
        bar.update(3)
    assert "3 of 4 cells, 1.5/s" in terminal.getvalue()


def test_news_stand_behind_the_count(clock: Clock, terminal: Stream) -> None:
    with ProgressBar("counting", 4, unit="cells") as bar:
        clock.move(2.0)
        bar.update(3, "the best is 7")
    assert "3 of 4 cells, 1.5/s, the best is 7" in terminal.getvalue()


def test_a_guess_that_was_too_low_is_never_exceeded(clock: Clock, log: Stream) -> None:
    with ProgressBar("counting", 4) as bar:
        clock.move(EVERY)
        bar.update(5, "the best is 7")
    assert log.getvalue() == "counting: 4 of 4 (100 %), the best is 7\n"


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_a_bar_ends_with_what_it_watched(clock: Clock, terminal: Stream, error: type[BaseException] | None) -> None:
    shown = []
    with suppress(KeyboardInterrupt), ProgressBar("counting", 4) as bar:
        clock.move(PATIENCE)
        bar.update(1)
        assert progress._shown is not None
        shown.append(progress._shown.live)
        assert shown[0].is_started
        if error is not None:
            raise error
    assert not shown[0].is_started
    assert progress._shown is None


def test_work_inside_of_work_has_a_row_of_the_same_display(clock: Clock, terminal: Stream) -> None:
    with ProgressBar("outside", 4) as outside:
        clock.move(PATIENCE)
        outside.update(1)
        shown = progress._shown
        assert shown is not None
        with ProgressBar("inside", 2) as inside, compiling("[ucb1]"):
            clock.move(PATIENCE)
            inside.update(1)
            titles = [task.description for task in shown.tasks]
            assert sorted(titles) == ["compiling [ucb1] (kept for next time)", "inside", "outside"]
        assert [task.description for task in shown.tasks] == ["outside"]
        assert progress._shown is shown
    assert not shown.live.is_started


def test_work_that_cannot_tell_how_far_it_is(clock: Clock, terminal: Stream) -> None:
    with waiting("reading"):
        clock.move(PATIENCE - 0.01)
    clock.move(PATIENCE)
    assert terminal.getvalue() == ""  # it was quick
    with waiting("reading"):
        clock.move(PATIENCE)
    assert "reading" in terminal.getvalue()
    assert terminal.getvalue().endswith(CLEARED)


def test_compiling_is_shown_after_half_a_second(clock: Clock, terminal: Stream) -> None:
    with compiling("ucb1 against conceal"):
        clock.move(0.4)
        assert terminal.getvalue() == ""
        clock.move(0.1)
        assert "compiling ucb1 against conceal (kept for next time)" in terminal.getvalue()
    assert terminal.getvalue().endswith(CLEARED)


# ------------------------------------------------------------------------------------------------------------ in a log


def test_a_log_gets_a_line_now_and_then(clock: Clock, log: Stream) -> None:
    with ProgressBar("verifying", 61) as bar:
        for done in range(1, 31):  # one in a second
            clock.move(1.0)
            bar.update(done)
    assert log.getvalue().splitlines() == [
        "verifying: 10 of 61 (16 %)",
        "verifying: 20 of 61 (33 %)",
        "verifying: 30 of 61 (49 %)",
    ]


def test_a_log_of_a_day_is_short(clock: Clock, log: Stream) -> None:
    with ProgressBar("poster", 86_400, unit="cells") as bar:
        for done in range(1, 86_401):
            clock.move(1.0)
            bar.update(done)
    lines = log.getvalue().splitlines()
    assert 60 < len(lines) < 100
    assert lines[0] == "poster: 10 of 86,400 cells (0 %)"


def test_quick_work_leaves_no_line(clock: Clock, log: Stream) -> None:
    with ProgressBar("counting", 2) as bar, waiting("reading"), compiling("ucb1"):
        clock.move(0.49)
        bar.update(1)
    with ProgressBar("counting", 2) as bar, waiting("reading"):
        clock.move(EVERY - 0.01)
        bar.update(1)
    assert log.getvalue() == ""


def test_waiting_is_exactly_one_line_in_a_log(clock: Clock, log: Stream) -> None:
    with compiling("ucb1 against conceal"):
        for _ in range(100):
            clock.move(1.0)
    with waiting("reading"):
        for _ in range(100):
            clock.move(1.0)
    assert log.getvalue() == "compiling ucb1 against conceal (kept for next time)\nreading\n"


def test_work_without_parts_is_no_division_by_zero(clock: Clock, log: Stream) -> None:
    with ProgressBar("counting", 0) as bar:
        clock.move(EVERY)
        bar.update(0)
    assert log.getvalue() == "counting: 0 of 0 (0 %)\n"


# ---------------------------------------------------------------------------------------------------------- by request


@pytest.mark.parametrize("stream", ["terminal", "log"])
def test_it_can_be_silenced(clock: Clock, stream: str, request: pytest.FixtureRequest) -> None:
    written = request.getfixturevalue(stream)
    with ProgressBar("counting", 4, show=False) as bar, waiting("a", show=False), compiling("b", show=False):
        clock.move(100.0)
        bar.update(2)
    assert written.getvalue() == ""


def test_a_bar_can_be_asked_for(clock: Clock, log: Stream) -> None:
    with ProgressBar("counting", 4, show=True) as bar:
        bar.update(1)
        assert log.getvalue() == ""
        clock.move(PATIENCE)
        bar.update(2)
    assert "50%" in log.getvalue()


def test_a_real_timer_rings_and_ends(monkeypatch: pytest.MonkeyPatch, log: Stream) -> None:
    """The only test in which time passes: it waits until the timer has rung, as long as that takes."""
    rung = threading.Event()
    update = ProgressBar.update

    def watched(bar: ProgressBar, done: int) -> None:
        update(bar, done)
        rung.set()

    monkeypatch.setattr(ProgressBar, "update", watched)
    with waiting("reading", patience=0.0):
        assert rung.wait(60)
    assert log.getvalue() == "reading\n"
