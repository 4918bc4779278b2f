"""Finished tests and logs, read from files: what each arm was shown and what it earned.

A *table* has one row for each arm (arm, events, successes), a *log* one row for each event (arm, reward). Files are
CSV, TSV, Parquet or JSON lines, the texts among them also compressed by gzip; a Polars frame or a mapping of columns
will do as well. Every complaint names the file, the column and the row.

`read_table` and `read_log` give one test as it is replayed. `tally` adds up each arm's events and rewards, in one pass
that never holds the whole file in memory.
"""

import glob
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from vambrace.errors import InvalidParameter
from vambrace.validation import MOST_ROUNDS

if TYPE_CHECKING:
    import polars

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
ARMS = ("arm", "variant", "variation", "treatment", "group", "bucket")
REWARDS = ("reward", "converted", "conversion", "clicked", "click", "success", "outcome")
EVENTS = ("events", "impressions", "views", "trials")
SUCCESSES = ("successes", "clicks", "conversions")
TEST = "test"  # the column that tells several tests of one file apart
ROW = "row of the source"  # a column that is added, for complaints
WHOLE = f"a whole number in [1, {MOST_ROUNDS}]"
UNIT = (0.0, 1.0)


class Counts(NamedTuple):
    """What was logged, arm by arm; `rewards` instead of `successes` where they are not all 0 or 1."""

    labels: tuple[str, ...]
    events: tuple[int, ...]
    successes: tuple[int, ...] | None
    rewards: tuple[float, ...] | None = None  # those of the first arm, then those of the second, …


class Tally(NamedTuple):
    """One test added up, arm by arm: events and the sum of their rewards; `binary` where each of these is 0 or 1."""

    labels: tuple[str, ...]
    events: tuple[int, ...]
    totals: tuple[float, ...]
    binary: bool


class Spooled(NamedTuple):
    """A file that stands for something else, such as standard input."""

    name: str
    path: Path


def read_table(source: Any, test: Any = None) -> Counts:
    """The counts of one test, arms in the order of the file.

    source  a file or a Polars frame with a column `arm`, one for the events (also called impressions, views or trials)
            and one for the successes (clicks, conversions)
    test    which one, where a column `test` tells several apart
    """
    name, frame = _scan(source)
    columns = _columns(frame)
    arm = _named(name, columns, ("arm",))
    frame = _collect(name, _of_one_test(name, frame.with_row_index(ROW, offset=1), columns.get(TEST), test)).lazy()
    rows = _table(name, frame, columns, [arm])
    return Counts(tuple(rows["arm"]), _whole(rows["events"]), _whole(rows["total"]))


def read_log(source: Any, arm: str = "arm", reward: str = "reward") -> Counts:
    """The events of a log, arms in alphabetical order (in that of numbers, where they are numbers).

    Rewards are numbers in [0, 1] or true and false. Where all are 0 or 1 only their counts are kept.
    """
    import polars

    name, frame = _scan(source)
    columns = _columns(frame)
    arm, reward = (_given(name, columns, column) for column in (arm, reward))
    rows = _log(name, frame, [arm], reward, UNIT, "")
    found = {row["arm"]: row for row in rows.iter_rows(named=True)}
    labels = _sorted(found)
    events = tuple(found[label]["events"] for label in labels)
    if not rows["between"].any():
        return Counts(labels, events, tuple(int(found[label]["total"]) for label in labels))
    # in order of size, so that the order of the log, which means nothing here, changes nothing
    won = _numbers(name, frame, reward).sort().alias("reward")
    kept = _collect(name, frame.group_by(polars.col(arm).cast(polars.String).alias("arm")).agg(won))
    rewards = dict(kept.iter_rows())
    return Counts(labels, events, None, tuple(each for label in labels for each in rewards[label]))


def tally(
    sources: Any,
    arm: str | None = None,
    reward: str | None = None,
    group: str | None = None,
    reward_range: tuple[float, float] | None = None,
) -> dict[str, Tally]:
    """Each test's events and rewards, arm by arm; the one test is called "" where no column `group` tells tests apart.

    sources       a file, a pattern such as logs/*.csv, a frame, a mapping of columns, or a list of these: the pieces of
                  one log or table
    arm, reward   the columns; None: those whose names say it. A source with a column for the events and one for the
                  successes is a table
    reward_range  the least and the largest reward that are possible, which become 0 and 1
    """
    import polars

    ends = UNIT if reward_range is None else reward_range
    pieces = [_piece(source, arm, reward, group, reward_range) for source in _pieces(sources)]
    rows = polars.concat(piece.rows for piece in pieces).group_by("test", "arm", maintain_order=True)
    found: dict[str, dict[str, Any]] = {}
    for test, label, *row in rows.agg(polars.col("events", "total").sum(), polars.col("between").any()).iter_rows():
        found.setdefault(test, {})[label] = row
    if group is None and len(found) > 1:
        raise InvalidParameter(
            f"{pieces[0].name}: expected one test, or the group {TEST!r} to tell them apart, got {len(found):,} tests"
        )
    order = list if pieces[0].is_table else _sorted  # that of a log's first events has no meaning, a table's may have
    return {
        "" if group is None else test: _scaled({label: found[test][label] for label in order(found[test])}, ends)
        for test in order(found)
    }


