"""One event for each person of a log: a success if any of the person's events was one.

A person who saw several arms counts once, for the arm seen first: whatever the person saw later, the first arm was
chosen before any outcome was known, so that the persons of two arms can be compared. To leave such persons out would
not do, since who comes back and sees another arm may depend on the first one. The price is that a difference between
arms looks smaller.

Persons are told apart by 64 bits of a hash (for 10⁷ persons, two share one with probability 3·10⁻⁶), and are grouped in
parts of about a million rows, from a copy in a temporary file: memory does not grow with the log.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars

from vambrace.data import times, values
from vambrace.data.columns import Columns
from vambrace.data.sources import Source
from vambrace.data.times import Clock
from vambrace.errors import InvalidParameter

PART = 10**6  # rows that are grouped at a time


class People(NamedTuple):
    """Sums with one event for each person, how many persons there are, and how many of them saw several arms."""

    rows: polars.DataFrame
    persons: int
    several: int


def grouped(
    pieces: Sequence[tuple[Source, Columns]], rows: polars.DataFrame, ends: tuple[float, float], clock: Clock | None
) -> People:
    """The persons of a log, whose sums over events are `rows`."""
    name, user = pieces[0][0].name, str(pieces[0][1].user)
    if rows["room"].sum() > 0:
        wanted = (
            "rewards that are 0 or 1 if events are counted per person (otherwise add up each person's rewards first)"
        )
        raise InvalidParameter(f"{name}: column {pieces[0][1].reward!r}: expected {wanted}, got others")
    for source, chosen in pieces:
        columns = {"person": polars.col(str(chosen.user)), "name": polars.col(str(chosen.user)).cast(polars.String)}
        missing, named = values.is_missing("name"), source.rows(columns, numbered=True)
        values.demand(source, named, ~missing, "person", user, "a name of each person (leave out rows without one)")
    log = polars.concat(_events(source, chosen, ends, clock) for source, chosen in pieces)
    n_parts = -(-int(rows["events"].sum()) // PART)
    if n_parts == 1:
        found = [_first(pieces[0][0].collect(log))]
    else:
        with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
            path = Path(folder) / "events.parquet"
            log.sink_parquet(path, compression="lz4", row_group_size=PART // 4)
            found = [
                _first(
                    polars.scan_parquet(path).filter(polars.col("person") % n_parts == part).collect(engine="streaming")
                )
                for part in range(n_parts)
            ]
    sums = (
        polars.concat(found)
        .group_by("arm_hash", "step")
        .agg(polars.col("events", "total", "several").sum(), polars.col("moment").max())
    )
    arms = rows.select("test", "arm", arm_hash=_hash("test", "arm")).unique("arm_hash")
    together = sums.join(arms, on="arm_hash").with_columns(room=polars.lit(0.0))
    return People(together.drop("arm_hash", "several"), int(sums["events"].sum()), int(sums["several"].sum()))


def _events(source: Source, chosen: Columns, ends: tuple[float, float], clock: Clock | None) -> polars.LazyFrame:
    """The person, arm and success of each event, and when it was; in few bytes."""
    names = values.names(chosen)
    columns = {"arm": names["arm"], "test": names.get("test", polars.lit(""))}
    columns |= {"user": polars.col(str(chosen.user)).cast(polars.String)}
    columns |= {"success": values.numbers(source, str(chosen.reward)) == ends[1]}
    moment = polars.lit(0.0) if clock is None else times.moment(source, str(chosen.time), clock.is_date)
    rows = source.rows({**columns, "moment": moment})
    step = polars.lit(0, polars.Int64) if clock is None else clock.step(polars.col("moment"))
    return rows.select(
        _hash("test", "user").alias("person"),
        _hash("test", "arm").alias("arm_hash"),
        polars.col("success").cast(polars.Int8),
        "moment",
        step=step,
    )


def _first(events: polars.DataFrame) -> polars.DataFrame:
    """The sums of the persons of whole events, for each arm and step that they saw first."""
    if events["moment"].n_unique() > 1:
        events = events.sort("moment", maintain_order=True)
    arm = polars.col("arm_hash")
    persons = events.group_by("person").agg(
        polars.col("arm_hash", "step", "moment").first(),  # in the order of the log
        polars.col("success").max(),
        (arm.min() != arm.max()).alias("several"),
    )
    return persons.group_by("arm_hash", "step").agg(
        polars.len().cast(polars.Int64).alias("events"),
        polars.col("success").cast(polars.Int64).sum().cast(polars.Float64).alias("total"),
        polars.col("several").sum().cast(polars.Int64),
        polars.col("moment").max(),
    )


def _hash(*names: str) -> polars.Expr:
    return polars.struct(*names).hash()
