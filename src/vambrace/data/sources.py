"""Open a file, a pattern, a frame or a stream; its rows are read later."""

import csv
import glob
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
import polars
from polars.exceptions import PanicException, PolarsError

from vambrace.data import databases, text, workbooks
from vambrace.errors import InvalidParameter, MissingExtra, displayed

TEXTS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
ENDINGS = (*TEXTS, ".parquet", ".xlsx")
SEPARATORS = {".csv": (b",", b"\t", b";"), ".tsv": (b"\t",)}  # a .csv file without a comma has one of the others
ROW = "row"


class Spooled(NamedTuple):
    """A file that stands for something else, such as standard input."""

    name: str
    path: Path


class File(NamedTuple):
    """A file of a log."""

    name: str
    path: Path
    size: int  # in bytes

    def sha256(self) -> str:
        """Its fingerprint in hexadecimal digits; this reads the whole file, which must still be there."""
        with reading(self.name), self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


class Frame(Protocol):
    """The type of a Polars or pandas frame."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""


class Stream(Protocol):
    """The type of a table of another library, such as a pyarrow table or a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Its rows, as Arrow's interface in C gives them."""


class Part(NamedTuple):
    """Which part of a source is meant: a sheet of an Excel file, or the answer of a database to a query."""

    sheet: str | None = None
    sql: str | None = None


Piece = str | Path | Spooled | Mapping[str, Any] | Frame | Stream
Log = Piece | Sequence[Piece]  # a list or tuple: the pieces of one log


class Source(NamedTuple):
    """Something that was opened."""

    name: str
    frame: polars.LazyFrame
    is_text: bool = False  # numbers may be words, and rows may be empty
    repeated: frozenset[str] = frozenset()  # names that several columns have
    json_lines: Path | None = None

    def rows(self, columns: dict[str, polars.Expr], *, numbered: bool = False, plain: bool = False) -> polars.LazyFrame:
        """These columns, on request with the row numbers; `plain`: a text file has no empty rows to be dropped."""
        drops = self.is_text and not plain
        empty = {"empty": polars.all_horizontal(polars.all().is_null())} if drops else {}
        frame = self.frame.select(**columns, **empty)
        frame = frame.with_row_index(ROW, offset=1) if numbered else frame
        return frame.filter(~polars.col("empty")).drop("empty") if drops else frame

    def collect(self, frame: polars.LazyFrame) -> polars.DataFrame:
        """Read, in pieces that fit into memory."""
        with reading(self.name):
            try:
                return frame.collect(engine="streaming")
            except Exception:
                if self.json_lines is not None:
                    text.keys(self.name, self.json_lines, most=None)  # names the line
                raise


WHOLE = Part()


def opened(source: Any, part: Part = WHOLE) -> Source:
    """A source of any kind, whose columns are known."""
    name = _name(source)
    with reading(name):
        if databases.is_address(source):
            _check_part(name, part._replace(sql=None))
            found = Source(name, databases.answered(name, source, part.sql).lazy(), is_text=True)
        elif isinstance(source, str | Path | Spooled):
            found = _file(name, _path(source), part)
        else:
            _check_part(name, part)
            found = Source(name, _frame(name, source))
        found.frame.collect_schema()
        return found


def pieces(sources: Any) -> list[Any]:
    """The sources in a list, or one source; a pattern is replaced by the files that match it."""
    found: list[Any] = []
    for source in sources if isinstance(sources, list | tuple) and not isinstance(sources, Spooled) else [sources]:
        if isinstance(source, str) and not source:
            raise InvalidParameter("log: expected the name of a file, got ''")
        is_name = isinstance(source, str | Path) and not databases.is_address(source)
        if is_name and glob.has_magic(str(source)) and not os.path.exists(source):
            fitting = sorted(glob.glob(str(source), recursive=True))
            if not fitting:
                raise InvalidParameter(f"{source}: expected files that fit this pattern, got none")
            found += fitting
        else:
            found.append(source)
    if not found:
        raise InvalidParameter("log: expected at least one file, got none")
    _check_twice(each for each in found if isinstance(each, str | Path) and not databases.is_address(each))
    return found


def files(sources: Any) -> list[File]:
    """The files among the sources."""
    named = [each for each in pieces(sources) if isinstance(each, str | Path | Spooled)]
    paths = [(_name(each), _path(each)) for each in named if not databases.is_address(each)]
    return [File(name, path, path.stat().st_size) for name, path in paths]


def title(sources: Any) -> str:
    """The name of the sources in a sentence."""
    return and_more([_name(source) for source in pieces(sources)])


