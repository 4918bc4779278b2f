"""Sums: `tally` gives the events and rewards of each arm of each test, `read_test` those of one test, for replay.

A tally reads a file once and never holds all of it in memory; only if something is wrong it reads again to find where.
"""

from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, NamedTuple

import polars

from vambrace.data import sources as files
from vambrace.data.columns import EVENTS, Columns, Header, Layout, same
from vambrace.data.sources import ROW, File, Log, Source
from vambrace.errors import InvalidParameter, displayed
from vambrace.validation import MOST_ROUNDS

MISSING = ("", "nan", "null", "<na>")  # what programs write for a missing name
WHOLE = f"a whole number in [1, {MOST_ROUNDS}]"
NOTHING_SAID = Columns()
UNIT = (0.0, 1.0)
MOST_ROWS = 10**6


class Tally(NamedTuple):
    """The sums of one test, for each arm: events, their rewards on the scale [0, 1], and the squares of these rewards.

    `binary` says whether each reward is 0 or 1; `squares` then equals `totals`.
    """

    labels: tuple[str, ...]
    events: tuple[int, ...]
    totals: tuple[float, ...]
    squares: tuple[float, ...]
    binary: bool


class Reading(NamedTuple):
    """What was read.

    Attributes:
        name: The name of the source in a sentence.
        tests: Each test, by its name ("" if no column names tests).
        columns: The column for each use.
        notes: Sentences that the user should read, such as that rows of the same arm were added up.
        over_time: For each test the sums up to each moment, in order of time, with what to call the moment; empty
            unless a column of the time is named. An arm that has no events yet has zeros there.
        files: The files that were read.
    """

    name: str
    tests: dict[str, Tally]
    columns: dict[str, str]
    notes: tuple[str, ...] = ()
    over_time: dict[str, list[tuple[str, Tally]]] = {}  # noqa: RUF012 (never changed)
    files: tuple[File, ...] = ()


def tally(sources: Log, wanted: Columns = NOTHING_SAID, reward_range: tuple[float, float] | None = None) -> Reading:
    """The events and rewards of each test, for each arm; in the order of the source for a table, sorted for a log.

    `sources` is a file, a pattern such as logs/*.csv, a frame, a mapping of columns, or a list of these: the pieces of
    one log or table. The least and the largest reward of the range become 0 and 1.
    """
    return _reading([_piece(source, wanted, reward_range) for source in files.pieces(sources)])


def read_test(
    sources: Log, wanted: Columns, layout: Layout | None = None, test: object = None
) -> tuple[Tally, tuple[float, ...] | None]:
    """One test, and its rewards arm after arm if they are not all 0 or 1; `test` names it if there are several."""
    pieces = [_piece(source, wanted, UNIT, layout) for source in files.pieces(sources)]
    reading = _reading(pieces)
    name = _chosen_test(reading, test)
    found = reading.tests[name]
    if found.binary:
        return found, None
    # in order of size, so that the order of the log, which has no meaning here, changes nothing
    frames = []
    for source, chosen, _ in pieces:
        rows = source.rows({**_names(chosen), "reward": _numbers(source, str(chosen.reward))})
        frames.append(source.collect(rows if chosen.test is None else rows.filter(test=name)).select("arm", "reward"))
    rewards = dict(polars.concat(frames).group_by("arm").agg(polars.col("reward").sort()).iter_rows())
    return found, tuple(each for label in found.labels for each in rewards[label])


class _Piece(NamedTuple):
    source: Source
    chosen: Columns
    rows: polars.DataFrame  # test, arm, events, total, room: the sum of reward (1 - reward), 0 if all are 0 or 1


def _piece(raw: Any, wanted: Columns, reward_range: tuple[float, float] | None, layout: Layout | None = None) -> _Piece:
    source = files.opened(raw)
    header = Header(source)
    chosen = header.choose(wanted, layout)
    if chosen.is_table and wanted.reward is not None and _repeats(source, chosen):
        chosen = Columns(chosen.test, chosen.arm, wanted.reward)  # a log, although its columns are named as in a table
    if not chosen.is_table:
        hint = "; in a table of counts, name its events and successes" if header.found(EVENTS) else ""
        hint = f" (a reward range rescales others{hint})" if reward_range is None else ""
        rows = _log(source, chosen, reward_range or UNIT, hint)
    elif reward_range in (None, UNIT):
        rows = _table(source, chosen)
    else:
        raise InvalidParameter(f"{source.name}: expected a log, whose rewards have a range, got a table of successes")
    tests = polars.lit("").alias("test") if chosen.test is None else polars.col("test")
    return _Piece(source, chosen, rows.select(tests, "arm", "events", "total", "room"))


