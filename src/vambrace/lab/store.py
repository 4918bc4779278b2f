"""A folder of results that stays valid when the run that fills it is interrupted.

    experiment.json        the experiment, its cells with their fingerprints, versions and seconds
    cells/NAME.parquet     one file for each finished cell, written whole or not at all; the same bytes on every run
    failed/NAME.json       why a cell failed; gone as soon as it succeeds
    aside/HASH/NAME.parquet  games that the experiment no longer has; they come back when it has them again

A cell is finished only if its file can be read to the end and has the fingerprint that experiment.json has for it.
The version of vambrace that made the folder wrote experiment.json, and later versions follow it; for each cell it says
which version played it. If the experiment changes, experiment.json is written first, and files are moved after it; a
run that is killed in between is completed by the next one.
"""

import json
import platform
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from vambrace.engine.result import Result
from vambrace.errors import StoreError
from vambrace.files import whole_file
from vambrace.lab import lock
from vambrace.lab.archive import FOREIGN, MISSING, Archive, read
from vambrace.lab.cells import REQUIRED, Cell, expand, from_entry, to_entry
from vambrace.lab.experiment import Experiment, validated
from vambrace.lab.growth import Forecast, accepted, difference, estimate, grow, measured
from vambrace.lab.recorded import decode
from vambrace.version import __version__

HEAD = "experiment.json"
INCOMPLETE = "has"


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
    incomplete: Mapping[str, str] = field(default_factory=dict)  # cells with some of their games, and how many
    aside: tuple[str, ...] = ()  # what the experiment no longer has

    @property
    def total(self) -> int:
        """How many cells the experiment has."""
        return sum(map(len, (self.done, self.missing, self.failed, self.damaged, self.incomplete)))

    def summary(self) -> dict[str, Any]:
        """The status, ready for JSON."""
        parts = ("done", "missing", "incomplete", "unknown", "failed", "damaged", "aside", "running")
        counts = {"folder": str(self.folder), "experiment": self.name, "cells": self.total}
        return counts | {part: getattr(self, part) for part in parts}


