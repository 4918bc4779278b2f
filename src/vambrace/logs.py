"""Finished tests and logs, read from files: what each arm was shown and what it earned.

A *table* has one row for each arm (arm, events, successes), a *log* one row for each event (arm, reward). Files are
CSV, TSV, Parquet or JSON lines; a Polars frame will do as well. Every complaint names the file, the column and the row.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vambrace.errors import InvalidParameter
from vambrace.validation import MOST_ROUNDS

if TYPE_CHECKING:
    import polars

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
EVENTS = ("events", "impressions", "views", "trials")
SUCCESSES = ("successes", "clicks", "conversions")
ROW = "row of the source"  # a column that is added, for complaints


class Counts(NamedTuple):
    """What was logged, arm by arm; `rewards` instead of `successes` where they are not all 0 or 1."""

    labels: tuple[str, ...]
    events: tuple[int, ...]
    successes: tuple[int, ...] | None
    rewards: tuple[float, ...] | None = None  # those of the first arm, then those of the second, …


def read_table(source: Any, test: Any = None) -> Counts:
    """The counts of one test, arms in the order of the file.

    source  a file or a Polars frame with a column `arm`, one for the events (also called impressions, views or trials)
            and one for the successes (clicks, conversions)
    test    which one, where a column `test` tells several apart
    """
    import polars

    name, frame = _scan(source)
    columns = {column.strip().lower(): column for column in _columns(frame)}
    arm, events, successes = (_named(name, columns, known) for known in (("arm",), EVENTS, SUCCESSES))
    frame = _collect(name, _of_one_test(name, frame, columns.get("test"), test)).lazy()
    shown, won = _numbers(name, frame, events), _numbers(name, frame, successes)
    whole = f"a whole number in [1, {MOST_ROUNDS}]"
    _check(name, frame, events, shown.is_between(1, MOST_ROUNDS) & (shown == shown.round()), whole)
    _check(name, frame, successes, (won >= 0) & (won == won.round()), "a whole number from 0 up")
    _check(name, frame, successes, won <= shown, f"no more than {events}")
    _check(name, frame, arm, polars.col(arm).is_not_null(), "a name")
    label = polars.col(arm).cast(polars.String)
    _check(name, frame, arm, label.is_first_distinct(), "one row for each arm")
    rows = frame.select(label.alias("arm"), shown.alias("events"), won.alias("successes")).collect()
    return Counts(tuple(rows["arm"]), _whole(rows["events"]), _whole(rows["successes"]))


def read_log(source: Any, arm: str = "arm", reward: str = "reward") -> Counts:
    """The events of a log, arms in alphabetical order (in that of numbers, where they are numbers).

    Rewards are numbers in [0, 1] or true and false. Where all are 0 or 1 only their counts are kept.
    """
    import polars

    name, frame = _scan(source)
    known = _columns(frame)
    for column in (arm, reward):
        if column not in known:
            raise InvalidParameter(f"{name}: expected a column {column!r}, got {', '.join(known)}")
    value = _numbers(name, frame, reward)
    _check(name, frame, reward, value.is_between(0, 1), "a number in [0, 1]")
    _check(name, frame, arm, polars.col(arm).is_not_null(), "a name")
    log = frame.select(polars.col(arm).cast(polars.String).alias("arm"), value.alias("reward"))
    won = polars.col("reward")
    rows = log.group_by("arm").agg(won.len().alias("events"), won.sum(), (won.is_in([0.0, 1.0])).all().alias("whole"))
    found = {row["arm"]: row for row in _collect(name, rows).iter_rows(named=True)}
    labels = _sorted(found)
    events = tuple(found[label]["events"] for label in labels)
    if all(row["whole"] for row in found.values()):
        return Counts(labels, events, tuple(int(found[label]["reward"]) for label in labels))
    # in order of size, so that the order of the log, which means nothing here, changes nothing
    kept = dict(_collect(name, log.group_by("arm").agg(won.sort())).iter_rows())
    return Counts(labels, events, None, tuple(each for label in labels for each in kept[label]))


def _scan(source: Any) -> tuple[str, "polars.LazyFrame"]:
    """What to call the source, and its rows, not read yet."""
    import polars

    if isinstance(source, polars.DataFrame | polars.LazyFrame):
        name = "frame"
    elif isinstance(source, str | Path):
        name = str(source)
    else:
        raise InvalidParameter(f"log: expected the name of a file or a Polars frame, got {source!r}")
    with _reading(name):
        frame = _open(Path(source)) if isinstance(source, str | Path) else source.lazy()
        if frame.head(1).collect().is_empty():
            raise InvalidParameter(f"{name}: expected at least one row, got none")
        return name, frame.with_row_index(ROW, offset=1)


def _open(path: Path) -> "polars.LazyFrame":
    """The rows of a file; the fields of a text file stay texts as written."""
    import polars

    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidParameter(f"{path}: expected a file ending in {', '.join(ENDINGS)}, got {path.suffix or 'none'}")
    if not path.is_file():
        raise InvalidParameter(f"{path}: expected a file, got {'a folder' if path.is_dir() else 'nothing'} there")
    if ending == ".parquet":
        return polars.scan_parquet(path, glob=False)
    if ending in (".jsonl", ".ndjson"):
        return polars.scan_ndjson(path, infer_schema_length=None)
    return polars.scan_csv(path, separator="," if ending == ".csv" else "\t", infer_schema=False, glob=False)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Whatever a damaged file makes Polars say becomes one line of ours."""
    from polars.exceptions import PolarsError

    try:
        yield
    except (PolarsError, OSError) as error:
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InvalidParameter(f"{name}: expected a table that can be read, got {line}") from None


def _columns(frame: "polars.LazyFrame") -> list[str]:
    return [column for column in frame.collect_schema().names() if column != ROW]


def _named(name: str, columns: dict[str, str], known: tuple[str, ...]) -> str:
    """The one column that has one of these names; the first of them settles a doubt."""
    found = [each for each in known if each in columns]
    if not found:
        raise InvalidParameter(f"{name}: expected a column {' or '.join(known)}, got {', '.join(columns.values())}")
    if len(found) > 1 and found[0] != known[0]:
        raise InvalidParameter(f"{name}: expected one column {' or '.join(known)}, got {' and '.join(found)}")
    return columns[found[0]]


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
        value = value.str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
    elif not (kind.is_numeric() or kind == polars.Boolean):
        raise InvalidParameter(f"{name}: column {column!r}: expected numbers, got {kind}")
    return value.cast(polars.Float64, strict=False)


def _check(name: str, frame: "polars.LazyFrame", column: str, good: "polars.Expr", expected: str) -> None:
    """Refuse the first row of which this is not true."""
    import polars

    bad = frame.filter(~good.fill_null(False)).head(1).select(ROW, polars.col(column).alias("value"))
    for row, value in _collect(name, bad).iter_rows():
        came = "nothing" if value is None else repr(value)
        raise InvalidParameter(f"{name}: column {column!r}: expected {expected}, got {came} in row {row}")


def _collect(name: str, frame: "polars.LazyFrame") -> "polars.DataFrame":
    with _reading(name):
        return frame.collect()


def _whole(values: Iterable[float]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _sorted(labels: Iterable[str]) -> tuple[str, ...]:
    labels = list(labels)
    if all(label.isdecimal() for label in labels):
        return tuple(sorted(labels, key=lambda label: (int(label), label)))
    return tuple(sorted(labels))
