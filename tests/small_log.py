"""A log of four events, as every reader of it must see it."""

import gzip
import io
from typing import Any

import polars as pl

from vambrace import data

FRAME = pl.DataFrame({"arm": ["b", "a", "b", "b"], "reward": [1, 0, 1, 0]})


TALLY = data.Tally(("a", "b"), (1, 3), (0, 2), (0, 2), True)


COLUMNS = {"arm": "arm", "reward": "reward"}


READING = data.Reading("", {"": TALLY}, COLUMNS)


def read(source: Any) -> data.Reading:
    """Without the name, which differs."""
    found = data.tally(source)
    assert found.name
    return found._replace(name="")


def written(ending: str) -> bytes:
    file = io.BytesIO()
    if "parquet" in ending:
        FRAME.write_parquet(file)
    elif "jsonl" in ending:
        FRAME.write_ndjson(file)
    else:
        FRAME.write_csv(file, separator="\t" if "tsv" in ending else ",")
    return gzip.compress(file.getvalue()) if ending.endswith(".gz") else file.getvalue()