class Store:
    """The folder of one experiment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = Archive(folder)
        self._head: dict[str, Any] = {}

    @property
    def total(self) -> int:
        """How many cells the experiment has that is open."""
        return len(self._head["cells"])

    def failure_path(self, name: str) -> Path:
        """The file of the reason, if the cell failed."""
        return self.folder / "failed" / f"{name}.json"

    @contextmanager
    def opened(self, experiment: Experiment) -> Iterator[list[Cell]]:
        """Lock the folder for a run of this experiment; yields the cells that are still to be played."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with lock.locked(self.folder):
            before = self.head()["cells"] if (self.folder / HEAD).exists() else {}
            self._head = self._head_of(experiment)
            self.save_head()
            self.files.put_aside(self._head.get("aside", {}), self._head["cells"])
            for name in {*before} - {*self._head["cells"]}:
                self.failure_path(name).unlink(missing_ok=True)
            waiting = self._waiting(experiment, bring_back=True)
            try:
                yield waiting
            finally:
                self.save_head()

    def forecast(self, experiment: Experiment) -> Forecast:
        """What a run of this experiment would do; nothing is changed."""
        self._head = self._head_of(experiment)
        waiting = self._waiting(experiment, bring_back=False)
        names = {cell.id for cell in waiting}
        return Forecast(
            play=[cell for cell in waiting if not cell.first],
            extend=[cell for cell in waiting if cell.first],
            kept=[name for name in self._head["cells"] if name not in names],
            aside=[*self._head.get("aside", {})],
            seconds=estimate(waiting, self._head),
            measured=len(measured(self._head)),
        )

    def _head_of(self, experiment: Experiment) -> dict[str, Any]:
        """The content of experiment.json for an experiment: the old one, a changed one, or that of a new folder."""
        if (self.folder / HEAD).exists():
            head = self.head()
            before = validated(head["experiment"])
            if before.name != experiment.name:
                raise StoreError(
                    f"{self.folder}: expected the experiment {before.name!r} that it was made for, "
                    f"got {experiment.name!r}",
                    diff=difference(before.canonical(), experiment.canonical()),
                )
            if before.canonical() == experiment.canonical():
                return head
            try:
                return grow(head, experiment, __version__, lambda name, entry: self.files.best(name, entry)[1])
            except StoreError as error:
                raise StoreError(f"{self.folder}: {error}", diff=error.diff) from None
        if self.folder.exists():
            foreign = sorted(path.name for path in self.folder.iterdir() if not path.name.startswith("."))
            if foreign:
                raise StoreError(f"{self.folder}: expected a new or an empty folder, got one with {foreign[0]!r} in it")
        cells, panels = expand(experiment)
        played = {"vambrace": __version__}
        packages = {name: metadata.version(name) for name in ("numpy", "numba", "polars")}
        return played | {
            "experiment": experiment.canonical(),
            "cells": {name: to_entry(cell) | played for name, cell in cells.items()},
            "panels": panels,
            "versions": {"python": platform.python_version(), **packages, "machine": platform.machine()},
            "seconds": {},
        }

    def _waiting(self, experiment: Experiment, *, bring_back: bool) -> list[Cell]:
        """The cells that have not all their games, with the first game to play."""
        found = []
        for cell in self._cells():
            path, games = self.files.best(cell.id, self._head["cells"][cell.id])
            if bring_back and path != self.files.path(cell.id):
                self.files.bring_back(cell, path, games)
            if games < cell.replications:
                code = {file: experiment.sources[file] for file in cell.sources}
                found.append(replace(cell, first=games, code=code))
        return found

    def _cells(self) -> Iterator[Cell]:
        for name, entry in self._head["cells"].items():
            yield from_entry(name, entry)

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

    def keep(self, cell: Cell, data: bytes, seconds: float) -> None:
        """Keep a finished cell, together with the games that were there before."""
        entry, name, old = self._head["cells"][cell.id], cell.id, self.files.number(cell.id)
        try:
            self.files.add(cell, data)
        finally:
            if self.files.number(name) != old:  # also after Ctrl-C in the moment after the file got its name
                self.failure_path(name).unlink(missing_ok=True)
                before = self._head["seconds"].get(name, 0.0) if cell.first else 0.0
                self._head["seconds"][name] = round(before + seconds, 3)
                versions = [entry["vambrace"]] if cell.first else []
                entry["vambrace"] = " and ".join(dict.fromkeys([*versions, __version__]))
                entry.pop("earlier", None)

    def fail(self, cell: Cell, error: str, trace: str) -> None:
        """Store why a cell cannot be played."""
        _write_json(self.failure_path(cell.id), {"error": error, "cell": cell.content, "trace": trace.splitlines()})

    def read(self, cell: Cell) -> pl.DataFrame | str:
        """What a finished cell's file holds; otherwise why the cell is not finished."""
        frame = read(self.files.path(cell.id))
        if isinstance(frame, str):
            return frame
        games = accepted(self._head["cells"][cell.id]).get(frame["cell"][0], 0)
        if games == cell.replications:
            return frame
        return f"{INCOMPLETE} {games} of {cell.replications} games" if games else FOREIGN

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
        missing, failed, damaged, incomplete = (dict[str, str]() for _ in range(4))
        for cell in self._cells():
            found = None if cell.id in trusted else self.read(cell)
            if not isinstance(found, str):
                done.append((cell, found))
            elif self.failure_path(cell.id).is_file():
                failed[cell.id] = self._failure(cell.id)
            elif found.startswith(INCOMPLETE):
                incomplete[cell.id] = found
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
            incomplete=incomplete,
            aside=tuple(key for key in self._head.get("aside", {}) if self.files.aside(key).exists()),
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
        known = {path for name in names for path in (self.files.path(name), self.failure_path(name))}
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
        and all(isinstance(cell, dict) and {*cell} >= REQUIRED for cell in head["cells"].values())
        and all(isinstance(games, list) for games in head["panels"].values())
        and all(isinstance(seconds, int | float) for seconds in head["seconds"].values())
    )


def _write_json(path: Path, value: Any) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
