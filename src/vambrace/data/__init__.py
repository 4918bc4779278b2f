"""Finished tests and logs, read from files: what each arm was shown and what it earned.

A *table* has one row for each arm (arm, events, successes), a *log* one row for each event (arm, reward). Files are
CSV, TSV, Parquet or JSON lines, the texts among them also compressed by gzip; a Polars or pandas frame or a mapping of
columns will do as well. Every error names the file, the column and the row.

`sources` opens files, `text` finds what is wrong with those that people write, `columns` finds out which column means
what, and `counting` adds up.
"""

from vambrace.data.columns import Columns, Layout
from vambrace.data.counting import Reading, Tally, read_test, tally
from vambrace.data.sources import Log, Spooled, spooled, title

__all__ = ["Columns", "Layout", "Log", "Reading", "Spooled", "Tally", "read_test", "spooled", "tally", "title"]
