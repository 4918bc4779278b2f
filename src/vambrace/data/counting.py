"""Sums: `tally` gives the events and rewards of each arm of each test, `read_test` those of one test, for replay.

A log is read once and never wholly in memory; only if something is wrong it is read again to find where.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import polars

from vambrace.data import logs, people, suspicions, tables, times, values
from vambrace.data import sources as files
from vambrace.data.columns import Columns, Header, Layout, same
from vambrace.data.logs import UNIT
from vambrace.data.sources import WHOLE, Log, Part, Source
from vambrace.data.times import Clock, Sums
from vambrace.errors import InvalidParameter, displayed

NOTHING_SAID = Columns()
SUMS = ("test", "arm", "step", "moment", "events", "total", "room")


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
    """

    name: str
    tests: dict[str, Tally]
    columns: dict[str, str]
    notes: tuple[str, ...] = ()
    over_time: dict[str, list[tuple[str, Tally]]] = {}  # noqa: RUF012 (never changed)


def tally(
    sources: Log,
    wanted: Columns = NOTHING_SAID,
    reward_range: tuple[float, float] | None = None,
    *,
    part: Part = WHOLE,
    drop: str | Sequence[str] | None = None,
) -> Reading:
    """The events and rewards of each test, for each arm; in the order of the source for a table, sorted for a log.

    `sources` is a file, a pattern such as logs/*.csv, the address of a database, a frame, a mapping of columns, or a
    list of these: the pieces of one log or table. The least and the largest reward of the range become 0 and 1. Arms
    in `drop` are left out; if it is given, even empty, no arm is taken for the sum of the others.
    """
    return _read(sources, wanted, reward_range, part, drop)[0]


def read_test(
    sources: Log,
    wanted: Columns,
    layout: Layout | None = None,
    test: object = None,
    part: Part = WHOLE,
) -> tuple[Tally, tuple[float, ...] | None]:
    """One test, and its rewards arm after arm if they are not all 0 or 1; `test` names it if there are several."""
    reading, pieces = _read(sources, wanted, UNIT, part, None, layout)
    name = _chosen_test(reading, test)
    found = reading.tests[name]
    if found.binary:
        return found, None
    # in order of size, so that the order of the log, which has no meaning here, changes nothing
    frames = []
    for source, chosen, *_ in pieces:
        rows = source.rows({**values.names(chosen), "reward": values.numbers(source, str(chosen.reward))})
        frames.append(source.collect(rows if chosen.test is None else rows.filter(test=name)).select("arm", "reward"))
    rewards = dict(polars.concat(frames).group_by("arm").agg(polars.col("reward").sort()).iter_rows())
    return found, tuple(each for label in found.labels for each in rewards[label])


class _Piece(NamedTuple):
    source: Source
    chosen: Columns
    header: Header


def _read(
    sources: Log,
    wanted: Columns,
    ends: tuple[float, float] | None,
    part: Part,
    drop: str | Sequence[str] | None,
    layout: Layout | None = None,
) -> tuple[Reading, list[_Piece]]:
    """The sums of all pieces, which must have the same columns."""
    left_out = [each for each in ([drop] if isinstance(drop, str) else drop or []) if each]
    pieces = [_piece(source, wanted, part, layout) for source in files.pieces(sources)]
    first = pieces[0]
    _check_same(pieces)
    opened, chosen, name = [each.source for each in pieces], first.chosen, first.source.name
    clock = times.clock(opened, [str(each.chosen.time) for each in pieces]) if chosen.time is not None else None
    notes: list[str] = []
    every = []
    for piece in pieces:
        rows, more = _summed(piece, wanted, ends, clock, left_out)
        every.append(rows)
        notes += [*more, *suspicions.notes_on_tests(piece.source, piece.header, piece.chosen)]
    rows = polars.concat(each.select(SUMS) for each in every)
    if chosen.user is not None:
        found = people.grouped([(each.source, each.chosen) for each in pieces], rows, ends or UNIT, clock)
        rows, more = found.rows.select(SUMS), _notes_on_people(found)
        notes += more
    if left_out:
        suspicions.check_drop(opened, [each.chosen for each in pieces], left_out)
        rows = rows.filter(~polars.col("arm").str.strip_chars().is_in(left_out))
    sums = _arms(rows)
    _check_names(first, wanted, sums)
    if chosen.is_table and drop is None:
        for arms in sums.values():
            suspicions.check_totals(name, str(chosen.arm), arms)
    notes += suspicions.notes_on_names(str(chosen.arm), sums)
    # the order of a log's first events has no meaning, that of a table may have one
    order = list if chosen.is_table else _sorted
    tests = {test: _tally({label: sums[test][label] for label in order(sums[test])}) for test in order(sums)}
    over_time = {} if clock is None else _over_time(rows, clock, tests)
    title = files.and_more([each.name for each in opened])
    return Reading(title, tests, chosen.named(), tuple(dict.fromkeys(notes)), over_time), pieces


