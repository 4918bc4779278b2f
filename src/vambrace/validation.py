"""Checks of user input: each returns the value in its plain Python type or says what was expected."""

import sys
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vambrace.errors import InvalidParameter, UnknownName

LARGEST_BUDGET = 1e18  # of a policy: far beyond any horizon, and far from overflow
MOST_ROUNDS = 10**15  # beyond it a float64 no longer tells neighbouring rounds apart


def is_number(value: Any) -> bool:
    """Whether this is a Python or NumPy number; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_sequence(value: Any) -> bool:
    """Whether this is a list, a tuple or a one-dimensional array, and not a string."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def number(name: str, value: Any, *, low: float, high: float, open_low: bool = False, open_high: bool = False) -> float:
    """A real number in an interval; infinite only where the interval's end is."""
    too_large = isinstance(value, int) and abs(value) > sys.float_info.max  # for a float: outside every interval
    inside = is_number(value) and low <= value <= high and not too_large
    if not inside or (open_low and value == low) or (open_high and value == high):
        limits = "" if (low, high) == (-inf, inf) else f" in {interval(low, high, open_low, open_high)}"
        raise InvalidParameter(f"{name}: expected a number{limits}, got {value!r}")
    return float(value)


def interval(low: float, high: float, open_low: bool = False, open_high: bool = False) -> str:
    """An interval in the usual notation."""
    return f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"


def budget(value: Any, *, finite: bool = False) -> float:
    """A budget: zero or more; it may be infinite for an attack, but not for a policy, which computes with it."""
    return number("budget", value, low=0.0, high=LARGEST_BUDGET if finite else float("inf"))


def delta(value: Any) -> float | None:
    """A failure probability in (0, 1), or None for the default K / T."""
    return None if value is None else number("delta", value, low=0.0, high=1.0, open_low=True, open_high=True)


def whole(name: str, value: Any, *, low: float, high: float = MOST_ROUNDS) -> int:
    """An integer in [low, high]; a float with an integer value, such as 1e6, is accepted."""
    if is_number(value) and low <= value <= high and value == value // 1:
        return int(value)
    limits = "" if (low, high) == (-inf, inf) else f" in [{low}, {high}]"
    raise InvalidParameter(f"{name}: expected a whole number{limits}, got {value!r}")


def arm(name: str, value: int | None, n_arms: int, default: int) -> int:
    """The given arm of a game of `n_arms` arms, or the default."""
    return default if value is None else whole(name, value, low=0, high=n_arms - 1)


def flag(name: str, value: Any) -> bool:
    """True or False; no other value is accepted."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameter(f"{name}: expected true or false, got {value!r}")
    return bool(value)


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str):
        raise InvalidParameter(f"{name}: expected one of {', '.join(known)}, got {value!r}")
    if value not in known:
        raise UnknownName(name, value, known)
    return str(value)


def listed(name: str, values: Any, length: int | None = None) -> Sequence[Any]:
    """A sequence of `length` values, or of one for each arm and at least one."""
    if not is_sequence(values):
        raise InvalidParameter(f"{name}: expected a sequence, one value for each arm, got {values!r}")
    if len(values) == 0:
        raise InvalidParameter(f"{name}: expected at least one arm, got none")
    if length is not None and len(values) != length:
        raise InvalidParameter(f"{name}: expected {length:,} values, got {len(values):,}")
    return values


def means(values: Any) -> tuple[float, ...]:
    """One mean in [0, 1] for each arm, at least one arm."""
    return tuple(number(f"means[{k}]", value, low=0.0, high=1.0) for k, value in enumerate(listed("means", values)))


def game_size(n_arms: Any, horizon: Any) -> tuple[int, int]:
    """The number of arms and a horizon that is long enough to pull each arm once."""
    n_arms = whole("n_arms", n_arms, low=1, high=10**6)
    horizon = whole("horizon", horizon, low=1)
    if horizon < n_arms:
        raise InvalidParameter(f"horizon: expected at least one round for each of the {n_arms} arms, got {horizon}")
    return n_arms, horizon


def seed(value: Any) -> int:
    """A seed: any integer from zero up."""
    if is_number(value) and isinstance(value, int | np.integer) and value >= 0:
        return int(value)
    raise InvalidParameter(f"seed: expected a whole number from 0 up, got {value!r}")


def checkpoints(value: Any, horizon: int) -> NDArray[np.int64]:
    """Rounds to record: the number of log-spaced rounds (an int), or the rounds themselves; the last is the horizon."""
    if is_number(value):
        wanted = whole("checkpoints", value, low=1, high=10**6)
        if wanted == 1:  # searches play short games by the thousand, and logarithms would take a tenth of their time
            return np.array([horizon])
        rounds = np.unique(np.rint(np.geomspace(1.0, float(horizon), wanted)).astype(np.int64))
        rounds[-1] = horizon
        return rounds
    if is_sequence(value):
        return np.unique([*(whole("checkpoints", each, low=1, high=horizon) for each in value), horizon])
    raise InvalidParameter(f"checkpoints: expected how many, or a sequence of rounds, got {value!r}")
