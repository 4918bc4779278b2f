"""Every error that vambrace raises on purpose."""

from collections.abc import Iterable
from difflib import get_close_matches


def shorten(text: str, most: int = 200) -> str:
    """The beginning of a text, as much as fits into a message."""
    return text if len(text) <= most else f"{text[:most]}…"


def displayed(value: object) -> str:
    """A wrong value as a message shows it: on one short line."""
    return shorten(repr(value), 80)


class VambraceError(Exception):
    """The base class: catch this to catch every error that vambrace raises on purpose.

    Each message is one line that says what was expected and what was found. Each error is also one of Python's, such as
    ValueError: `help("vambrace.errors")` shows them all.

    >>> import vambrace as vb
    >>> try:
    ...     vb.SEWR(budget=-1)
    ... except vb.VambraceError as error:
    ...     print(error)
    budget: expected a number in [0, 1e+18], got -1
    """


class InvalidParameter(VambraceError, ValueError):
    """A value outside its range or of the wrong type."""


class UnknownName(VambraceError, LookupError):
    """A name that is not registered."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'none'}"
        super().__init__(f"unknown {kind} {shorten(name)!r}; {hint}")


class DecisionError(VambraceError, ValueError):
    """A decision that the learner did not make, or no longer knows."""


class HorizonReached(VambraceError, RuntimeError):
    """The learner was asked for more rounds than its horizon."""


class SnapshotError(VambraceError, ValueError):
    """A snapshot that is damaged or of another version."""


class NotApplicable(VambraceError, ValueError):
    """A policy, adversary, environment and engine that do not go together."""


class NotComputed(VambraceError, AttributeError):
    """A part of a result that this run did not compute."""


class MissingExtra(VambraceError, ImportError):
    """An optional dependency that is not installed."""


class GameFault(VambraceError, RuntimeError):
    """A policy, adversary or environment that broke the rules of the game."""


class KernelMistake(VambraceError, TypeError):
    """A kernel that cannot be compiled; the message names its line."""


class ClusterLost(VambraceError, ConnectionError):
    """A scheduler that no longer answers, or workers that never start; what is finished is kept."""


class JournalError(VambraceError, RuntimeError):
    """A journal that cannot be read or written now. What was not acknowledged may be sent again with the same id."""


class ServiceAway(VambraceError, ConnectionError):
    """A service that gave no answer in time. What was not acknowledged may be sent again with the same id or key."""


class ServiceRefused(VambraceError, RuntimeError):
    """A service that refuses a call, for example because the key lacks a role; `status` is what it answered."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class StoreError(VambraceError, RuntimeError):
    """A folder of results that is in use, damaged or another experiment's; `diff` shows what differs."""

    def __init__(self, message: str, *, diff: str = "") -> None:
        super().__init__(message)
        self.diff = diff