def _reading(pieces: list[_Piece]) -> Reading:
    """The sums of all pieces, if these have the same columns."""
    first = pieces[0]
    for piece in pieces[1:]:
        if not same(first.chosen, piece.chosen):
            ours, theirs = (", ".join(each.chosen.named().values()) for each in (piece, first))
            expected = f"the columns of {first.source.name} ({theirs}; name those that you mean)"
            raise InvalidParameter(f"{piece.source.name}: expected {expected}, got {ours}")
    rows = polars.concat(piece.rows for piece in pieces).group_by("test", "arm", maintain_order=True)
    found: dict[str, dict[str, Any]] = {}
    for test, label, *row in rows.agg(polars.col("events", "total", "room").sum()).iter_rows():
        found.setdefault(test, {})[label] = row
    if first.chosen.test is not None:
        _check_alike(first.source.name, first.chosen.test, found)
    for arms in found.values():
        _check_alike(first.source.name, str(first.chosen.arm), arms)
    # the order of a log's first events has no meaning, that of a table may have one
    order = list if first.chosen.is_table else _sorted
    tests = {test: _tally({label: found[test][label] for label in order(found[test])}) for test in order(found)}
    name = files.and_more([piece.source.name for piece in pieces])
    read = tuple(piece.source.file for piece in pieces if piece.source.file is not None)
    return Reading(name, tests, first.chosen.named(), files=read)


def _chosen_test(reading: Reading, test: object) -> str:
    """The name of the test that is meant, if there are several."""
    first = next(iter(reading.tests))
    if test is None and len(reading.tests) == 1:
        return first
    if "test" not in reading.columns:
        raise InvalidParameter(f"{reading.name}: expected a column 'test' that tells {test!r} from others, got none")
    if test is None or str(test) not in reading.tests:
        wanted = f"the name of one of its {len(reading.tests):,} tests, such as {first!r}"
        raise InvalidParameter(f"{reading.name}: column {reading.columns['test']!r}: expected {wanted}, got {test!r}")
    return str(test)


def _repeats(source: Source, chosen: Columns) -> bool:
    """Whether an arm has more than one row."""
    keys = {key: polars.col(column) for key, column in chosen.keys.items()}
    return bool(source.collect(source.rows(keys).group_by(*keys).len().select((polars.col("len") > 1).any())).item())


def _table(source: Source, chosen: Columns) -> polars.DataFrame:
    events, successes = str(chosen.events), str(chosen.successes)
    shown, won = polars.col("events"), polars.col("total")
    columns = _names(chosen) | {"events": _numbers(source, events), "total": _numbers(source, successes)}
    columns |= {"written events": polars.col(events), "written total": polars.col(successes)}
    rows = source.rows(columns, numbered=True)
    is_log = _repeats(source, chosen)  # it looks like a table, and may be too large for the memory
    frame = source.collect(rows.head(MOST_ROWS) if is_log else rows)
    if frame.is_empty():
        raise InvalidParameter(f"{source.name}: expected at least one row, got none")
    demand, once = partial(_demand, source, frame), "one row for each arm (in a log, name the reward)"
    demand(polars.struct(*chosen.keys).is_first_distinct(), "arm", str(chosen.arm), once)
    if is_log:
        raise InvalidParameter(f"{source.name}: column {chosen.arm!r}: expected {once}, got more")
    demand(shown.is_between(1, MOST_ROUNDS) & (shown == shown.round()), "written events", events, WHOLE)
    demand((won >= 0) & (won == won.round()), "written total", successes, "a whole number from 0 up")
    demand(won <= shown, "written total", successes, f"no more than {events}")
    for key, column in chosen.keys.items():
        demand(~_is_missing(key), key, column, "a name")
    return frame.select(*chosen.keys, shown.cast(polars.Int64), won, polars.lit(0.0).alias("room"))


def _log(source: Source, chosen: Columns, ends: tuple[float, float], hint: str) -> polars.DataFrame:
    """The sums of a log, in one pass; in two if it is a text file with empty rows, or with rewards such as true."""
    reward, (low, high) = str(chosen.reward), ends
    rows = _added(source, chosen, ends, plain=True)
    if not _is_fine(rows, chosen):
        rows = _added(source, chosen, ends, plain=False)
    if rows.is_empty():
        raise InvalidParameter(f"{source.name}: expected at least one row, got none")
    if not _is_fine(rows, chosen):
        columns = {**_names(chosen), "written": polars.col(reward), "number": _numbers(source, reward)}
        demand = partial(_demand, source, source.rows(columns, numbered=True))
        for key, column in chosen.keys.items():
            demand(~_is_missing(key), key, column, "a name")
        demand(polars.col("number").is_between(low, high), "written", reward, f"a number in [{low:g}, {high:g}]{hint}")
        raise InvalidParameter(f"{source.name}: column {reward!r}: expected numbers that can be added up, got others")
    return rows


