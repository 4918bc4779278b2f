"""Callers of many threads share transactions (group commit).

The first caller leads: it runs its own command and those of everybody who waits in one transaction, and wakes them.
Those who arrive meanwhile wait; the first of them leads the next transaction. So 32 callers need one write to disk, not
32, and nobody is answered before it is done.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from vambrace.errors import JournalError, VambraceError
from vambrace.live import forks
from vambrace.live.core import Core
from vambrace.live.fold import Fold, Request

Result = TypeVar("Result")
MOST = 256  # commands in one transaction


class _Caller:
    """A request and the lock on which its thread sleeps, until it is answered or has to lead."""

    __slots__ = ("answered", "request", "sleep")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answered = False
        self.sleep = threading.Lock()
        self.sleep.acquire()


class Commits:
    """A fold that any number of threads may use.

    Args:
        fold: The journal and its core.
    """

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self._start()
        forks.watch(self)

    def _start(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[_Caller] = deque()
        self._leader: _Caller | None = None  # who runs a transaction, or was woken to do so

    def pause(self) -> None:
        """Before a fork."""
        self._guard.acquire()

    def resume(self) -> None:
        """After a fork."""
        self._guard.release()

    def restart(self) -> None:
        """In a copy of the process, where the threads that wait do not exist."""
        self._start()
        self.fold.forget()

    def run(self, work: Callable[[Core, float], Result]) -> Result:
        """The result of some work on the core, when its events are on disk; its error otherwise."""
        caller = _Caller(Request(work))
        try:
            with self._guard:
                self._waiting.append(caller)
                leads = self._leader is None
                if leads:
                    self._leader = caller
            if not leads:
                caller.sleep.acquire()
            if not caller.answered:
                self._lead()
        except BaseException:  # Ctrl-C, for example
            self._leave(caller)
            raise
        if caller.request.error is not None:
            raise caller.request.error
        return caller.request.result

    def _lead(self) -> None:
        """Run a transaction for those who wait, of whom this thread is the first."""
        batch: list[_Caller] = []
        try:
            with self._guard:
                batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            self.fold.run([caller.request for caller in batch])
        except BaseException as error:
            for caller in batch:
                caller.request.error = caller.request.error or _copy(error)
            if not isinstance(error, Exception):
                raise
        finally:
            for caller in batch:
                caller.answered = True
                caller.sleep.release()
            with self._guard:
                self._wake_next()

    def _wake_next(self) -> None:
        self._leader = self._waiting[0] if self._waiting else None
        if self._leader is not None:
            self._leader.sleep.release()

    def _leave(self, caller: _Caller) -> None:
        with self._guard:
            if caller in self._waiting:
                self._waiting.remove(caller)
                if self._leader is caller:
                    self._wake_next()


def _copy(error: BaseException) -> Exception:
    """The error for one more thread: each adds its own traceback. It must not fail, or a caller would seem answered."""
    if isinstance(error, VambraceError):
        return JournalError(str(error))
    return JournalError(f"journal: {type(error).__name__}: {error}; nothing was acknowledged")
