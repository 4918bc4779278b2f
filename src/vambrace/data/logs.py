"""The sums of a log, which has one row for each event: read once, never wholly in memory."""

from functools import partial

import polars

from vambrace.data import times, values
from vambrace.data.columns import EVENTS, Columns, Header
from vambrace.data.sources import Source
from vambrace.data.times import Clock
from vambrace.errors import InvalidParameter

UNIT = (0.0, 1.0)
Range = tuple[float, float]


def summed(
    source: Source, chosen: Columns, ends: Range | None, clock: Clock | None, header: Header
) -> polars.DataFrame:
    """Events and sums of rewards, in one pass; in two if a text file has empty rows, or rewards such as true.

    The columns are test, arm, step, moment, events, total and room: the sum of reward (1 - reward) on the scale [0, 1].
    """
    reward, (low, high) = str(chosen.reward), ends or UNIT
    rows = _added(source, chosen, (low, high), clock, plain=True)
    if not _is_fine(rows, chosen):
        rows = _added(source, chosen, (low, high), clock, plain=False)
    if rows.is_empty():
        raise InvalidParameter(f"{source.name}: expected at least one row, got none")
    if not _is_fine(rows, chosen):
        table = "; in a table of counts, name its events and successes" if header.found(EVENTS) else ""
        hint = f" (a reward range rescales others{table})" if ends is None else ""
        columns = {**values.names(chosen), "written": polars.col(reward), "number": values.numbers(source, reward)}
        if clock is not None:
            columns |= {"time": polars.col(str(chosen.time)), "step": _step(source, chosen, clock)}
        demand = partial(values.demand, source, source.rows(columns, numbered=True))
        for key, column in chosen.keys.items():
            demand(~values.is_missing(key), key, column, "a name")
        if clock is not None:
            demand(polars.col("step").is_not_null(), "time", str(chosen.time), times.WANTED)
        demand(polars.col("number").is_between(low, high), "written", reward, f"a number in [{low:g}, {high:g}]{hint}")
        raise InvalidParameter(f"{source.name}: column {reward!r}: expected numbers that can be added up, got others")
    return rows.drop("numbers", "least room")


def part_of_range(number: polars.Expr, ends: Range) -> polars.Expr:
    """A reward on the scale [0, 1]."""
    low, high = ends
    return number if ends == UNIT else polars.when(number == high).then(1.0).otherwise((number - low) / (high - low))


def _added(source: Source, chosen: Columns, ends: Range, clock: Clock | None, *, plain: bool) -> polars.DataFrame:
    """Numbers of events and of numeric rewards, and the sums of these, scaled to the range."""
    number, reward = values.numbers(source, str(chosen.reward), plain=plain), polars.col("reward")
    keys = {key: polars.col(column) for key, column in chosen.keys.items()}
    columns, latest = {**keys, "reward": part_of_range(number, ends)}, polars.lit(0.0)
    if clock is not None:
        columns |= {"step": _step(source, chosen, clock)}
        columns |= {"moment": times.moment(source, str(chosen.time), clock.is_date)}
        latest = polars.col("moment").max()
    by = [*keys] if clock is None else [*keys, "step"]
    frame = source.rows(columns, plain=plain).with_columns(room=reward * (1.0 - reward))
    sums = frame.group_by(by).agg(
        polars.len().cast(polars.Int64).alias("events"),
        reward.count().alias("numbers"),
        reward.sum().alias("total"),
        polars.col("room").min().alias("least room"),  # negative outside of the range
        polars.col("room").sum(),  # zero if each is at one of its ends; and what the squares lack to the total
        *([] if clock is None else [latest.alias("moment")]),
    )
    rows = source.collect(sums).lazy().with_columns(polars.col(*keys).cast(polars.String))
    if clock is None:
        rows = rows.with_columns(step=polars.lit(0, polars.Int64), moment=polars.lit(0.0))
    return source.collect(rows)


def _step(source: Source, chosen: Columns, clock: Clock) -> polars.Expr:
    return clock.step(times.moment(source, str(chosen.time), clock.is_date))


def _is_fine(rows: polars.DataFrame, chosen: Columns) -> bool:
    """Whether all rewards are numbers within the range, and no name or time is missing."""
    fine = (polars.col("numbers") == polars.col("events")) & (polars.col("least room") >= 0)
    fine &= polars.col("total").is_not_nan() & polars.col("step").is_not_null()
    fine &= ~polars.any_horizontal(values.is_missing(key) for key in chosen.keys)
    return bool(rows.select(fine.fill_null(False).all()).item())
