"""Bursts: minutes with many more answers than usual, as when somebody sends answers with a program."""

from collections import deque
from typing import NamedTuple

MINUTE = 60
USUAL = 60  # minutes before, whose mean is what is usual
FEWEST = 10  # minutes that must be known
TIMES = 5.0  # what is usual, so often, is a burst
LEAST = 60  # answers in a minute that can be a burst
REMEMBERED = 50


class Burst(NamedTuple):
    """A minute with a burst."""

    time: float  # its beginning
    answers: int
    usual: float  # answers per minute in the hour before


class Bursts:
    """Counts answers by the minute, and remembers the last bursts.

    A minute is a burst if it has at least LEAST answers, and more than TIMES the mean of the hour before.

    Args:
        begun: The time from which on answers are counted.

    >>> bursts = Bursts(begun=0.0)
    >>> for minute in range(20):
    ...     for _ in range(300 if minute == 15 else 20):
    ...         bursts.add(60.0 * minute)
    >>> bursts.found
    deque([Burst(time=900, answers=300, usual=20.0)], maxlen=50)
    """

    def __init__(self, begun: float) -> None:
        self.found: deque[Burst] = deque(maxlen=REMEMBERED)
        self.total = 0
        self._minute, self._answers = int(begun // MINUTE), 0
        self._before: deque[int] = deque(maxlen=USUAL)

    def add(self, time: float, answers: int = 1) -> None:
        """Count answers; time does not run backwards."""
        minute = int(time // MINUTE)
        if minute != self._minute:
            self._before.append(self._answers)
            self._before.extend([0] * min(minute - self._minute - 1, USUAL))
            self._minute, self._answers = minute, 0
        self._answers += answers
        if self._answers >= LEAST and len(self._before) >= FEWEST:
            usual = sum(self._before) / len(self._before)
            if self._answers > TIMES * usual:
                self._remember(Burst(minute * MINUTE, self._answers, usual))

    def _remember(self, burst: Burst) -> None:
        if self.found and self.found[-1].time == burst.time:
            self.found[-1] = burst
        else:
            self.found.append(burst)
            self.total += 1
