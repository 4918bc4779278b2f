"""Times: a column of numbers or dates becomes steps, and sums become sums up to each step.

Dates and times of day are ordered as they are written (an offset from UTC is ignored) and cut to the day, or to the
hour if all lie within two days. Numbers are steps themselves; where they are many, neighbours share a step.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import add, itemgetter
from typing import NamedTuple

import polars

from vambrace.data.sources import Source
from vambrace.errors import InvalidParameter, displayed

MOST_STEPS = 400  # of a test
FINEST = 4096  # parts of the range of numbers that are told apart
HOUR, DAY = 3600, 24
TWO_DAYS = 48  # hours
FIRST_VALUES = 1000  # show whether a text holds numbers or dates
WANTED = "numbers, or dates such as 2026-01-31 or 2026-01-31 13:45"
DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|UTC|[+-]\d{2}(:?\d{2})?)?)?$"

Sums = dict[str, tuple[int, float, float]]  # of each arm: events, total, room


class Clock(NamedTuple):
    """How moments (seconds for dates, otherwise the numbers themselves) become steps."""

    is_date: bool
    low: float = 0.0
    parts: float = 1.0 / HOUR  # of a unit

    def step(self, moment: polars.Expr) -> polars.Expr:
        """The number of the step."""
        return ((moment - self.low) * self.parts).floor().cast(polars.Int64, strict=False)

    def label(self, moment: float, hours: int) -> str:
        """What to call a step of so many hours by its last moment."""
        if not self.is_date:
            return f"{moment:.15g}"
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d" if hours == DAY else "%Y-%m-%d %H:00")


def clock(sources: Sequence[Source], columns: Sequence[str]) -> Clock:
    """The clock for all pieces of a log."""
    kinds = {_is_date(source, column) for source, column in zip(sources, columns, strict=True)}
    if len(kinds) > 1:
        raise InvalidParameter(f"{sources[0].name}: column {columns[0]!r}: expected {WANTED}, got both")
    if kinds == {True}:
        return Clock(True)
    ends: list[float] = []
    for source, column in zip(sources, columns, strict=True):
        value = moment(source, column, False)
        found = source.collect(source.frame.select(low=value.min(), high=value.max()))
        ends += [each for each in found.row(0) if each is not None and math.isfinite(each)]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    return Clock(False, low, FINEST / (high - low) if high > low else 1.0)


def moment(source: Source, column: str, is_date: bool) -> polars.Expr:
    """A column of times as numbers, dates in seconds; null where it has no time."""
    kind, value = source.frame.collect_schema()[column], polars.col(column)
    if kind == polars.String:
        text = value.str.strip_chars()
        if not is_date:
            number = text.cast(polars.Float64, strict=False)
            return polars.when(number.is_finite()).then(number)
        parts = ((11, 2, 3600), (14, 2, 60), (17, 2, 1))
        seconds = (
            text.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(polars.Int32).cast(polars.Int64) * 86400
        )
        for at, length, unit in parts:
            seconds += text.str.slice(at, length).cast(polars.Int64, strict=False).fill_null(0) * unit
        return polars.when(text.str.contains(DATE)).then(seconds.cast(polars.Float64))
    if is_date:
        return value.cast(polars.Datetime("us")).dt.timestamp("us") / 1e6
    number = value.cast(polars.Float64, strict=False)
    return polars.when(number.is_finite()).then(number)


def _is_date(source: Source, column: str) -> bool:
    """Whether a column holds dates, not numbers."""
    kind = source.frame.collect_schema()[column]
    if kind.is_numeric() or kind == polars.Date or isinstance(kind, polars.Datetime):
        return not kind.is_numeric()
    if kind != polars.String:
        raise InvalidParameter(f"{source.name}: column {column!r}: expected {WANTED}, got {kind}")
    text = polars.col(column).str.strip_chars()
    first = source.collect(source.frame.select(text).filter(text.is_not_null()).head(FIRST_VALUES))
    for is_number in (True, False):
        good = text.cast(polars.Float64, strict=False).is_not_null() if is_number else text.str.contains(DATE)
        if first.select(good.all()).item():
            return not is_number
    odd = first.filter(~text.str.contains(DATE) & text.cast(polars.Float64, strict=False).is_null())
    came = displayed(odd.item(0, 0)) if odd.height else "both"
    raise InvalidParameter(f"{source.name}: column {column!r}: expected {WANTED}, got {came}")


def cumulated(rows: polars.DataFrame, clock: Clock) -> Iterator[tuple[str, str, Sums]]:
    """Tests, labels of their steps, and the sums of the arms so far; rows have test, arm, step, moment and sums."""
    span = rows.select(polars.col("step").max() - polars.col("step").min()).item()
    hours = DAY if clock.is_date and (span >= TWO_DAYS or _only_days(rows)) else 1
    columns = ("step", "moment", "arm", "events", "total", "room")
    rows = rows.with_columns(polars.col("step") // hours).sort("step", "moment")
    for (test,), part in rows.group_by("test", maintain_order=True):
        kept, sums = _thinned(part["step"].unique().sort().to_list()), Sums()
        for step, same in groupby(part.select(columns).iter_rows(), key=itemgetter(0)):
            last = 0.0
            for _, last, arm, *more in same:  # noqa: B007 (the last of all)
                sums[arm] = tuple(map(add, sums.get(arm, (0, 0.0, 0.0)), more))
            if step in kept:
                yield str(test), clock.label(last, hours), dict(sums)


def _only_days(rows: polars.DataFrame) -> bool:
    """Whether no time of day is given."""
    return bool(rows.select((polars.col("moment") % (HOUR * DAY) == 0).all()).item())


def _thinned(steps: list[int]) -> set[int]:
    """At most as many steps as are drawn, evenly chosen, the last among them."""
    n = len(steps)
    return set(steps if n <= MOST_STEPS else [steps[(at + 1) * n // MOST_STEPS - 1] for at in range(MOST_STEPS)])
