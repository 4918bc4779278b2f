"""Finished tests and logs, read from files: what each arm was shown and what it earned.

A *table* has one row for each arm (arm, events, successes), a *log* one row for each event (arm, reward). Files are
CSV, TSV, Parquet or JSON lines, the texts among them also compressed by gzip; a Polars or pandas frame or a mapping of
columns will do as well. Every complaint names the file, the column and the row.

`sources` opens files, `text` finds what is wrong with those that people write, `columns` tells which column means what,
and `counting` adds up.
"""

from vambrace.data.columns import Wanted
from vambrace.data.counting import Counts, Reading, Tally, read_log, read_table, tally
from vambrace.data.sources import Spooled, spooled, title

__all__ = ["Counts", "Reading", "Spooled", "Tally", "Wanted", "read_log", "read_table", "spooled", "tally", "title"]
