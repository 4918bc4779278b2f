"""A folder of results that stays valid when the run that fills it is interrupted.

    experiment.json        the experiment, its cells with their fingerprints, versions and seconds
    cells/NAME.parquet     one file for each finished cell, written whole or not at all; the same bytes on every run
    failed/NAME.json       why a cell failed; gone as soon as it succeeds

A cell is finished only if its file can be read to the end and has the fingerprint that experiment.json has for it.
The version of vambrace that made the folder wrote experiment.json, and later versions follow it; for each cell it says
which version played it.
"""

import io
import json
import platform
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from difflib import unified_diff
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from vambrace import registry
from vambrace.engine.result import Result
from vambrace.errors import StoreError
from vambrace.files import whole_file
from vambrace.lab import lock
from vambrace.lab.cells import Cell, expand
from vambrace.lab.experiment import Experiment, validated
from vambrace.version import __version__

HEAD = "experiment.json"
MISSING = "missing"
CELL = tuple(field.name for field in fields(Cell) if field.name != "id")  # the stored fields of a cell, under its id


def encode(cell: Cell, result: Result) -> bytes:
    """A result as the bytes of a Parquet file: a row for each replication and checkpoint, the pulls in the last."""
    points, rows = len(result.checkpoints), result.replications * len(result.checkpoints)
    last = [None] * (points - 1)
    places = pl.Series([place for copy in range(result.replications) for place in (*last, copy)], dtype=pl.UInt32)
    # series by series, since an expression would take as long as a small game
    pulls = pl.Series("pulls", result.pulls).arr.to_list().gather(places)
    texts = {"engine": result.engine, "cell": cell.hash}
    named = [pl.Series(name, [text]).new_from_index(0, rows) for name, text in texts.items()]
    target = io.BytesIO()
    result.to_frame().hstack([pulls, *named]).write_parquet(target)
    return target.getvalue()


def decode(cell: Cell, frame: pl.DataFrame) -> Result:
    """The result that `encode` was given."""

    def column(name: str) -> Any:
        return frame[name].to_numpy().reshape(cell.replications, -1) if name in frame.columns else None

    return Result(
        policy=registry.policy(cell.policy),
        environment=registry.environment(cell.environment),
        adversary=registry.adversary(cell.adversary),
        engine=str(frame["engine"][0]),
        checkpoints=column("round")[0],
        pulls=np.array(frame["pulls"].drop_nulls().to_list(), dtype=np.int64),
        realized=column("realized_regret"),
        observed=column("observed_regret"),
        **{key: column(key) for key in ("pseudo_regret", "cost")},
        **{key: getattr(cell, key) for key in ("horizon", "replications", "seed", "bounded")},
    )


@dataclass(frozen=True, kw_only=True)
class Status:
    """What a folder holds: names of cells, and files that belong to none."""

    folder: Path
    name: str
    done: tuple[str, ...]
    missing: tuple[str, ...]
    failed: Mapping[str, str]  # with the error
    damaged: Mapping[str, str]  # with the reason; played again by the next run
    unknown: tuple[str, ...]
    running: str | None  # who is using the folder

    @property
    def total(self) -> int:
        """How many cells the experiment has."""
        return len(self.done) + len(self.missing) + len(self.failed) + len(self.damaged)

    def summary(self) -> dict[str, Any]:
        """The status, ready for JSON."""
        parts = ("done", "missing", "unknown", "failed", "damaged", "running")
        counts = {"folder": str(self.folder), "experiment": self.name, "cells": self.total}
        return counts | {part: getattr(self, part) for part in parts}


