"""A changed experiment in the same folder: what is kept, what is added, and what is put aside.

A cell keeps its games as long as it means the same: everything but the number of replications is equal. Then more
replications are added to those that are there, and fewer are the first of them. A cell that the experiment no longer
has is put aside, with its games, and comes back when it is wanted again. A cell whose code in a file of the user has
changed is put aside too, and played again. Any other change of what a finished cell means is refused.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from difflib import unified_diff
from typing import Any, NamedTuple

from vambrace.errors import StoreError
from vambrace.lab.cells import Cell, expand, from_entry, to_entry
from vambrace.lab.experiment import Experiment
from vambrace.own_code import split

Entry = dict[str, Any]  # a cell in experiment.json


class Forecast(NamedTuple):
    """What a run would do."""

    play: list[Cell]  # cells without any of their games
    extend: list[Cell]  # cells that have some of them
    kept: list[str]
    aside: list[str]
    seconds: float | None  # of computing; None: nothing like it was measured
    measured: int  # cells

    @property
    def games(self) -> int:
        """How many games would be played."""
        return sum(cell.replications - cell.first for cell in (*self.play, *self.extend))

    def summary(self) -> dict[str, Any]:
        """The forecast, ready for JSON."""
        cells = {"play": [cell.id for cell in self.play], "extend": [cell.id for cell in self.extend]}
        numbers = {"games": self.games, "seconds": self.seconds, "measured": self.measured}
        return cells | {"kept": self.kept, "aside": self.aside} | numbers


def accepted(entry: Mapping[str, Any]) -> dict[str, int]:
    """The fingerprints of files whose games belong to a cell, and how many games each has."""
    return entry.get("earlier", {}) | {entry["hash"]: entry["replications"]}


def place_aside(name: str, entry: Mapping[str, Any]) -> str:
    """Where a cell is put aside, in the folder for that."""
    return f"{entry['hash'][:8]}/{name}"


def grow(head: Entry, experiment: Experiment, version: str, games: Callable[[str, Entry], int]) -> Entry:
    """The content of experiment.json after a change of the experiment; an error if that is refused.

    `games(name, entry)` says how many games the folder has of a cell.
    """
    wanted, panels = expand(experiment)
    entries, aside, seconds = dict[str, Entry](), dict(head.get("aside", {})), dict(head["seconds"])
    changed: dict[str, str] = {}
    for name, cell in wanted.items():
        old = head["cells"].get(name)
        before = ([] if old is None else [old]) + [each for key, each in aside.items() if key.endswith(f"/{name}")]
        same = [each for each in before if from_entry(name, each).meaning == cell.meaning]
        entries[name] = _joined(cell, same, version)
        for each in same:  # what fits into the cell comes back; longer ones stay, and the cell is their beginning
            if each["replications"] <= cell.replications:
                aside.pop(place_aside(name, each), None)
            elif each is old and games(name, old) > cell.replications:
                aside[place_aside(name, old)] = old
            if name not in seconds and "seconds" in each:
                seconds[name] = each["seconds"]
        if old is not None and old not in same and games(name, old) > 0:
            before_now = from_entry(name, old).meaning, cell.meaning
            if _without_sources(before_now[0]) == _without_sources(before_now[1]):
                aside[place_aside(name, old)] = _with_seconds(old, seconds.pop(name, None))
            else:
                changed[name] = _difference(*before_now)
    for name, old in head["cells"].items():
        if name not in wanted and games(name, old) > 0:
            aside[place_aside(name, old)] = _with_seconds(old, seconds.get(name))
    if changed:
        raise _refusal(head["experiment"], experiment, changed)
    kept = {name: spent for name, spent in seconds.items() if name in wanted}
    content = {"experiment": experiment.canonical(), "cells": entries, "panels": panels, "seconds": kept}
    return head | content | {"aside": aside}


def _joined(cell: Cell, same: list[Entry], version: str) -> Entry:
    """The entry of a cell with the games of entries that mean the same."""
    entry = to_entry(cell) | {"vambrace": version}
    for each in same:
        if each["replications"] == cell.replications:
            return dict(each)  # its fingerprint may be that of an older version
    earlier = {found: games for each in same for found, games in accepted(each).items()}
    return entry | ({"vambrace": same[0]["vambrace"], "earlier": earlier} if same else {})


def _with_seconds(entry: Entry, seconds: float | None) -> Entry:
    return entry if seconds is None else entry | {"seconds": seconds}


def _without_sources(meaning: Entry) -> Entry:
    return {key: value for key, value in meaning.items() if key != "sources"}


def _difference(before: Entry, now: Entry) -> str:
    keys = [key for key in before | now if before.get(key) != now.get(key)]
    return ", ".join(f"{key} was {before.get(key)!r} and is {now.get(key)!r}" for key in keys)


def _refusal(before: Entry, experiment: Experiment, changed: Mapping[str, str]) -> StoreError:
    name, what = next(iter(changed.items()))
    count = f"{len(changed)} finished cell{'s' if len(changed) > 1 else ''}"
    return StoreError(
        f"the change gives {count} another meaning, such as {name}: {what}; take another folder, or undo the change",
        diff=difference(before, experiment.canonical()),
    )


def difference(before: Entry, now: Entry) -> str:
    """What differs between two experiments, line by line."""
    old, new = (json.dumps(each, indent=2, ensure_ascii=False).splitlines() for each in (before, now))
    return "\n".join(unified_diff(old, new, "the experiment before", "the experiment now", lineterm=""))


def measured(head: Mapping[str, Any]) -> list[tuple[Cell, float, int]]:
    """The cells whose seconds are known, also those that were put aside: the seconds, and for how many rounds."""
    entries = [(name, head["cells"][name], spent) for name, spent in head["seconds"].items()]
    entries += [(key, each, each["seconds"]) for key, each in head.get("aside", {}).items() if "seconds" in each]
    found = []
    for name, entry, spent in entries:
        games = max(entry.get("earlier", {"": entry["replications"]}).values())
        found.append((from_entry(name, entry), spent, games * entry["horizon"]))
    return found


def estimate(waiting: Iterable[Cell], head: Mapping[str, Any]) -> float | None:
    """How many seconds some cells may take, from those of cells that are alike: the same policy and attack."""
    rates: list[dict[Any, tuple[float, float]]] = [{}, {}, {}]
    for cell, spent, played in measured(head):
        for rate, key in zip(rates, _alike(cell), strict=True):
            seconds, rounds = rate.get(key, (0.0, 0.0))
            rate[key] = seconds + spent, rounds + played
    total = 0.0
    for cell in waiting:
        found = [rate[key] for rate, key in zip(rates, _alike(cell), strict=True) if key in rate]
        if not found:
            return None
        total += (cell.replications - cell.first) * cell.horizon * found[0][0] / found[0][1]
    return total


def _alike(cell: Cell) -> list[Any]:
    policy, attack = (split(spec)[:2] for spec in (cell.policy, cell.adversary))
    return [(policy, attack), policy, None]
