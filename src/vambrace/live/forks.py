"""What must stop before this process is copied (a fork, as web servers do it), and begin anew in the copy.

A copy of a process has the locks of threads that do not exist there, and connections that are not its own. SQLite goes
further: a copy with an inherited connection believes that it holds locks which it does not have. So connections are
closed before, and opened again where they are needed.
"""

import os
import threading
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something with locks or connections."""

    def pause(self) -> None:
        """Wait until nothing is going on, and let nothing start."""

    def resume(self) -> None:
        """Go on, in the parent."""

    def restart(self) -> None:
        """Begin anew, in the copy."""


_all: "weakref.WeakSet[Forkable]" = weakref.WeakSet()
_paused: list[Forkable] = []
_one_at_a_time = threading.Lock()  # two threads may fork at the same moment


def watch(thing: Forkable) -> None:
    """Pause it before every fork, and resume or restart it after."""
    _all.add(thing)


def _pause() -> None:
    _one_at_a_time.acquire()
    _paused.extend(_all)
    for thing in _paused:
        thing.pause()


def _resume() -> None:
    while _paused:
        _paused.pop().resume()
    _one_at_a_time.release()


def _restart() -> None:
    while _paused:
        _paused.pop().restart()
    _one_at_a_time.release()


if hasattr(os, "register_at_fork"):  # Windows starts every process anew
    os.register_at_fork(before=_pause, after_in_parent=_resume, after_in_child=_restart)
