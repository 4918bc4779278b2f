import functools
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import vambrace as vb
from vambrace.errors import StoreError
from vambrace.lab import cells, lock, store
from vambrace.lab import experiment as spec
from vambrace.lab.cells import Cell, expand
from vambrace.lab.recorded import decode, encode
from vambrace.lab.store import Store

DOCUMENT: dict[str, Any] = {
    "name": "small",
    "replications": 3,
    "checkpoints": 4,
    "horizons": [30],
    "budgets": [0, 5],
    "policies": ["ucb1"],
    "adversaries": ["conceal"],
    "environments": {"two": "bernoulli:means=0.9/0.5"},
}
EXPERIMENT = spec.parse(DOCUMENT)
CLEAN, ATTACKED = expand(EXPERIMENT).cells.values()


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are short: interpreting saves the compiling."""
    monkeypatch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))


def fill(folder: Path, *chosen: Cell) -> Store:
    """A folder with these cells finished."""
    kept = Store(folder)
    with kept.opened(EXPERIMENT):
        for cell in chosen:
            kept.keep(cell, encode(cell, cell.play()), 0.5)
    return kept


@pytest.mark.parametrize(
    "cell",
    [
        ATTACKED,
        replace(ATTACKED, policy="se-wr:budget=2", checkpoints=[3, 7], adversary="none"),
        replace(ATTACKED, environment="beta:means=0.4/0.5/0.6,concentration=3", replications=1),
    ],
    ids=["rounds", "leap", "not realized"],
)
def test_a_result_comes_back_as_it_was(cell: Cell) -> None:
    result = cell.play()
    back = decode(cell, pl.read_parquet(encode(cell, result)))
    for name in ("policy", "environment", "adversary", "horizon", "replications", "seed", "engine", "bounded"):
        assert getattr(back, name) == getattr(result, name)
    for name in ("checkpoints", "pseudo_regret", "cost", "pulls", "realized", "observed"):
        ours, theirs = getattr(back, name), getattr(result, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_array_equal(ours, theirs, strict=True)


def test_status_and_results_of_a_half_filled_folder(tmp_path: Path) -> None:
    kept = fill(tmp_path / "deep" / "out", CLEAN)
    status = kept.status()
    assert (status.name, status.done, status.missing) == ("small", (CLEAN.id,), (ATTACKED.id,))
    assert (status.failed, status.damaged, status.unknown, status.running) == ({}, {}, (), None)
    assert json.loads(json.dumps(status.summary()))["cells"] == status.total == 2
    assert list(kept.results()[2]) == [CLEAN.id]
    head = json.loads((kept.folder / "experiment.json").read_text(encoding="utf-8"))
    assert head["seconds"] == {CLEAN.id: 0.5}
    assert head["vambrace"] == vb.__version__
    assert {"python", "numpy", "numba", "polars"} <= {*head["versions"]}
    assert [game["cell"] for game in head["panels"]["small"]] == [CLEAN.id, ATTACKED.id]
    with kept.opened(EXPERIMENT) as waiting:
        assert waiting == [ATTACKED]
        assert kept.status().running == f"process {os.getpid()}"


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def exchange(path: Path) -> None:
    path.write_bytes(encode(ATTACKED, ATTACKED.play()))


def foreign(path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(path)


DAMAGES = {
    "cut": (truncate, "cannot be read"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read"),
    "text": (lambda path: path.write_text("hello"), "cannot be read"),
    "another cell's": (exchange, "is not a file of this cell"),
    "foreign": (foreign, "is not a file of this cell"),
}


@pytest.mark.parametrize(("damage", "reason"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_reported_and_played_again(tmp_path: Path, damage: Any, reason: str) -> None:
    kept = fill(tmp_path, CLEAN, ATTACKED)
    damage(kept.files.path(CLEAN.id))
    status = kept.status()
    assert status.done == (ATTACKED.id,)
    assert [*status.damaged] == [CLEAN.id]
    assert status.damaged[CLEAN.id].startswith(reason)
    assert [*kept.results()[2]] == [ATTACKED.id]
    with kept.opened(EXPERIMENT) as waiting:
        assert waiting == [CLEAN]


def test_files_that_are_no_cells_are_reported_and_left_alone(tmp_path: Path) -> None:
    kept = fill(tmp_path, CLEAN)
    (tmp_path / "cells" / "notes.txt").touch()
    (tmp_path / "cells" / f".{ATTACKED.id}.unfinished.parquet").touch()  # of a killed run
    (tmp_path / "failed").mkdir()
    (tmp_path / "failed" / "other.json").touch()
    fill(tmp_path, ATTACKED)
    assert kept.status().unknown == ("cells/notes.txt", "failed/other.json")
    assert kept.status().done == (CLEAN.id, ATTACKED.id)


def test_a_failure_is_kept_until_the_cell_succeeds(tmp_path: Path) -> None:
    kept = fill(tmp_path, CLEAN)
    kept.fail(ATTACKED, "expected this, got that", "a\ntrace")
    assert kept.status().failed == {ATTACKED.id: "expected this, got that"}
    assert kept.status().missing == ()
    with kept.opened(EXPERIMENT) as waiting:
        assert waiting == [ATTACKED]
    kept.failure_path(ATTACKED.id).write_text("{")
    assert kept.status().failed[ATTACKED.id].startswith("unknown")
    fill(tmp_path, ATTACKED)
    assert kept.status().failed == {}
    assert not kept.failure_path(ATTACKED.id).exists()


def test_a_changed_experiment_is_refused_with_the_difference(tmp_path: Path) -> None:
    kept = fill(tmp_path, CLEAN)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    changes: dict[str, Any] = {
        "seed": 1,
        "checkpoints": 5,
        "bounded": False,
        "engine": "rounds",
        "environments": {"two": "bernoulli:means=0.9/0.6"},
        "lost": 0.5,
        "delay": "fixed:3",
        "arms_open": "1:5-",
    }
    for key, value in changes.items():
        with (
            pytest.raises(StoreError, match=f"gives 1 finished cell another meaning, such as {CLEAN.id}: ") as caught,
            kept.opened(spec.parse(DOCUMENT | {key: value})),
        ):
            pass
        assert f"{key.removesuffix('s')} was" in str(caught.value) or key == "checkpoints"
        assert any(line.startswith("+") and (key in line or "0.6" in line) for line in caught.value.diff.splitlines())
    with pytest.raises(StoreError, match="expected the experiment 'small' that it was made for, got 'other'"):
        kept.forecast(spec.parse(DOCUMENT | {"name": "other"}))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_another_version_goes_on_and_the_head_says_who_played_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = fill(tmp_path, CLEAN)
    monkeypatch.setattr(store, "__version__", "99")
    fill(tmp_path, ATTACKED)
    assert kept.status().done == (CLEAN.id, ATTACKED.id)
    head = kept.head()
    assert {name: cell["vambrace"] for name, cell in head["cells"].items()} == {
        CLEAN.id: vb.__version__,
        ATTACKED.id: "99",
    }
    assert head["vambrace"] == vb.__version__  # which made the folder


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StoreError, match=r"expected a new or an empty folder, got one with 'thesis.tex'"):
        fill(tmp_path)
    with pytest.raises(StoreError, match="expected a folder that `vambrace run` made"):
        Store(tmp_path).status()
    fill(tmp_path / "good")
    head = json.loads((tmp_path / "good" / "experiment.json").read_text(encoding="utf-8"))
    halves = [json.dumps(head | {key: None}) for key in ("experiment", "cells", "panels", "versions", "seconds")]
    halves += [
        json.dumps(head | {"cells": {"x": 3}}),
        json.dumps(head | {"cells": {"x": {"hash": "h"}}}),
        json.dumps(head | {"experiment": {}}),
    ]
    for text in ("{", "[]", "{}", 100_000 * "[", *halves):
        (tmp_path / "experiment.json").write_text(text)
        with pytest.raises(StoreError, match="expected what `vambrace run` wrote"):
            Store(tmp_path).status()


def test_what_a_run_leaves_that_dies_at_once_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / lock.NAME).write_text("1")  # the number of a process that lives, but holds nothing
    (tmp_path / ".experiment.unfinished.json").write_text("{")
    assert fill(tmp_path, CLEAN).status().done == (CLEAN.id,)
