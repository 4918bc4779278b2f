"""The time of events. A clock that jumps must not expire every open decision, so a jump is an error.

A clock that is behind those of other machines does no harm: time stands still until it has caught up (see `Core`).
"""

import time
from collections.abc import Callable

from vambrace.errors import JournalError

TOLERANCE = 60.0  # seconds between two calls: clocks are corrected in small steps


def _elapsed() -> float:
    """Seconds since some moment, also while the machine sleeps; nobody can set this clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Clock:
    """The time of day, compared with a clock that cannot be set.

    Args:
        now: The time of day in seconds since 1970.
        elapsed: Seconds since some moment.
    """

    def __init__(self, now: Callable[[], float] = time.time, elapsed: Callable[[], float] = _elapsed) -> None:
        self._now, self._elapsed = now, elapsed
        self._last = now(), elapsed()

    def read(self) -> float:
        """The time for the next event; an error if the clock jumped, until it is right again."""
        now, elapsed = self._now(), self._elapsed()
        expected = self._last[0] + elapsed - self._last[1]
        if abs(now - expected) > TOLERANCE:
            raise JournalError(
                f"clock: expected about {_shown(expected)}, got {_shown(now)}: it jumped by {now - expected:+,.0f} s. "
                "Set it right; if it is right now, open the learner again, or start the service again; "
                "nothing was acknowledged"
            )
        self._last = now, elapsed
        return now


def _shown(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
