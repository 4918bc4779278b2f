"""The events of an experiment as a file, in pieces: however long the journal, little of it is in memory."""

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from vambrace.live import export
from vambrace.live.journal import Journal

Format = Literal["csv", "ndjson", "parquet"]
MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
ROWS = 2_000  # in a piece
PIECE = 256_000  # bytes of a Parquet file in a piece


def pieces(journal: Journal, form: Format) -> Iterator[bytes]:
    """The file, piece by piece."""
    if form == "parquet":
        yield from _parquet(journal)
    else:
        yield from _text(journal, _csv if form == "csv" else _ndjson, header=form == "csv")


def _text(journal: Journal, lines: Any, *, header: bool) -> Iterator[bytes]:
    if header:
        yield lines([export.COLUMNS])
    rows = export.rows(journal)
    while some := list(islice(rows, ROWS)):
        yield lines(some)


def _csv(rows: list[tuple[Any, ...]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _ndjson(rows: list[tuple[Any, ...]]) -> bytes:
    lines = (json.dumps(dict(zip(export.COLUMNS, (str(arm), *rest), strict=True))) for arm, *rest in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _parquet(journal: Journal) -> Iterator[bytes]:
    """A Parquet file ends with its table of contents, so it is made on disk first."""
    import polars

    with tempfile.TemporaryDirectory(prefix="vambrace-") as folder:
        lines, file = Path(folder) / "events.ndjson", Path(folder) / "events.parquet"
        with lines.open("wb") as target:
            target.writelines(_text(journal, _ndjson, header=False))
        if lines.stat().st_size:
            polars.scan_ndjson(lines, schema=export.schema()).sink_parquet(file)
        else:
            polars.DataFrame(schema=export.schema()).write_parquet(file)
        lines.unlink()
        with file.open("rb") as source:
            while piece := source.read(PIECE):
                yield piece
