"""What 0.1.0 wrote is read, reported and finished by this version, and by any that follows."""

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import vambrace as vb
from vambrace import lab, version
from vambrace.errors import InvalidParameter
from vambrace.lab import cells, runner, store
from vambrace.lab.store import Store
from vambrace.lab.study import Study
from vambrace.paper import reproduce

ASSETS = Path(__file__).parents[1] / "assets" / "0.1.0"
DATA = {"finished": {"clicks": ASSETS / "clicks.csv"}, "unfinished": None}
CELLS = {"finished": 16, "unfinished": 10}


@pytest.fixture(params=["this version", "9.9.9"], autouse=True)
def release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """This version, and one of the future; games are interpreted, since they are short."""
    monkeypatch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
    if request.param == "9.9.9":
        for module in (version, store, runner):
            monkeypatch.setattr(module, "__version__", "9.9.9")
    return str(version.__version__)


def copied(name: str, target: Path) -> Path:
    shutil.copytree(ASSETS / name, target)
    return target


def experiment(name: str) -> lab.Experiment:
    return lab.read(ASSETS / f"{name}.toml", DATA[name])


def numbers(study: Study) -> list[tuple[object, ...]]:
    return [(*play.game, play.result.pseudo_regret.tolist(), play.result.pulls.tolist()) for play in study.plays]


def test_a_finished_folder_is_done_for_status_report_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied("finished", tmp_path / "old")
    assert len(Store(folder).status().done) == CELLS["finished"]
    study = lab.load(folder)
    assert study.status.damaged == {}
    assert len(study.plays) == 16 + 8  # in two panels, of which one has one environment
    page = reproduce.write(folder).read_text(encoding="utf-8")
    assert "cells are missing" not in page
    before = {path: path.read_bytes() for path in (folder / "cells").iterdir()}
    monkeypatch.setattr(runner, "play", lambda *_: pytest.fail("a finished cell was played again"))
    assert len(lab.run(experiment("finished"), folder, workers=1).done) == CELLS["finished"]
    assert {path: path.read_bytes() for path in (folder / "cells").iterdir()} == before


@pytest.mark.parametrize("name", CELLS)
def test_it_ends_with_the_numbers_of_a_new_run(name: str, tmp_path: Path, release: str) -> None:
    """Only what is missing is played, and nobody can tell, except by the versions in the head."""
    old, new = copied(name, tmp_path / "old"), tmp_path / "new"
    finished = {path.stem for path in (old / "cells").iterdir()}
    for folder in (old, new):
        status = lab.run(experiment(name), folder, workers=1)
        assert (len(status.done), status.total) == (CELLS[name], CELLS[name])
    assert numbers(lab.load(old)) == numbers(lab.load(new))
    played = {name: cell["vambrace"] for name, cell in Store(old).head()["cells"].items()}
    assert played == {name: "0.1.0" if name in finished else release for name in played}
    assert lab.load(old).to_frame().equals(lab.load(new).to_frame())


def test_a_half_finished_folder_is_reported_as_such(tmp_path: Path) -> None:
    folder = copied("unfinished", tmp_path / "old")
    status = Store(folder).status()
    assert (len(status.done), len(status.missing)) == (4, 6)
    assert "6 of 10 cells are missing" in reproduce.write(folder).read_text(encoding="utf-8")


def test_a_cell_whose_file_is_exchanged_is_still_found_out(tmp_path: Path) -> None:
    folder = copied("finished", tmp_path / "old")
    one, other = sorted((folder / "cells").iterdir())[:2]
    shutil.copy(one, other)
    assert [*Store(folder).status().damaged] == [*lab.load(folder).status.damaged] == [other.stem]


def test_an_attack_with_a_budget_of_its_own_is_read_though_it_is_no_longer_accepted(tmp_path: Path) -> None:
    plays = lab.load(ASSETS / "own-budget").plays
    assert [(play.game.budget, play.spendable, play.game.attack) for play in plays] == [
        (5, 3, "conceal:budget=3"),
        (6, 3, "conceal:budget=3"),
    ]
    assert reproduce.write(copied("own-budget", tmp_path / "old")).is_file()
    with pytest.raises(InvalidParameter, match="the budget is given twice"):
        lab.read(ASSETS / "own-budget.toml")


def test_the_head_of_a_new_folder_says_all_that_a_report_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiment is not expanded again: neither to read it, nor to resume it."""
    wanted = experiment("unfinished")
    lab.run(wanted, tmp_path, workers=1)
    expected = numbers(lab.load(tmp_path))
    assert json.loads((tmp_path / "experiment.json").read_text(encoding="utf-8"))["panels"]["unfinished"][-1] == {
        "cell": "three--pe-wr--random-flips_rate-0.3--c20--t300",
        "place": "three",
        "budget": 20.0,
        "line": "pe-wr",
        "attack": "random-flips:rate=0.3",
        "power": None,
    }
    monkeypatch.setattr(lab.Experiment, "games", property(lambda _: pytest.fail("expanded again")))
    found = lab.load(tmp_path)
    assert numbers(found) == expected
    assert np.isfinite(found.plays[0].regret)
    assert len(lab.run(wanted, tmp_path, workers=1).done) == 10
