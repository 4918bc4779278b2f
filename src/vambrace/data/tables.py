"""The sums of a table of counts: one row for each arm, or several that are added up, such as one for each day."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import NamedTuple

import polars

from vambrace.data import times, values
from vambrace.data.columns import Columns
from vambrace.data.sources import ROW, Source
from vambrace.data.times import Clock
from vambrace.errors import InvalidParameter, displayed
from vambrace.validation import MOST_ROUNDS

WHOLE = f"a whole number in [0, {MOST_ROUNDS}]"
MOST_ROWS = 10**7
PER_CENT = ("%", "percent", "pct", "prozent")


class Table(NamedTuple):
    """The sums of each arm, what the user should know, and whether rows of an arm were added up."""

    rows: polars.DataFrame  # test, arm, step, moment, events, total, room, in the order of the source
    notes: tuple[str, ...]
    added_up: bool


def counted(source: Source, chosen: Columns, drop: Sequence[str], clock: Clock | None) -> Table:
    """A table of counts, checked and added up for each arm."""
    events, successes = str(chosen.events), str(chosen.successes or chosen.rate)
    columns = values.names(chosen) | {"events": values.numbers(source, events)}
    columns |= {"written events": polars.col(events), "written total": polars.col(successes)}
    columns |= {"unclear events": values.grouped(source, events), "unclear total": values.grouped(source, successes)}
    if chosen.rate is None:
        columns |= {"total": values.numbers(source, successes)}
    columns |= {"step": polars.lit(0, polars.Int64), "moment": polars.lit(0.0)}
    if clock is not None:
        columns["moment"] = times.moment(source, str(chosen.time), clock.is_date)
        columns |= {"step": clock.step(columns["moment"]), "time": polars.col(str(chosen.time))}
    frame = source.collect(source.rows(columns, numbered=True).head(MOST_ROWS + 1))
    if frame.is_empty():
        raise InvalidParameter(f"{source.name}: expected at least one row, got none")
    if frame.height > MOST_ROWS:
        most = f"at most {MOST_ROWS:,} rows in a table of counts (in a log, name the reward)"
        raise InvalidParameter(f"{source.name}: expected {most}, got more")
    frame = frame.filter(~polars.col("arm").str.strip_chars().is_in(list(drop)).fill_null(False))
    notes = list[str]()
    _check(source, chosen, frame, clock)
    if chosen.rate is not None:
        frame = frame.with_columns(total=polars.Series(_from_rates(source, chosen, frame, notes), dtype=polars.Float64))
    added_up = bool(frame.select(polars.struct(*chosen.keys).is_duplicated().any()).item())
    _check_successes(source, successes, events, frame, summed=added_up)
    if added_up:
        notes += _summed(frame, chosen)
    sums = frame.group_by(*chosen.keys, "step", maintain_order=True).agg(
        polars.col("events").cast(polars.Int64).sum(), polars.col("total").sum(), polars.col("moment").max()
    )
    return Table(sums.with_columns(room=polars.lit(0.0)), tuple(notes), added_up)


def _check(source: Source, chosen: Columns, frame: polars.DataFrame, clock: Clock | None) -> None:
    """The names, the times and the numbers of events."""
    demand, shown, events = partial(values.demand, source, frame), polars.col("events"), str(chosen.events)
    for key, column in chosen.keys.items():
        demand(~values.is_missing(key), key, column, "a name")
    if clock is not None:
        demand(polars.col("step").is_not_null(), "time", str(chosen.time), times.WANTED)
    plain = "a number without signs between thousands, or with other decimals than .000"
    demand(~polars.col("unclear events"), "written events", events, plain)
    demand(shown.is_between(0, MOST_ROUNDS) & (shown == shown.round()), "written events", events, WHOLE)


def _check_successes(source: Source, column: str, events: str, frame: polars.DataFrame, *, summed: bool) -> None:
    demand, won = partial(values.demand, source, frame), polars.col("total")
    plain = "a number without signs between thousands, or with other decimals than .000"
    whole = "a whole number from 0 up"
    demand(~polars.col("unclear total"), "written total", column, plain)
    fraction = won.is_between(0, 1, closed="none")
    demand(~fraction.fill_null(False), "written total", column, f"{whole} (a rate? give the number of successes)")
    demand(won.is_finite() & (won >= 0) & (won == won.round()), "written total", column, whole)
    if not summed:  # a click of today may belong to a view of yesterday
        demand(won <= polars.col("events"), "written total", column, f"no more than {events}")


def _summed(frame: polars.DataFrame, chosen: Columns) -> list[str]:
    """That rows were added up, and whether they look as if they should not have been."""
    arms = frame.select(*chosen.keys).n_unique()
    notes = [f"Rows of the same arm were added up: {frame.height:,} rows, {arms:,} arms."]
    rising = frame.group_by(*chosen.keys).agg(
        polars.len(),
        *((polars.col(each).diff().drop_nulls() >= 0).all().alias(each) for each in ("events", "total")),
        (polars.col("events").last() > polars.col("events").first()).alias("more"),
    )
    if rising.select(
        ((polars.col("len") >= 3) & polars.col("events") & polars.col("total") & polars.col("more")).all()
    ).item():
        notes.append(
            f"{chosen.events} and {chosen.successes or chosen.rate} never fall from row to row of an arm: if they are "
            "running totals, keep only the last row of each arm."
        )
    return notes


def _from_rates(source: Source, chosen: Columns, frame: polars.DataFrame, notes: list[str]) -> list[int]:
    """The numbers of successes that rates stand for; a rate that was rounded too much is refused."""
    column, give = str(chosen.rate), "give the number of successes instead"
    where = f"{source.name}: column {column!r}"
    rates = list[Decimal]()
    is_share = True
    for row, written in frame.select(ROW, "written total").iter_rows():
        text = "" if written is None else str(written).strip()
        is_share &= not text.endswith("%")
        try:
            rates.append(Decimal(text.removesuffix("%").strip()))
        except InvalidOperation:
            rates.append(Decimal("NaN"))
        if not (rates[-1].is_finite() and 0 <= rates[-1] <= 100):
            came = f"{'nothing' if written is None else displayed(written)} in row {row:,}"
            raise InvalidParameter(f"{where}: expected a rate, got {came}{values.advice(written)}")
    is_share &= max(rates, default=Decimal(0)) <= 1 and not any(each in column.lower() for each in PER_CENT)
    rates = [rate if is_share else rate / 100 for rate in rates]
    unit = Decimal(1).scaleb(min(int(rate.as_tuple().exponent) for rate in rates))  # that of the last decimal
    found = list[int]()
    for row, n, written, rate in zip(frame[ROW], frame["events"], frame["written total"], rates, strict=True):
        product, slack = rate * Decimal(n), unit * Decimal(n) / 2
        if slack > Decimal("0.501"):
            exact = f"a rate with more decimals (of {int(n):,} events; {give})"
            raise InvalidParameter(f"{where}: expected {exact}, got {written} in row {row:,}")
        found.append(round(product))
        if abs(product - found[-1]) > slack + Decimal("1e-6"):
            whole = f"a rate that makes a whole number of {int(n):,} events ({give})"
            raise InvalidParameter(f"{where}: expected {whole}, got {written} in row {row:,}")
    first = frame.row(0, named=True)
    example = f"{first['written total']} of {int(first['events']):,} is {found[0]:,}"
    notes.append(f"{column} was read as a rate, from which the number of successes was computed ({example}).")
    return found