class Store:
    """The folder of one experiment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._head: dict[str, Any] = {}

    def path(self, name: str) -> Path:
        """The file of a cell's numbers."""
        return self.folder / "cells" / f"{name}.parquet"

    def failure_path(self, name: str) -> Path:
        """The file of the reason, if the cell failed."""
        return self.folder / "failed" / f"{name}.json"

    @contextmanager
    def opened(self, experiment: Experiment) -> Iterator[list[Cell]]:
        """Lock the folder for a run of this experiment; yields the cells that are still to be played."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with lock.locked(self.folder):
            if (self.folder / HEAD).exists():
                self._head = self.head()
                self._check_same(experiment)
            else:
                self._begin(experiment)
            try:
                yield [cell for cell in self._cells() if isinstance(self.read(cell), str)]
            finally:
                self.save_head()

    def _begin(self, experiment: Experiment) -> None:
        foreign = sorted(path.name for path in self.folder.iterdir() if not path.name.startswith("."))
        if foreign:
            raise StoreError(f"{self.folder}: expected a new or an empty folder, got one with {foreign[0]!r} in it")
        cells, panels = expand(experiment)
        played = {"vambrace": __version__}
        packages = {name: metadata.version(name) for name in ("numpy", "numba", "polars")}
        self._head = played | {
            "experiment": experiment.canonical(),
            "cells": {name: cell.content | played | {"hash": cell.hash} for name, cell in cells.items()},
            "panels": panels,
            "versions": {"python": platform.python_version(), **packages, "machine": platform.machine()},
            "seconds": {},
        }
        self.save_head()

    def _check_same(self, experiment: Experiment) -> None:
        kept, wanted = validated(self._head["experiment"]).canonical(), experiment.canonical()
        if kept != wanted:
            old, new = (json.dumps(each, indent=2, ensure_ascii=False).splitlines() for each in (kept, wanted))
            diff = "\n".join(unified_diff(old, new, f"{self.folder / HEAD}", "the experiment now", lineterm=""))
            raise StoreError(
                f"{self.folder}: expected the experiment that it was made for, got a changed one; "
                "take another folder, or undo the change",
                diff=diff,
            )

    def _cells(self) -> Iterator[Cell]:
        for name, kept in self._head["cells"].items():
            yield Cell(id=name, **{key: kept[key] for key in CELL})

    def save_head(self) -> None:
        """Write experiment.json."""
        _write_json(self.folder / HEAD, self._head)

    def head(self) -> dict[str, Any]:
        """The content of experiment.json."""
        path = self.folder / HEAD
        if not path.is_file():
            raise StoreError(f"{self.folder}: expected a folder that `vambrace run` made, got none with {HEAD}")
        try:
            head = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path}: expected what `vambrace run` wrote, got {error}") from None
        if not _is_head(head):
            raise StoreError(f"{path}: expected what `vambrace run` wrote, got another file")
        if any(isinstance(name, str) for names in head["panels"].values() for name in names):
            # 0.1.0 wrote only the names of a panel's cells, not those of its games
            head["panels"] = expand(validated(head["experiment"])).panels
        return head

    def keep(self, name: str, data: bytes, seconds: float) -> None:
        """Keep a finished cell."""
        try:
            with whole_file(self.path(name)) as unfinished:
                unfinished.write_bytes(data)
        finally:
            if self.path(name).exists():  # also after Ctrl-C in the moment after the file got its name
                self.failure_path(name).unlink(missing_ok=True)
                self._head["seconds"][name] = round(seconds, 3)
                self._head["cells"][name]["vambrace"] = __version__

    def fail(self, cell: Cell, error: str, trace: str) -> None:
        """Store why a cell cannot be played."""
        _write_json(self.failure_path(cell.id), {"error": error, "cell": cell.content, "trace": trace.splitlines()})

    def read(self, cell: Cell) -> pl.DataFrame | str:
        """What a finished cell's file holds; otherwise why the cell is not finished."""
        path = self.path(cell.id)
        if not path.exists():
            return MISSING
        try:
            frame = pl.read_parquet(path.read_bytes())
        except (pl.exceptions.PolarsError, OSError) as error:
            return f"cannot be read: {' '.join(str(error).split())}"
        if "cell" not in frame.columns or frame["cell"].unique().to_list() != [cell.hash]:
            return "is not a file of this cell"
        return frame

    def status(self, trusted: Collection[str] = ()) -> Status:
        """The status of the folder; files named in `trusted` were just written and are not read again."""
        return self._look(trusted)[0]

    def results(self) -> tuple[Status, dict[str, Any], dict[str, Result]]:
        """The status, the content of experiment.json, and the results of all finished cells by name, in its order."""
        status, found = self._look()
        return status, self._head, {cell.id: decode(cell, frame) for cell, frame in found}

    def _look(self, trusted: Collection[str] = ()) -> tuple[Status, list[tuple[Cell, Any]]]:
        """The status, and the content of every finished cell."""
        self._head = self.head()
        done: list[tuple[Cell, Any]] = []
        missing, failed, damaged = dict[str, str](), dict[str, str](), dict[str, str]()
        for cell in self._cells():
            found = None if cell.id in trusted else self.read(cell)
            if not isinstance(found, str):
                done.append((cell, found))
            elif self.failure_path(cell.id).is_file():
                failed[cell.id] = self._failure(cell.id)
            else:
                (missing if found == MISSING else damaged)[cell.id] = found
        status = Status(
            folder=self.folder,
            name=str(self._head["experiment"]["name"]),
            done=tuple(cell.id for cell, _ in done),
            missing=tuple(missing),
            failed=failed,
            damaged=damaged,
            unknown=tuple(self._unknown()),
            running=lock.holder(self.folder),
        )
        return status, done

    def _failure(self, name: str) -> str:
        try:
            return str(json.loads(self.failure_path(name).read_text(encoding="utf-8"))["error"])
        except (OSError, ValueError, LookupError, TypeError):
            return "unknown: the file that says why cannot be read"

    def _unknown(self) -> Iterator[str]:
        """Files in the two folders that belong to no cell, except the unfinished files of a killed run."""
        names = self._head["cells"]
        known = {path for name in names for path in (self.path(name), self.failure_path(name))}
        for folder in ("cells", "failed"):
            for path in sorted((self.folder / folder).glob("*")):
                if path not in known and ".unfinished." not in path.name:
                    yield f"{folder}/{path.name}"


def _is_head(head: Any) -> bool:
    """Whether it has every field that is read."""
    tables = ("experiment", "cells", "panels", "versions", "seconds")
    return (
        isinstance(head, dict)
        and "vambrace" in head
        and all(isinstance(head.get(key), dict) for key in tables)
        and "name" in head["experiment"]
        and all(isinstance(cell, dict) and {*CELL} <= {*cell} for cell in head["cells"].values())
        and all(isinstance(games, list) for games in head["panels"].values())
        and all(isinstance(seconds, int | float) for seconds in head["seconds"].values())
    )


def _write_json(path: Path, value: Any) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
