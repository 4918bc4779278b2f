"""Counts of a finished test, for a warm start: for each arm its events and its successes."""

from collections.abc import Mapping, Sequence
from typing import Any

from vambrace.errors import InvalidParameter, displayed
from vambrace.live.events import Label

Counts = Mapping[Label, tuple[int, int]] | Any  # or what `certify` reads


def counts_of(log: Counts, labels: Sequence[Label]) -> dict[Label, tuple[int, int]]:
    """The events and successes of each arm, by its label; a mapping without any of the labels is one of columns."""
    if isinstance(log, Mapping) and any(label in log for label in labels):
        return {label: _pair(label, value) for label, value in log.items()}
    from vambrace.data import tally

    source: Any = log
    reading = tally(source)
    if len(reading.tests) > 1:
        raise InvalidParameter(f"{reading.name}: expected one test, got {len(reading.tests):,}")
    found = next(iter(reading.tests.values()))
    if not found.binary:
        raise InvalidParameter(f"{reading.name}: expected rewards of 0 and 1, got others")
    by_text = {str(label): label for label in labels}
    return {
        by_text.get(text, text): (shown, round(total))
        for text, shown, total in zip(found.labels, found.events, found.totals, strict=True)
    }


def _pair(label: Label, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise InvalidParameter(f"counts of {label!r}: expected events and successes, got {displayed(value)}")
    return value[0], value[1]