def _piece(raw: Any, wanted: Columns, part: Part, layout: Layout | None) -> _Piece:
    source = files.opened(raw, part)
    header = Header(source)
    return _Piece(source, suspicions.settled(source, header, header.choose(wanted, layout), wanted, layout), header)


def _summed(
    piece: _Piece, wanted: Columns, ends: tuple[float, float] | None, clock: Clock | None, drop: Sequence[str]
) -> tuple[polars.DataFrame, Sequence[str]]:
    """The sums of a piece, and notes."""
    source, chosen, header = piece
    tests = polars.lit("").alias("test") if chosen.test is None else polars.col("test")
    if chosen.is_table:
        if ends not in (None, UNIT):
            raise InvalidParameter(
                f"{source.name}: expected a log, whose rewards have a range, got a table of successes"
            )
        if chosen.user is not None:
            raise InvalidParameter("user: expected a log, with a row for each event, got a table of counts")
        rows, notes, added_up = tables.counted(source, chosen, drop, clock)
        if added_up:
            suspicions.check_other_totals(source, chosen)
        return rows.with_columns(tests), [*suspicions.notes_on_table(header, chosen, wanted), *notes]
    rows = logs.summed(source, chosen, ends, clock, header)
    suspicions.check_log(source, header, chosen, wanted, ends or UNIT, rows)
    return rows.with_columns(tests), suspicions.notes_on_log(source, header, chosen)


def _check_same(pieces: Sequence[_Piece]) -> None:
    first = pieces[0]
    for piece in pieces[1:]:
        if not same(first.chosen, piece.chosen):
            ours, theirs = (", ".join(each.chosen.named().values()) for each in (piece, first))
            expected = f"the columns of {first.source.name} ({theirs}; name those that you mean)"
            raise InvalidParameter(f"{piece.source.name}: expected {expected}, got {ours}")


def _check_names(first: _Piece, wanted: Columns, sums: dict[str, Sums]) -> None:
    """Refuse names that look alike, dates for arms, and arms without events."""
    name, arm = first.source.name, str(first.chosen.arm)
    if first.chosen.test is not None:
        _check_alike(name, first.chosen.test, sums)
    for arms in sums.values():
        _check_alike(name, arm, arms)
        if wanted.arm is None:
            suspicions.check_dates(name, arm, arms)
        for label, (n, total, _) in arms.items():
            if n == 0:
                wanted_events = (
                    f"at least one event of each arm (--drop {label!r}, in Python drop={label!r}, leaves it out)"
                )
                raise InvalidParameter(f"{name}: expected {wanted_events}, got none of {label!r}")
            if total > n:
                came = f"{total:,.0f} of {n:,} of {label!r}"
                raise InvalidParameter(f"{name}: expected no more successes than events, got {came}")


def _arms(rows: polars.DataFrame) -> dict[str, Sums]:
    """The sums of each arm of each test."""
    found: dict[str, Sums] = {}
    sums = rows.group_by("test", "arm", maintain_order=True).agg(polars.col("events", "total", "room").sum())
    for test, label, *row in sums.iter_rows():
        found.setdefault(test, {})[label] = tuple(row)
    return found


def _over_time(rows: polars.DataFrame, clock: Clock, tests: dict[str, Tally]) -> dict[str, list[tuple[str, Tally]]]:
    found: dict[str, list[tuple[str, Tally]]] = {test: [] for test in tests}
    for test, label, sums in times.cumulated(rows, clock):
        whole = tests[test]
        so_far = {arm: sums.get(arm, (0, 0.0, 0.0)) for arm in whole.labels}
        found[test].append((label, _tally(so_far, binary=whole.binary)))
    return found


def _notes_on_people(found: people.People) -> list[str]:
    notes = [f"{found.persons:,} persons were counted, each once."]
    if found.several:
        share = f"{100 * found.several / found.persons:.2g} %"
        notes.append(f"{found.several:,} persons ({share}) saw several arms; each counts for the arm seen first.")
    return notes


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


def _tally(arms: Sums, *, binary: bool | None = None) -> Tally:
    events = tuple(n for n, _, _ in arms.values())
    binary = not any(room > 0 for _, _, room in arms.values()) if binary is None else binary
    totals = tuple(min(max(total, 0.0), float(n)) for n, total, _ in arms.values())
    if binary:
        totals = tuple(map(round, totals))
        return Tally(tuple(arms), events, totals, totals, binary)
    # between total²/n, where all rewards are equal, and the total, where they are 0 and 1
    squares = tuple(
        min(max(total - room, total * total / max(n, 1)), total)
        for n, total, (_, _, room) in zip(events, totals, arms.values(), strict=True)
    )
    return Tally(tuple(arms), events, totals, squares, binary)


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