def _added(source: Source, chosen: Columns, ends: tuple[float, float], *, plain: bool) -> polars.DataFrame:
    """Numbers of events and of numeric rewards, and the sums of these, scaled to the range."""
    low, high = ends
    number, reward = _numbers(source, str(chosen.reward), plain=plain), polars.col("reward")
    keys = {key: polars.col(column) for key, column in chosen.keys.items()}
    part = number if ends == UNIT else polars.when(number == high).then(1.0).otherwise((number - low) / (high - low))
    frame = source.rows({**keys, "reward": part}, plain=plain).with_columns(room=reward * (1.0 - reward))
    sums = frame.group_by(*keys).agg(
        polars.len().cast(polars.Int64).alias("events"),
        reward.count().alias("numbers"),
        reward.sum().alias("total"),
        polars.col("room").min().alias("least room"),  # negative outside of the range
        polars.col("room").sum(),  # zero if each is at one of its ends; and what the squares lack to the total
    )
    return source.collect(source.collect(sums).lazy().with_columns(polars.col(*keys).cast(polars.String)))


def _is_fine(rows: polars.DataFrame, chosen: Columns) -> bool:
    """Whether all rewards are numbers within the range, and no name is missing."""
    fine = (polars.col("numbers") == polars.col("events")) & (polars.col("least room") >= 0)
    fine &= polars.col("total").is_not_nan() & ~polars.any_horizontal(_is_missing(key) for key in chosen.keys)
    return bool(rows.select(fine.fill_null(False).all()).item())


def _tally(arms: dict[str, tuple[int, float, float]]) -> Tally:
    events = tuple(n for n, _, _ in arms.values())
    binary = not any(room > 0 for _, _, room in arms.values())
    totals = tuple(min(max(total, 0.0), float(n)) for n, total, _ in arms.values())
    if binary:
        totals = tuple(map(round, totals))
        return Tally(tuple(arms), events, totals, totals, binary)
    # between total²/n, where all rewards are equal, and the total, where they are 0 and 1
    squares = tuple(
        min(max(total - room, total * total / n), total)
        for n, total, (_, _, room) in zip(events, totals, arms.values(), strict=True)
    )
    return Tally(tuple(arms), events, totals, squares, binary)


def _numbers(source: Source, column: str, *, plain: bool = False) -> polars.Expr:
    """A column as numbers, null for other values. Unless `plain`, true and false count, and spaces are ignored."""
    kind, value = source.frame.collect_schema()[column], polars.col(column)
    if not (kind.is_numeric() or kind in (polars.Boolean, polars.String, polars.Null)):
        raise InvalidParameter(f"{source.name}: column {column!r}: expected numbers, got {kind}")
    if kind != polars.String or plain:
        return value.cast(polars.Float64, strict=False)
    text = value.str.strip_chars()
    yes, no = (text.is_in([word, word.title(), word.upper()]) for word in ("true", "false"))
    truth = polars.when(yes).then(1.0).when(no).then(0.0)  # not `replace`, which would hold the file in memory
    return polars.coalesce(text.cast(polars.Float64, strict=False), truth)


def _names(chosen: Columns) -> dict[str, polars.Expr]:
    """The tests and arms, as strings."""
    return {key: polars.col(column).cast(polars.String) for key, column in chosen.keys.items()}


def _is_missing(key: str) -> polars.Expr:
    name = polars.col(key)
    return name.is_null() | name.str.strip_chars().str.to_lowercase().is_in(list(MISSING))


def _demand(
    source: Source, rows: polars.DataFrame | polars.LazyFrame, good: polars.Expr, key: str, column: str, expected: str
) -> None:
    """Raise an error that names the first row that is not good, if there is one."""
    bad = rows.filter(~good.fill_null(False)).head(1).select(ROW, key).lazy()
    for row, value in source.collect(bad).iter_rows():
        came = "nothing" if value is None else displayed(value)
        raise InvalidParameter(f"{source.name}: column {column!r}: expected {expected}, got {came} in row {row:,}")


def _check_alike(name: str, column: str, labels: Iterable[str]) -> None:
    """Refuse two names that look the same to a reader: they would split an arm."""
    seen: dict[str, str] = {}
    for label in labels:
        first = seen.setdefault(_look(label), label)
        if first != label:
            both = f"{displayed(first)} and {displayed(label)}"
            raise InvalidParameter(f"{name}: column {column!r}: expected one way to write each name, got {both}")


def _look(label: str) -> str:
    """What a reader sees of a name: without spaces at the ends and invisible characters, and 1.0 as 1."""
    if label.isalnum() and label.isascii():
        return label
    from unicodedata import normalize

    seen = "".join(sign if sign.isprintable() else " " if sign.isspace() else "" for sign in normalize("NFC", label))
    seen = " ".join(seen.split())
    whole, _, rest = seen.partition(".")
    return whole if whole.isdecimal() and not rest.strip("0") else seen


def _sorted(labels: Collection[str]) -> list[str]:
    are_numbers = all(label.isdecimal() for label in labels)
    return sorted(labels, key=lambda label: (int(label) if are_numbers else 0, label))
