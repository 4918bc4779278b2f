"""Text files, checked before they are read: an error names the line that a CSV reader would silently misread.

A CSV reader fills short rows with nulls, drops the ends of long rows, and takes a quotation mark inside a field for the
start of a text that may contain the next thousand events. A certificate must not rest on such data. The check reads the
file once, in pieces of a few megabytes.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from csv import reader
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

import numpy as np
import polars

from vambrace.errors import InvalidParameter, displayed

PIECE = 1 << 22  # bytes; no line may be longer
LONGEST_FIELD = 10_000  # lines
FIRST_LINES = 1000  # of JSON lines: their keys are the columns
BINARY = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}
GZIP = b"\x1f\x8b"
NOT_TEXT = {
    b"PAR1": "a Parquet file",
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16 (save it as UTF-8, which Excel calls CSV UTF-8)"),
    GZIP: "a file compressed twice",
}
SEPARATOR_NAMES = {b",": "commas", b"\t": "tabs", b";": "semicolons"}
ABOVE = "(remove lines above the header)"
BOM = b"\xef\xbb\xbf"


def ending(path: Path) -> str:
    """The kind of a file according to its first bytes, as the ending of a name."""
    with path.open("rb") as file:
        signature = file.read(4)
    if signature in BINARY:
        return BINARY[signature]
    try:
        with opened(path) as text:
            start = text.read(1 << 16).removeprefix(BOM).lstrip()
    except (OSError, EOFError, zlib.error):
        start = b""  # damaged: its reader will report it
    if start.startswith((b"{", b"[")):
        return ".jsonl" if start.startswith(b"{") else ".json"
    return ".tsv" if b"\t" in _outside(start.partition(b"\n")[0]) else ".csv"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file, unpacked if its first bytes say that it is compressed; its name is ignored."""
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
        file.seek(0)
        with gzip.open(file) if packed else nullcontext(file) as text:
            yield cast(BinaryIO, text)


def layout(name: str, path: Path, separators: Sequence[bytes]) -> tuple[str, frozenset[str]]:
    """The separator of a file, and repeated names of columns. A row that is not blank must have all fields."""
    separator, columns = b"", tuple[str, ...]()
    with opened(path) as file:
        _check_start(name, file)
        for line, text in _pieces(name, file):
            if not columns:
                _, header = next(_records(1, text.removeprefix(BOM).lstrip(b"\r\n")))
                outside = _outside(header)
                separator = next((each for each in separators if each in outside), separators[0])
                columns = _fields(name, header, separator)
                if len(columns) == 1:
                    signs = " or ".join(SEPARATOR_NAMES[each] for each in separators)
                    raise InvalidParameter(
                        f"{name}: expected columns with {signs} between them, got {columns[0]!r} {ABOVE}"
                    )
                if columns and not any(columns):
                    raise InvalidParameter(f"{name}: expected a header, got empty fields {ABOVE}")
            if not _is_plain(text, separator, len(columns)):
                for number, record in _records(line, text):
                    _check_record(name, number, record, separator, len(columns))
    if not columns:
        raise InvalidParameter(f"{name}: expected a header and rows, got an empty file")
    repeated = frozenset(column for column, times in Counter(columns).items() if times > 1)
    return separator.decode(), repeated


def keys(name: str, path: Path, most: int | None = FIRST_LINES) -> list[str]:
    """The columns of a file of JSON lines: the keys of its first lines. A line that is no JSON object is refused."""
    found: dict[str, None] = {}
    with opened(path) as file:
        _check_start(name, file)
        if file.read(len(BOM)) == BOM:
            raise InvalidParameter(f"{name}: line 1: expected a JSON object, got a byte order mark before it")
        file.seek(0)
        for number, line in enumerate(islice(file, most), start=1):
            found |= dict.fromkeys(_check_json(name, number, line))
    if not found:
        raise InvalidParameter(f"{name}: expected rows, got an empty file")
    return list(found)


def array(name: str, path: Path) -> polars.DataFrame:
    """The rows of a JSON array of objects, all fields as text; it is read into memory."""
    with opened(path) as file:
        _check_start(name, file)
        written = _decoded(name, 1, file.read()).lstrip()
    if written.startswith("{"):
        raise InvalidParameter(
            f"{name}: expected an array of objects, got an object (one in each line? name it .jsonl)"
        )
    try:
        rows = json.loads(written, parse_int=str, parse_float=str, parse_constant=partial(_no_number, name))
    except json.JSONDecodeError as error:
        raise InvalidParameter(f"{name}: line {error.lineno:,}: expected JSON, got a mistake: {error.msg}") from None
    except RecursionError:
        raise InvalidParameter(f"{name}: expected an array of objects, got values nested too deep") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidParameter(f"{name}: expected an array of objects, got {displayed(written[:80])}")
    if not rows:
        raise InvalidParameter(f"{name}: expected at least one row, got none")

    def shown(value: object) -> str | None:
        return value if value is None or isinstance(value, str) else json.dumps(value)

    columns = dict.fromkeys(key for row in rows for key in row)
    return polars.DataFrame(
        {key: [shown(row.get(key)) for row in rows] for key in columns}, dict.fromkeys(columns, polars.String)
    )


def _no_number(name: str, constant: str) -> NoReturn:
    raise InvalidParameter(f"{name}: expected numbers, got {constant}, which JSON does not know")