class _Piece(NamedTuple):
    name: str
    is_table: bool
    rows: "polars.DataFrame"  # test, arm, events, total, between: whether a reward is neither the least nor the largest


def _piece(
    source: Any, arm: str | None, reward: str | None, group: str | None, reward_range: tuple[float, float] | None
) -> _Piece:
    """One source, added up."""
    import polars

    name, frame = _scan(source)
    columns = _columns(frame)
    test = columns.get(TEST) if group is None else _given(name, columns, group)
    others = {key: column for key, column in columns.items() if group is None or column != test}
    chosen = _named(name, others, ARMS) if arm is None else _given(name, others, arm)
    by = [chosen] if test in (None, chosen) else [chosen, str(test)]
    is_table = _is_table(name, columns, reward)
    if is_table and reward_range is not None:
        raise InvalidParameter(f"{name}: expected a log, whose rewards have a range, got a table of successes")
    if is_table:
        rows = _table(name, _collect(name, frame.with_row_index(ROW, offset=1)).lazy(), columns, by, reward)
    else:
        others = {key: column for key, column in others.items() if column != chosen}
        value = _named(name, others, REWARDS) if reward is None else _given(name, others, reward)
        hint = " (a reward range rescales others)" if reward_range is None else ""
        rows = _log(name, frame, by, value, UNIT if reward_range is None else reward_range, hint)
    tests = polars.col("test") if len(by) == 2 else polars.lit("").alias("test")
    return _Piece(
        name, is_table, rows.select(tests, "arm", polars.col("events").cast(polars.Int64), "total", "between")
    )


def title(sources: Any) -> str:
    """What to call the sources in a sentence."""
    first, *more = _pieces(sources)
    return f"{_name(first)} and {len(more)} more" if more else _name(first)


@contextmanager
def spooled(stream: BinaryIO, name: str) -> Iterator[Spooled]:
    """What a stream has to say, in a temporary file: it may be more than fits into memory. Its start shows its kind."""
    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
        path = Path(folder) / "spooled"
        with path.open("wb") as file:
            copyfileobj(stream, file)
        with path.open("rb") as file:
            yield Spooled(name, path.rename(path.with_name(path.name + _ending(file))))


def _ending(file: BinaryIO) -> str:
    import gzip

    start = file.read(4)
    file.seek(0)
    if start == b"PAR1":
        return ".parquet"
    if start[:2] == b"\x1f\x8b":
        try:
            with gzip.open(file) as text:
                return f"{_text_ending(text.readline(1 << 16))}.gz"
        except (OSError, EOFError):
            return ".csv.gz"  # damaged, as its reader will say
    return _text_ending(file.readline(1 << 16))


def _text_ending(line: bytes) -> str:
    if line.lstrip().startswith(b"{"):
        return ".jsonl"
    return ".tsv" if b"\t" in line and b"," not in line else ".csv"


def _pieces(sources: Any) -> list[Any]:
    """A list of sources or one source; a pattern stands for the files that it fits."""
    found: list[Any] = []
    for source in sources if isinstance(sources, list | tuple) and not isinstance(sources, Spooled) else [sources]:
        if isinstance(source, str | Path) and glob.has_magic(str(source)) and not Path(source).exists():
            fitting = sorted(glob.glob(str(source), recursive=True))
            if not fitting:
                raise InvalidParameter(f"{source}: expected files that fit this pattern, got none")
            found += fitting
        else:
            found.append(source)
    if not found:
        raise InvalidParameter("log: expected at least one file, got none")
    return found


def _scan(source: Any) -> tuple[str, "polars.LazyFrame"]:
    """What to call the source, and its rows, not read yet."""
    import polars

    name = _name(source)
    with _reading(name):
        if isinstance(source, str | Path | Spooled):
            frame = _open(name, Path(source.path if isinstance(source, Spooled) else source))
        elif isinstance(source, Mapping):
            frame = polars.DataFrame(source, strict=False).lazy()
        elif isinstance(source, polars.DataFrame | polars.LazyFrame):
            frame = source.lazy()
        else:
            kinds = "the name of a file, a Polars frame or a mapping of columns"
            raise InvalidParameter(f"log: expected {kinds}, got {source!r}")
        if frame.head(1).collect(engine="streaming").is_empty():
            raise InvalidParameter(f"{name}: expected at least one row, got none")
        return name, frame


