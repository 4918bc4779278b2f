"""The Parquet files of cells: those in their places, and those that were put aside when the experiment changed.

cells/NAME.parquet         the games of a cell
aside/HASH/NAME.parquet    games that the experiment no longer has
"""

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import polars as pl

from vambrace.errors import StoreError
from vambrace.files import whole_file
from vambrace.lab.cells import Cell
from vambrace.lab.growth import accepted
from vambrace.lab.recorded import to_bytes

MISSING = "missing"
FOREIGN = "is not a file of this cell"


class Archive:
    """The files of one experiment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """The file of a cell."""
        return self.folder / "cells" / f"{name}.parquet"

    def number(self, name: str) -> int | None:
        """What the file system calls the file of a cell: another number after it was replaced; None: no file."""
        path = self.path(name)
        return path.stat().st_ino if path.exists() else None

    def aside(self, key: str) -> Path:
        """The file of a cell that was put aside, by its key HASH/NAME in experiment.json."""
        return self.folder / "aside" / f"{key}.parquet"

    def best(self, name: str, entry: Mapping[str, Any]) -> tuple[Path, int]:
        """The file with most games of a cell, in its place or put aside, and how many games it has."""
        belongs, found = accepted(entry), (self.path(name), 0)
        for path in (self.path(name), *sorted(self.folder.glob(f"aside/*/{name}.parquet"))):
            games = belongs.get(fingerprint(path), 0)
            if games > found[1]:
                found = path, games
        return found

    def put_aside(self, entries: Mapping[str, Mapping[str, Any]], cells: Mapping[str, Mapping[str, Any]]) -> None:
        """Move the files of these entries, unless they belong to a cell that the experiment has."""
        for key, entry in entries.items():
            name, target = key.partition("/")[2], self.aside(key)
            found = "" if target.exists() else fingerprint(self.path(name))
            stays = name in cells and accepted(cells[name]).get(found, inf) <= cells[name]["replications"]
            if found in accepted(entry) and not stays:
                target.parent.mkdir(parents=True, exist_ok=True)
                self.path(name).replace(target)

    def bring_back(self, cell: Cell, path: Path, games: int) -> None:
        """Put a file that was put aside into its place again, or as many of its games as the cell has."""
        if games <= cell.replications:
            self.path(cell.id).parent.mkdir(parents=True, exist_ok=True)
            path.replace(self.path(cell.id))
        else:
            frame = pl.read_parquet(path.read_bytes())
            self.write(cell, frame.filter(pl.col("replication") < cell.replications))

    def write(self, cell: Cell, frame: pl.DataFrame) -> None:
        """Write the file of a cell."""
        with whole_file(self.path(cell.id)) as unfinished:
            unfinished.write_bytes(to_bytes(frame.with_columns(pl.lit(cell.hash).alias("cell"))))

    def add(self, cell: Cell, data: bytes) -> None:
        """Write the games of a cell from `cell.first` on, together with those before."""
        if not cell.first:
            with whole_file(self.path(cell.id)) as unfinished:
                unfinished.write_bytes(data)
            return
        kept, more = pl.read_parquet(self.path(cell.id).read_bytes()), pl.read_parquet(data)
        before, now = kept["engine"][0], more["engine"][0]
        if before != now:
            raise StoreError(
                f"{self.path(cell.id)}: expected games of one engine, got {before!r} before and {now!r} now; "
                "remove the file to play all again"
            )
        columns = [pl.lit(cell.hash).alias("cell")]
        self.write(cell, pl.concat([kept.with_columns(columns), more.with_columns(columns)]))


def read(path: Path) -> pl.DataFrame | str:
    """What a file of a cell holds, or why it is none."""
    if not path.exists():
        return MISSING
    try:
        frame = pl.read_parquet(path.read_bytes())
    except (pl.exceptions.PolarsError, OSError) as error:
        return f"cannot be read: {' '.join(str(error).split())}"
    return frame if "cell" in frame.columns and frame["cell"].n_unique() == 1 else FOREIGN


def fingerprint(path: Path) -> str:
    """The fingerprint in a file of a cell; empty: there is no file, or it cannot be read to its end."""
    frame = read(path)
    return "" if isinstance(frame, str) else str(frame["cell"][0])