def _check_json(name: str, number: int, line: bytes) -> list[str]:
    """The keys of a line that must be a JSON object."""
    no_number = partial(_no_number, f"{name}: line {number:,}")
    if not line.strip():
        return []
    text = _decoded(name, number, line)
    try:
        found = json.loads(text, parse_constant=no_number)
    except (json.JSONDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidParameter(f"{name}: line {number:,}: expected a JSON object, got {displayed(text.strip())}")
    return list(found)


def _check_start(name: str, file: BinaryIO) -> None:
    start = file.read(1 << 16)
    file.seek(0)
    for signature, kind in NOT_TEXT.items():
        if start.startswith(signature):
            raise InvalidParameter(f"{name}: expected text, got {kind}")
    if b"\0" in start:
        _decoded(name, 1, start[: start.index(b"\0") + 1])


def _pieces(name: str, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The file in pieces of whole records, each with the number of its first line."""
    line = 1
    while text := file.read(PIECE):
        text = text if text.endswith(b"\n") else text + _line(name, line, file)
        rest, is_open = list[bytes](), _count(text, b'"') % 2 == 1  # whether the line feed at its end is inside a field
        while is_open:
            rest.append(_line(name, line, file))
            if not rest[-1] or len(rest) > LONGEST_FIELD:
                _decoded(name, line, text)
                line += text.count(b"\n", 0, text.rfind(b'"'))
                raise InvalidParameter(f"{name}: line {line:,}: expected a closing quotation mark, got none")
            is_open = rest[-1].count(b'"') % 2 == 0
        text = b"".join([text, *rest])
        yield line, text
        line += _count(text, b"\n")


def _line(name: str, line: int, file: BinaryIO) -> bytes:
    text = file.readline(PIECE)
    if len(text) == PIECE:
        wanted = f"rows shorter than {PIECE:,} bytes"
        raise InvalidParameter(f"{name}: after line {line:,}: expected {wanted}, got a longer one")
    return text


def _count(text: bytes, sign: bytes) -> int:
    """How often a text contains a character: the same as `bytes.count`, a few times faster."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord(sign)))


def _records(line: int, text: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a text, which may have line feeds between quotation marks, each with the number of its line."""
    record, first, is_even = b"", line, True
    for number, part in enumerate(text.removesuffix(b"\n").split(b"\n"), start=line):
        record, first = (part, number) if is_even else (record + b"\n" + part, first)
        is_even ^= part.count(b'"') % 2 == 1
        if is_even:
            yield first, record


def _outside(text: bytes) -> bytes:
    """The text with each quoted field replaced by one quotation mark."""
    if b'"' in text:
        text = b'"'.join(text.split(b'"')[::2])
        while b'""' in text:  # a doubled mark stands for the mark itself
            text = text.replace(b'""', b'"')
    return text


def _fields(name: str, header: bytes, separator: bytes) -> tuple[str, ...]:
    text = _decoded(name, 1, header).rstrip("\r")
    if "\r" in text:
        raise InvalidParameter(f"{name}: expected lines that end in a line feed, got carriage returns only")
    return tuple(next(reader([text], delimiter=separator.decode()), ()))


def _is_plain(text: bytes, separator: bytes, n_columns: int) -> bool:
    """Whether every record is right; a fast check that is enough for almost every piece."""
    try:
        text.isascii() or text.decode()
    except UnicodeDecodeError:
        return False
    if b"\0" in text or not _well_quoted(outside := _outside(text), separator):
        return False
    separators = outside.translate(None, bytes({*range(256)} - {*separator, 10}))  # and line feeds; the rest is removed
    separators += b"" if outside.endswith(b"\n") else b"\n"
    return separators == (separator * (n_columns - 1) + b"\n") * separators.count(b"\n")


def _well_quoted(outside: bytes, separator: bytes) -> bool:
    """Whether quotation marks enclose whole fields only."""
    if b'"' not in outside:
        return True
    marks = outside.count(b'"')
    outside = b"\n" + outside.removeprefix(BOM) + b"\n"
    before = sum(outside.count(each + b'"') for each in (separator, b"\n"))
    after = sum(outside.count(b'"' + each) for each in (separator, b"\n", b"\r\n"))
    return marks == before == after


def _check_record(name: str, line: int, record: bytes, separator: bytes, n_columns: int) -> None:
    _decoded(name, line, record)
    if not record.rstrip(b"\r"):
        return
    outside = _outside(record)
    if not _well_quoted(outside, separator):
        wanted = 'quotation marks around whole fields (and "" for one inside)'
        raise InvalidParameter(f"{name}: line {line:,}: expected {wanted}, got one inside a field")
    n_fields = outside.count(separator) + 1
    if n_fields != n_columns:
        wanted = f"{n_columns:,} fields, as many as the header has"
        raise InvalidParameter(f"{name}: line {line:,}: expected {wanted}, got {n_fields:,}")


def _decoded(name: str, line: int, text: bytes) -> str:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        place, came, how = error.start, f"the byte 0x{text[error.start]:02x}", " (save it as UTF-8)"
    else:
        if "\0" not in decoded:
            return decoded.removeprefix("\ufeff")
        place, came, how = text.index(b"\0"), "a byte 0x00, as in a binary file", ""
    line += text.count(b"\n", 0, place)
    raise InvalidParameter(f"{name}: line {line:,}: expected text in UTF-8, got {came}{how}")
