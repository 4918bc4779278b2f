"""Finished tests and logs, read from files: how often each arm was shown and what it earned.

A *table* has counts (arm, events, successes), a *log* one row per event (arm, reward). Files are CSV, TSV, Parquet,
JSON, JSON lines or Excel, text files also compressed by gzip; databases are asked by a query; a Polars or pandas frame,
an Arrow table or a mapping of columns works too. Every error names the file, the column and the row.

Opening   `sources`, which uses `text` (mistakes in text files), `workbooks` (Excel) and `databases`.
Meaning   `columns` by their names, `suspicions` by what stands in them, `values` for names and numbers.
Adding up `counting`, which uses `logs`, `tables`, `people` (one event per person) and `times` (sums so far).
"""

from vambrace.data.columns import Columns, Layout
from vambrace.data.counting import Reading, Tally, read_test, tally
from vambrace.data.sources import File, Log, Part, Spooled, files, spooled, title

__all__ = [
    "Columns",
    "File",
    "Layout",
    "Log",
    "Part",
    "Reading",
    "Spooled",
    "Tally",
    "files",
    "read_test",
    "spooled",
    "tally",
    "title",
]
