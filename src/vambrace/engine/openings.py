"""Arms that open and close during a game: `arms_open` of `simulate`, checked, and as the loop reads it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.errors import InvalidParameter
from vambrace.protocols import Flags, Floats, Integers

Window = tuple[int, int | None]  # the first round in which an arm is open, and the first in which it is not any more
Windows = Mapping[int, Sequence[Window]]

EXAMPLE = "windows such as {2: [(1, 5000), (8000, None)]}"


def parse_windows(text: str | None) -> dict[int, list[Window]] | None:
    """The windows of each arm, from ARM:FIRST-END with commas between; without an end it stays open. None: none.

    >>> parse_windows("2:1-5000,2:8000-")
    {2: [(1, 5000), (8000, None)]}
    """
    if text is None:
        return None
    found: dict[int, list[Window]] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+):(\d+)-(\d*)\s*", part)
        if match is None:
            raise InvalidParameter(f"arms_open: expected ARM:FIRST-END such as 2:1-5000 or 2:8000-, got {part!r}")
        arm, first, end = match.groups()
        found.setdefault(int(arm), []).append((int(first), int(end) if end else None))
    return found


class Changes(NamedTuple):
    """What changes before which round, in order; openings come before closings."""

    rounds: Integers
    arms: Integers
    opens: Flags


@dataclass(frozen=True)
class Openings:
    """When each arm is open: windows with a first round and an end, which is not in the window."""

    windows: tuple[tuple[tuple[int, int], ...], ...]  # for each arm
    horizon: int

    @classmethod
    def check(cls, given: Any, n_arms: int, horizon: int) -> "Openings":
        """Refuse windows that are not in order, and rounds without an open arm; other arms are always open."""
        if not isinstance(given, Mapping):
            raise InvalidParameter(f"arms_open: expected {EXAMPLE}, got {given!r}")
        windows: list[tuple[tuple[int, int], ...]] = [((1, horizon + 1),)] * n_arms
        for arm, each in given.items():
            number = validation.whole("arms_open: arm", arm, low=0, high=n_arms - 1)
            windows[number] = _checked(f"arms_open[{arm}]", each, horizon)
        openings = cls(tuple(windows), horizon)
        for t, best in openings.best_open(np.arange(float(n_arms))):
            if best < 0:
                raise InvalidParameter(f"arms_open: expected an open arm in every round, got none in round {t}")
        return openings

    def is_open(self, arm: int, t: int) -> bool:
        """Whether an arm is open in round t."""
        return any(first <= t < end for first, end in self.windows[arm])

    def best_open(self, means: Floats) -> list[tuple[int, int]]:
        """The rounds in which the open arms change, the first round included, and the best open arm from there on."""
        rounds = sorted({1} | {t for each in self.windows for window in each for t in window if t <= self.horizon})
        found = []
        for t in rounds:
            arms = [arm for arm in range(len(means)) if self.is_open(arm, t)]
            found.append((t, max(arms, key=lambda arm: means[arm], default=-1)))
        return found

    def shortfall(self, means: Floats, checkpoints: Integers) -> Floats:
        """What the best open arm pays less than the best arm of all, in expectation, up to each checkpoint."""
        total, highest = np.zeros(len(checkpoints)), float(means.max())
        changes = self.best_open(means)
        ends = [t for t, _ in changes[1:]] + [self.horizon + 1]
        for (first, best), end in zip(changes, ends, strict=True):
            total += (highest - means[best]) * np.clip(checkpoints - (first - 1), 0, end - first)
        return total

    def changes(self) -> Changes:
        """What changes before which round, for the loop. In a fresh state all arms are open."""
        found = []
        for arm, each in enumerate(self.windows):
            if not each or each[0][0] > 1:
                found.append((1, 1, arm))
            for first, end in each:
                found += [(first, 0, arm)] if first > 1 else []
                found += [(end, 1, arm)] if end <= self.horizon else []
        rounds, closes, arms = np.array(sorted(found), dtype=np.int64).reshape(-1, 3).T
        return Changes(rounds.copy(), arms.copy(), closes == 0)


def _checked(name: str, windows: Any, horizon: int) -> tuple[tuple[int, int], ...]:
    """The windows of one arm that begin within the horizon; an end of None, or after it, is the end of the game."""
    if isinstance(windows, str) or not isinstance(windows, Sequence) or not windows:
        raise InvalidParameter(f"{name}: expected {EXAMPLE}, got {windows!r}")
    found: list[tuple[int, int]] = []
    for window in windows:
        if isinstance(window, str) or not isinstance(window, Sequence) or len(window) != 2:
            raise InvalidParameter(f"{name}: expected {EXAMPLE}, got {window!r}")
        first = validation.whole(f"{name}: first round", window[0], low=1, high=validation.MOST_ROUNDS)
        last = validation.MOST_ROUNDS + 1 if window[1] is None else window[1]
        end = validation.whole(f"{name}: end", last, low=first + 1, high=validation.MOST_ROUNDS + 1)
        if found and first <= found[-1][1]:
            raise InvalidParameter(f"{name}: expected a later first round than {found[-1][1]}, got {first}")
        found.append((first, end))
    return tuple((first, min(end, horizon + 1)) for first, end in found if first <= horizon)
