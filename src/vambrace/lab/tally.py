"""How a run is going: a small file in the folder of the results, which `vambrace status --watch` reads."""

import json
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from vambrace.files import whole_file
from vambrace.lab import lock
from vambrace.lab.cells import Cell

NAME = ".progress.json"
EVERY = 1.0  # seconds between two writes


class Tally:
    """Counts the cells of a run, for each worker."""

    def __init__(self, folder: Path, name: str, waiting: Collection[Cell], kept: int) -> None:
        self.path, self.name, self.done = folder / NAME, name, kept
        self.total, self.failed = kept + len(waiting), 0
        self.rounds, self.rounds_played = sum(map(_rounds, waiting)), 0
        self.workers: dict[str, dict[str, float]] = {}
        self.started, self.saved = time.monotonic(), -EVERY
        self.save()

    def add(self, cell: Cell, worker: str, seconds: float, *, failed: bool) -> None:
        """Count a cell that has ended."""
        own = self.workers.setdefault(worker, {"done": 0, "failed": 0, "seconds": 0.0})
        own["failed" if failed else "done"] += 1
        own["seconds"] = round(own["seconds"] + seconds, 3)
        self.done, self.failed = self.done + (not failed), self.failed + failed
        self.rounds_played += _rounds(cell)

    def content(self) -> dict[str, Any]:
        """What the file holds; the time that is left is judged from the rounds that are left."""
        elapsed = time.monotonic() - self.started
        left = elapsed * (self.rounds / self.rounds_played - 1.0) if self.rounds_played else None
        counts = {"experiment": self.name, "cells": self.total, "done": self.done, "failed": self.failed}
        return counts | {"elapsed": round(elapsed, 1), "left": left and round(left, 1), "workers": self.workers}

    def save(self) -> None:
        """Write the file, if the last time is long enough ago."""
        if time.monotonic() - self.saved >= EVERY:
            with whole_file(self.path) as unfinished:
                unfinished.write_text(json.dumps(self.content()), encoding="utf-8")
            self.saved = time.monotonic()


def _rounds(cell: Cell) -> int:
    return (cell.replications - cell.first) * cell.horizon


def going(folder: Path) -> dict[str, Any] | None:
    """How the run in a folder is going; None: nobody is running it."""
    if lock.holder(folder) is None:
        return None
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # it has only begun
        return {}
    return found if isinstance(found, dict) else {}
