"""Answers that wait to be sent: a bounded list, and a thread that sends what is in it.

An answer leaves the list when the service has acknowledged it, and not before. So at any moment each answer that was
taken is counted in `outcomes` or is in the list, and `close` hands back what is still there.
"""

import atexit
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import islice

from vambrace.errors import ServiceAway, ServiceRefused, VambraceError
from vambrace.live import forks

Answer = tuple[str, float]  # an id and its reward

GATHER = 0.05  # seconds that the first answer waits for others
BATCH = 500  # answers in one request: they fit into 64 kB
AT_EXIT = 5.0  # seconds to send what is left when the program ends
log = logging.getLogger(__name__)


class Outbox:
    """Answers that wait to be sent. Any number of threads may add to it.

    Args:
        send: Sends some answers, and returns what each of them was: "applied" or another outcome. It raises
            `ServiceAway` if it is worth to try again.
        most: The largest number of answers that wait.
    """

    def __init__(self, send: Callable[[Sequence[Answer]], list[str]], most: int) -> None:
        self._send, self._most = send, most
        self.restart()
        forks.watch(self)

    def pause(self) -> None:
        """Before a fork."""
        self._changed.acquire()

    def resume(self) -> None:
        """After a fork."""
        self._changed.release()

    def restart(self) -> None:
        """At the beginning, and in a copy of the process: what waits there is sent by the first."""
        self._changed = threading.Condition(threading.Lock())
        self.outcomes: Counter[str] = Counter()
        self._waiting: deque[Answer] = deque()
        self._is_working = False
        self._hurry = 0  # callers who wait until all is sent
        self._fault: VambraceError | None = None  # why nothing is sent until somebody calls `flush`

    @property
    def waiting(self) -> int:
        """The number of answers that are not acknowledged yet."""
        return len(self._waiting)

    def add(self, answer: Answer) -> None:
        """Take an answer, or raise. What is taken is sent, or handed back by `close`."""
        with self._changed:
            self._check_fault()
            if len(self._waiting) >= self._most:
                raise ServiceAway(
                    f"tell_later: expected at most {self._most:,} unsent answers, got one more, which was not taken"
                )
            self._waiting.append(answer)
            if not self._is_working:
                self._is_working = True
                threading.Thread(target=self._work, args=(self._waiting,), name="vambrace-answers", daemon=True).start()
                atexit.register(self._at_exit)
            self._changed.notify_all()

    def count(self, outcome: str) -> None:
        """Count an answer that need not be sent."""
        with self._changed:
            self.outcomes[outcome] += 1

    def flush(self, patience: float) -> None:
        """Wait until all answers are acknowledged; an error says how many are not."""
        with self._changed:
            self._wait(patience)
            self._check_fault()
            if self._waiting:
                raise ServiceAway(f"flush: {len(self._waiting):,} answers are not sent after {patience:g} seconds")

    def close(self, patience: float) -> list[Answer]:
        """Send what waits, stop the thread, and hand back what could not be sent."""
        with self._changed:
            self._wait(patience)
            left, self._waiting = list(self._waiting), deque()
            self._is_working = False
            self._fault = None
            self._changed.notify_all()
        atexit.unregister(self._at_exit)
        return left

    def _wait(self, patience: float) -> None:
        self._fault = None
        self._hurry += 1
        self._changed.notify_all()
        try:
            self._changed.wait_for(lambda: not self._waiting or self._fault is not None, patience)
        finally:
            self._hurry -= 1

    def _check_fault(self) -> None:
        if self._fault is not None:
            raise type(self._fault)(f"{self._fault}; {len(self._waiting):,} answers are not sent")

    def _work(self, waiting: deque[Answer]) -> None:
        """Send what is in this list until another one takes its place."""
        while batch := self._next_batch(waiting):
            fault: VambraceError | None = None
            outcomes: list[str] = []
            try:
                outcomes = self._send(batch)
            except ServiceAway:
                continue  # that took its time; the answers are still in the list
            except VambraceError as error:
                fault = error
            except Exception as error:  # a mistake of ours must not end the thread in silence
                fault = ServiceRefused(f"tell_later: {type(error).__name__}: {error}")
            with self._changed:
                if self._waiting is waiting:
                    self._fault = fault
                    if fault is None:
                        self.outcomes.update(outcomes)
                        for _ in batch:
                            waiting.popleft()
                self._changed.notify_all()

    def _next_batch(self, waiting: deque[Answer]) -> list[Answer]:
        """The oldest answers, when there are some; none: the list was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting is not waiting or (len(waiting) > 0 and self._fault is None))
            self._changed.wait_for(
                lambda: self._waiting is not waiting or self._hurry > 0 or len(waiting) >= BATCH, GATHER
            )
            return list(islice(waiting, BATCH)) if self._waiting is waiting else []

    def _at_exit(self) -> None:
        left = self.close(AT_EXIT)
        if left:
            log.warning("%d answers were not sent when the program ended", len(left))