def _name(source: Any) -> str:
    if isinstance(source, Spooled):
        return source.name
    return str(source) if isinstance(source, str | Path) else type(source).__name__.lower()


def _open(name: str, path: Path) -> "polars.LazyFrame":
    """The rows of a file; the fields of a text file stay texts as written."""
    import polars

    if not path.is_file():
        raise InvalidParameter(f"{name}: expected a file, got {'a folder' if path.is_dir() else 'nothing'} there")
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = inner.suffix.lower()
    if ending not in ENDINGS or (ending == ".parquet" and inner != path):
        known = f"{', '.join(ENDINGS)} (all but .parquet also with .gz)"
        raise InvalidParameter(f"{name}: expected a file ending in {known}, got {path.suffix or 'none'}")
    if ending == ".parquet":
        return polars.scan_parquet(path, glob=False)
    if ending in (".jsonl", ".ndjson"):
        exactly = glob.escape(str(path))  # unlike the others it has no switch for patterns
        columns = polars.scan_ndjson(exactly, infer_schema_length=1000).collect_schema()
        return polars.scan_ndjson(exactly, schema=dict.fromkeys(columns, polars.String))
    return polars.scan_csv(path, separator="," if ending == ".csv" else "\t", infer_schema=False, glob=False)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Whatever a damaged file makes Polars say becomes one line of ours."""
    from polars.exceptions import PanicException, PolarsError

    try:
        yield
    except InvalidParameter:
        raise
    except (PolarsError, PanicException, OSError, TypeError, ValueError) as error:
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InvalidParameter(f"{name}: expected a table that can be read, got {line}") from None


def _columns(frame: "polars.LazyFrame") -> dict[str, str]:
    """The columns by their names in lower case."""
    columns: dict[str, str] = {}
    for column in frame.collect_schema().names():
        plain = column.strip().lower()
        columns[f" {column}" if plain in columns else plain] = column  # no name in lower case starts with a blank
    return columns


def _given(name: str, columns: dict[str, str], column: str) -> str:
    """A column that the user named."""
    if column not in columns.values():
        raise InvalidParameter(f"{name}: expected a column {column!r}, got {', '.join(columns.values())}")
    return column


def _named(name: str, columns: dict[str, str], known: tuple[str, ...]) -> str:
    """The one column that has one of these names, in whatever case; a doubt is an error."""
    found = [each for each in columns if each.strip().lower() in known]
    if not found:
        raise InvalidParameter(f"{name}: expected a column {' or '.join(known)}, got {', '.join(columns.values())}")
    if len(found) > 1:
        came = " and ".join(columns[each] for each in found)
        raise InvalidParameter(f"{name}: expected one column {' or '.join(known)}, or to be told which, got {came}")
    return columns[found[0]]


def _is_table(name: str, columns: dict[str, str], reward: str | None) -> bool:
    """Whether there are events and successes, and the user has not named another column."""
    has_both = all(any(each in columns for each in known) for known in (EVENTS, SUCCESSES))
    if has_both and reward is None and any(each in columns for each in REWARDS):
        came = ", ".join(columns.values())
        raise InvalidParameter(f"{name}: expected a table of successes or a log of rewards, or the reward, got {came}")
    return has_both and (reward is None or reward.strip().lower() in SUCCESSES)


def _table(
    name: str, frame: "polars.LazyFrame", columns: dict[str, str], by: Sequence[str], reward: str | None = None
) -> "polars.DataFrame":
    """The checked rows of a table with the column ROW; `by`: the column of the arm, then that of the test if any."""
    import polars

    events = _named(name, columns, EVENTS)
    successes = _named(name, columns, SUCCESSES) if reward is None else _given(name, columns, reward)
    shown, won = _numbers(name, frame, events), _numbers(name, frame, successes)
    _check(name, frame, events, shown.is_between(1, MOST_ROUNDS) & (shown == shown.round()), WHOLE)
    _check(name, frame, successes, (won >= 0) & (won == won.round()), "a whole number from 0 up")
    _check(name, frame, successes, won <= shown, f"no more than {events}")
    _check_names(name, frame, by)
    labels = [
        polars.col(column).cast(polars.String).alias(key) for key, column in zip(("arm", "test"), by, strict=False)
    ]
    _check(name, frame, by[0], polars.struct(labels).is_first_distinct(), "one row for each arm")
    sums = [shown.alias("events"), won.alias("total"), polars.lit(False).alias("between")]
    return _collect(name, frame.select(*labels, *sums))


def _log(
    name: str, frame: "polars.LazyFrame", by: Sequence[str], reward: str, ends: tuple[float, float], hint: str
) -> "polars.DataFrame":
    """A log added up in one pass; only if something is wrong, further ones find out where."""
    import polars

    low, high = ends
    keys = dict(zip(("arm", "test"), by, strict=False))
    number = _numbers(name, frame, reward)
    room = (number - low) * (high - number)  # negative outside of the range, zero at its ends, positive between them
    columns = [polars.col(column).alias(key) for key, column in keys.items()]
    won, left = polars.col("reward"), polars.col("room")
    rows = _collect(
        name,
        frame.select(*columns, number.alias("reward"), room.alias("room"))
        .group_by(*keys)
        .agg(
            polars.len().alias("events"),
            won.count().alias("numbers"),
            won.sum().alias("total"),
            left.min().alias("least room"),
            (left.max() > 0).alias("between"),
        ),
    )
    fine = (polars.col("numbers") == polars.col("events")) & (polars.col("least room") >= 0)
    fine &= polars.col("total").is_not_nan() & polars.all_horizontal(polars.col(*keys).is_not_null())
    if not rows.select(fine.fill_null(False).all()).item():
        numbered = frame.with_row_index(ROW, offset=1)
        _check_names(name, numbered, by)
        _check(name, numbered, reward, number.is_between(low, high), f"a number in [{low:g}, {high:g}]", hint)
    return _collect(name, rows.lazy().with_columns(polars.col(*keys).cast(polars.String)))


def _scaled(arms: dict[str, tuple[int, float, bool]], ends: tuple[float, float]) -> Tally:
    """The sums of rewards in [low, high] as those of rewards in [0, 1]."""
    low, high = ends
    events = tuple(n for n, _, _ in arms.values())
    binary = not any(between for _, _, between in arms.values())
    totals = [min(max((total - low * n) / (high - low), 0.0), float(n)) for n, total, _ in arms.values()]
    return Tally(tuple(arms), events, tuple(map(round, totals) if binary else totals), binary)


def _of_one_test(name: str, frame: "polars.LazyFrame", column: str | None, test: Any) -> "polars.LazyFrame":
    import polars

    if column is None:
        if test is not None:
            raise InvalidParameter(f"{name}: expected a column 'test' that tells {test!r} from others, got none")
        return frame
    names = polars.col(column).cast(polars.String)
    tests = _collect(name, frame.select(names.unique(maintain_order=True)))[column].to_list()
    if test is None and len(tests) == 1:
        return frame
    if str(test) not in tests or test is None:
        raise InvalidParameter(
            f"{name}: column {column!r}: expected the name of one of its {len(tests):,} tests, "
            f"such as {tests[0]!r}, got {test!r}"
        )
    return frame.filter(names == str(test))


def _numbers(name: str, frame: "polars.LazyFrame", column: str) -> "polars.Expr":
    """A column as numbers; what is none becomes null."""
    import polars

    kind, value = frame.collect_schema()[column], polars.col(column)
    if kind == polars.String:
        text = value.str.strip_chars()
        yes, no = (text.is_in([word, word.title(), word.upper()]) for word in ("true", "false"))
        truth = polars.when(yes).then(1.0).when(no).then(0.0)  # not `replace`, which would hold the file in memory
        return polars.coalesce(text.cast(polars.Float64, strict=False), truth)
    if not (kind.is_numeric() or kind == polars.Boolean):
        raise InvalidParameter(f"{name}: column {column!r}: expected numbers, got {kind}")
    return value.cast(polars.Float64, strict=False)


def _check_names(name: str, frame: "polars.LazyFrame", columns: Sequence[str]) -> None:
    import polars

    for column in columns:
        _check(name, frame, column, polars.col(column).is_not_null(), "a name")


def _check(
    name: str, frame: "polars.LazyFrame", column: str, good: "polars.Expr", expected: str, hint: str = ""
) -> None:
    """Refuse the first row of which this is not true."""
    import polars

    bad = frame.filter(~good.fill_null(False)).head(1).select(ROW, polars.col(column).alias("value"))
    for row, value in _collect(name, bad).iter_rows():
        came = "nothing" if value is None else repr(value)
        raise InvalidParameter(f"{name}: column {column!r}: expected {expected}{hint}, got {came} in row {row}")


def _collect(name: str, frame: "polars.LazyFrame") -> "polars.DataFrame":
    with _reading(name):
        return frame.collect(engine="streaming")


def _whole(values: Iterable[float]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _sorted(labels: Iterable[str]) -> tuple[str, ...]:
    labels = list(labels)
    if all(label.isdecimal() for label in labels):
        return tuple(sorted(labels, key=lambda label: (int(label), label)))
    return tuple(sorted(labels))
