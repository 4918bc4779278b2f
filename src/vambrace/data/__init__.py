"""Finished tests and logs, read from files: how often each arm was shown and what it earned.

A *table* has one row per arm (arm, events, successes), a *log* one row per event (arm, reward). Files are CSV, TSV,
Parquet or JSON lines, text files also compressed by gzip; a Polars or pandas frame or a mapping of columns works too.
Every error names the file, the column and the row. `sources` opens files, `text` finds mistakes in text files,
`columns` finds out what each column means, and `counting` adds up.
"""

from vambrace.data.columns import Columns, Layout
from vambrace.data.counting import Reading, Tally, read_test, tally
from vambrace.data.sources import File, Log, Part, Spooled, spooled, title

__all__ = [
    "Columns",
    "File",
    "Layout",
    "Log",
    "Part",
    "Reading",
    "Spooled",
    "Tally",
    "read_test",
    "spooled",
    "tally",
    "title",
]