def and_more(names: Sequence[str]) -> str:
    """The first of several names, and how many follow."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


@contextmanager
def spooled(stream: BinaryIO, name: str) -> Iterator[Spooled]:
    """A stream in a temporary file, as it may be larger than the memory. Its first bytes show the kind of file."""
    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
        path = Path(folder) / "spooled"
        with path.open("wb") as file:
            copyfileobj(stream, file)
        yield Spooled(name, path.rename(path.with_suffix(text.ending(path))))


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn the error of Polars about a damaged file into one line."""
    try:
        yield
    except (InvalidParameter, MissingExtra):
        raise
    except (PolarsError, PanicException, OSError, EOFError, TypeError, ValueError, csv.Error, zlib.error) as error:
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InvalidParameter(f"{name}: expected a table that can be read, got {line}") from None


def _file(name: str, path: Path, part: Part) -> Source:
    """The rows of a file; the fields of a text file stay strings, as written."""
    if not path.is_file():
        came = "a folder" if path.is_dir() else "something else" if path.exists() else "nothing"
        raise InvalidParameter(f"{name}: expected a file, got {came} there")
    if databases.kind_of(path) is not None:
        _check_part(name, part._replace(sql=None))
        return Source(name, databases.answered(name, path, part.sql).lazy(), is_text=True)
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = inner.suffix.lower()
    if ending not in (ENDINGS if inner == path else TEXTS):
        known = f"{', '.join(ENDINGS)} ({', '.join(TEXTS)} also with .gz) or a SQLite or DuckDB file"
        raise InvalidParameter(f"{name}: expected a file ending in {known}, got {path.suffix or 'none'}")
    if ending == ".xlsx":
        _check_part(name, part._replace(sheet=None))
        rows, repeated = workbooks.sheet_of(name, path, part.sheet)
        return Source(name, rows.lazy(), True, repeated)
    _check_part(name, part)
    if ending == ".parquet":
        return Source(name, polars.scan_parquet(path, glob=False))
    if ending == ".json":
        return Source(name, text.array(name, path).lazy(), True)
    if ending in (".jsonl", ".ndjson"):
        columns = dict.fromkeys(text.keys(name, path), polars.String)
        exactly = glob.escape(str(path))  # unlike the others it has no option to turn patterns off
        return Source(name, polars.scan_ndjson(exactly, schema=columns), json_lines=path)
    separator, repeated = text.layout(name, path, SEPARATORS[ending])
    frame = polars.scan_csv(path, separator=separator, infer_schema=False, glob=False)
    return Source(name, frame, True, repeated)


def _check_part(name: str, part: Part) -> None:
    """Refuse a sheet or a query of a source that has none."""
    if part.sheet is not None:
        raise InvalidParameter(f"sheet: expected an .xlsx file, got {name}")
    if part.sql is not None:
        raise InvalidParameter(f"sql: expected a SQLite or DuckDB file or a postgresql:// address, got {name}")


def _frame(name: str, source: Any) -> polars.LazyFrame:
    """A frame or a table in memory; what other libraries than pandas have comes by Arrow's interface."""
    if isinstance(source, polars.DataFrame | polars.LazyFrame):
        return source.lazy()
    if hasattr(source, "__arrow_c_stream__") and not _is_pandas(source):
        return polars.DataFrame(source).lazy()
    return polars.DataFrame(_columns_of(name, source), strict=False).lazy()


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas"


def _columns_of(name: str, source: Any) -> Mapping[str, Any]:
    """A mapping unchanged; a pandas frame column by column, with None for missing values: this needs no Arrow."""
    if isinstance(source, Mapping):
        return source
    if not _is_pandas(source) or not hasattr(source, "columns"):
        kinds = "the name of a file, a Polars or pandas frame, an Arrow table or a mapping of columns"
        raise InvalidParameter(f"log: expected {kinds}, got {displayed(source)}")
    if not source.columns.is_unique:
        raise InvalidParameter(f"{name}: expected a name of its own for each column, got {list(source.columns)}")
    found: dict[str, Any] = {}
    for key, column in source.items():
        plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"
        found[str(key)] = column.to_numpy() if plain else column.astype(object).where(column.notna(), None).tolist()
    return found


def _path(source: str | Path | Spooled) -> Path:
    return Path(source.path if isinstance(source, Spooled) else source)


def _name(source: Any) -> str:
    if isinstance(source, Spooled):
        return source.name
    if databases.is_address(source):
        return databases.shown(source)
    return str(source) if isinstance(source, str | Path) else type(source).__name__.lower()


def _check_twice(paths: Iterable[str | Path]) -> None:
    """Refuse a file that is listed twice: its events would count twice."""
    seen: dict[str, str | Path] = {}
    for path in paths:
        with reading(str(path)):
            real = os.path.realpath(path)
        if real in seen:
            raise InvalidParameter(f"{path}: expected each file once, got the same file as {seen[real]}")
        seen[real] = path
