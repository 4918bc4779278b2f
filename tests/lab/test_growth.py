"""Experiments that grow: nothing is played twice, and nobody can tell afterwards how they came to be."""

import contextlib
import functools
import json
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import own_file
import vambrace as vb
from vambrace import lab, own_code
from vambrace.errors import InvalidParameter, StoreError
from vambrace.lab import cells, growth, store
from vambrace.lab import experiment as spec
from vambrace.lab.archive import Archive
from vambrace.lab.cells import expand
from vambrace.lab.store import Store

ASSETS = Path(__file__).parents[1] / "assets" / "0.1.0"
DOCUMENT: dict[str, Any] = {
    "name": "small",
    "replications": 2,
    "checkpoints": 4,
    "horizons": [30],
    "budgets": [0, 5],
    "policies": ["ucb1", "se-wr:budget={budget}"],
    "adversaries": ["conceal"],
    "environments": {"two": "bernoulli:means=0.9/0.5", "smooth": "beta:means=0.4/0.6/0.3"},
}
STEPS: dict[str, dict[str, Any]] = {
    "replications": {"replications": 5},
    "policy": {"policies": ["thompson", *DOCUMENT["policies"]]},
    "budget": {"budgets": [0, 3, 5]},
    "horizon": {"horizons": [30, 20]},
    "panel": {"panels": [{"name": "all"}, {"name": "more", "adversaries": ["invert"]}]},
}
FINAL = functools.reduce(lambda one, other: one | other, STEPS.values(), DOCUMENT)

Games = Counter[tuple[Any, ...]]


@pytest.fixture
def games(monkeypatch: pytest.MonkeyPatch) -> Games:
    """Counts every game that is played to its end: its policy, environment, attack, horizon and replication."""
    found = Games()

    def simulate(policy: Any, environment: Any, attack: Any, **options: Any) -> vb.Result:
        result = vb.simulate(policy, environment, attack, **options, interpret=True)
        given = options["replications"]
        numbers = given if isinstance(given, range) else range(given)
        found.update((policy, environment, attack, options["horizon"], number) for number in numbers)
        return result

    monkeypatch.setattr(cells, "simulate", simulate)
    return found


def run(document: dict[str, Any], folder: Path) -> store.Status:
    return lab.run(lab.parse(document), folder, workers=1)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "cells").iterdir()}


class Killed(BaseException):
    """Not an error that anybody handles."""


def killed_after(count: int, document: dict[str, Any], folder: Path) -> None:
    """Run until this number of cells are kept, and die in the middle of the next."""
    add, left = Archive.add, [count]

    def dying(archive: Archive, cell: cells.Cell, data: bytes) -> None:
        if not left[0]:
            raise Killed
        left[0] -= 1
        add(archive, cell, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Archive, "add", dying)
        with contextlib.suppress(Killed):
            run(document, folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one run of the final file gives."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
        run(FINAL, folder)
    return files(folder)


ORDERS = [pytest.param(order, marks=[pytest.mark.slow] * (i % 60 > 0)) for i, order in enumerate(permutations(STEPS))]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)  # 1.5 s each
def test_in_any_order_and_killed_in_between(
    order: tuple[str, ...], games: Games, whole: dict[str, bytes], tmp_path: Path
) -> None:
    """Each step of growth is killed after some cells, or ends; what is lost are the games of one cell per death."""
    dice, document, deaths = Random(str(order)), DOCUMENT, 0
    for name in order:
        killed_after(dice.choice([0, 1, 3, 99]), document, tmp_path)
        deaths += 1
        document = document | STEPS[name]
    assert run(document, tmp_path).missing == ()
    assert files(tmp_path) == whole
    assert sum(games.values()) - len(games) <= deaths * FINAL["replications"]
    expected = expand(lab.parse(FINAL)).cells.values()
    assert len(games) == sum(cell.replications for cell in expected)


def test_no_finished_game_is_played_twice(games: Games, whole: dict[str, bytes], tmp_path: Path) -> None:
    document = DOCUMENT
    run(document, tmp_path)
    for change in STEPS.values():
        document = document | change
        run(document, tmp_path)
    assert {*games.values()} == {1}
    assert files(tmp_path) == whole
    study = lab.load(tmp_path)
    assert [play.game for play in study.plays] == [*lab.parse(FINAL).games]
    assert (study.status.aside, study.status.unknown) == ((), ())
    assert {*Store(tmp_path).head()["seconds"]} == {name.removesuffix(".parquet") for name in whole}


def test_a_forecast_is_what_a_run_then_does(games: Games, tmp_path: Path) -> None:
    kept = Store(tmp_path / "new")
    first = kept.forecast(lab.parse(DOCUMENT))
    assert (len(first.play), first.extend, first.kept, first.aside, first.seconds) == (8, [], [], [], None)
    assert not kept.folder.exists()
    run(DOCUMENT, kept.folder)
    before = {path: path.read_bytes() for path in kept.folder.rglob("*") if path.is_file()}
    grown = DOCUMENT | {"replications": 3, "policies": ["ucb1", "thompson"]}
    found = kept.forecast(lab.parse(grown))
    assert {path: path.read_bytes() for path in kept.folder.rglob("*") if path.is_file()} == before
    assert ({cell.policy for cell in found.play}, {cell.policy for cell in found.extend}) == ({"thompson"}, {"ucb1"})
    assert (found.games, len(found.aside), found.kept) == (4 * 3 + 4, 4, [])
    assert found.seconds is not None
    head = kept.head()
    seconds = {name: 6.0 for name in head["seconds"] if "--ucb1--" in name}
    (kept.folder / "experiment.json").write_text(json.dumps(head | {"seconds": seconds}))
    more = kept.forecast(lab.parse(DOCUMENT | {"replications": 3, "policies": ["ucb1"]}))
    assert more.seconds == pytest.approx(4 * 3.0)  # 6 s for two games: 3 s for the third one, in each of four cells
    games.clear()
    status = run(grown, kept.folder)
    assert sum(games.values()) == found.games
    assert sorted(status.aside) == sorted(found.aside)
    again = kept.forecast(lab.parse(grown))
    assert (again.play, again.extend, len(again.kept), again.games, again.seconds) == ([], [], 8, 0, 0.0)


def test_seconds_are_judged_by_what_is_most_alike() -> None:
    every = expand(lab.parse(FINAL)).cells
    entries = {name: cells.to_entry(cell) for name, cell in every.items()}
    rates = {"ucb1": 1.0, "thompson": 3.0, "se-wr": 10.0}
    half = [*every][::2]
    seconds = {name: rates[every[name].policy.partition(":")[0]] * 5 * every[name].horizon for name in half}
    rest = [cell for name, cell in every.items() if name not in seconds]
    expected = sum(rates[cell.policy.partition(":")[0]] * 5 * cell.horizon for cell in rest)
    assert growth.estimate(rest, {"cells": entries, "seconds": seconds}) == pytest.approx(expected)
    assert growth.estimate(rest, {"cells": entries, "seconds": {}}) is None
    one = next(iter(seconds))
    alone = growth.estimate(rest, {"cells": entries, "seconds": {one: seconds[one]}})
    assert every[one].policy == "thompson"
    assert alone == pytest.approx(sum(3.0 * 5 * cell.horizon for cell in rest))  # also for others: there is no better


def test_what_no_longer_belongs_is_put_aside_and_comes_back(games: Games, tmp_path: Path) -> None:
    run(FINAL, tmp_path)
    before = files(tmp_path)
    games.clear()
    status = run(DOCUMENT, tmp_path)  # fewer of everything
    assert len(status.done) == status.total == 8
    assert status.unknown == ()
    fresh = tmp_path / "fresh"
    run(DOCUMENT, fresh)
    assert files(tmp_path) == files(fresh)  # the first replications are those of a run with so few
    assert len(status.aside) == len(before)  # what is gone, and the longer ones
    games.clear()
    assert run(FINAL, tmp_path).aside == ()
    assert files(tmp_path) == before
    assert not games
    assert not [path for path in (tmp_path / "aside").rglob("*") if path.is_file()]


@pytest.mark.parametrize("moment", ["put_aside", "bring_back"])
def test_killed_while_files_are_moved(
    games: Games, tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(FINAL, tmp_path)
    before = files(tmp_path)
    if moment == "bring_back":
        run(DOCUMENT, tmp_path)
    games.clear()

    replace: Callable[[Path, Path], Path] = Path.replace
    left = [3]

    def dying(path: Path, target: Path) -> Path:
        if path.suffix == ".parquet" and not path.name.startswith("."):
            left[0] -= 1
            if not left[0]:
                raise Killed
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", dying)
        with pytest.raises(Killed):
            run(DOCUMENT if moment == "put_aside" else FINAL, tmp_path)
    if moment == "put_aside":
        run(DOCUMENT, tmp_path)
        assert len(files(tmp_path)) == 8
    run(FINAL, tmp_path)
    assert not games
    assert files(tmp_path) == before


def test_only_finished_cells_have_a_meaning_to_keep(games: Games, tmp_path: Path) -> None:
    killed_after(0, DOCUMENT, tmp_path)
    assert run(DOCUMENT | {"seed": 3}, tmp_path).missing == ()
    with pytest.raises(StoreError, match=r"gives 8 finished cells another meaning, such as .*: seed was"):
        run(DOCUMENT | {"seed": 4}, tmp_path)
    assert run(DOCUMENT | {"seed": 3, "title": "only words"}, tmp_path).total == 8
    assert lab.load(tmp_path).experiment.title == "only words"


def test_a_failed_cell_that_no_longer_belongs_is_forgotten(games: Games, tmp_path: Path) -> None:
    run(DOCUMENT, tmp_path)
    kept = Store(tmp_path)
    name = next(iter(kept.head()["cells"]))
    kept.files.path(name).unlink()
    kept.failure_path(name).parent.mkdir()
    kept.failure_path(name).write_text('{"error": "bad"}')
    assert [*kept.status().failed] == [name]
    status = run(DOCUMENT | {"policies": ["se"]}, tmp_path)
    assert (status.failed, status.unknown, len(status.aside)) == ({}, (), 7)


def test_a_cell_with_some_of_its_games_says_so_and_is_not_shown(games: Games, tmp_path: Path) -> None:
    run(DOCUMENT, tmp_path)
    killed_after(1, DOCUMENT | {"replications": 4}, tmp_path)
    status = Store(tmp_path).status()
    assert (len(status.done), len(status.incomplete), status.missing, status.damaged) == (1, 7, (), {})
    assert {*status.incomplete.values()} == {"has 2 of 4 games"}
    assert len(lab.load(tmp_path).plays) == 1
    assert status.total == 8


def test_games_of_another_engine_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a later version leaped in other games."""

    def simulate(*parts: Any, **options: Any) -> vb.Result:
        return vb.simulate(*parts, **options | {"interpret": True, "engine": engines[-1]})

    engines = ["leap"]
    monkeypatch.setattr(cells, "simulate", simulate)
    document = DOCUMENT | {"policies": ["se"], "environments": {"two": "bernoulli:means=0.9/0.5"}, "budgets": [0]}
    run(document, tmp_path)
    engines.append("rounds")
    (why,) = run(document | {"replications": 3}, tmp_path).failed.values()
    assert "expected games of one engine, got 'leap' before and 'rounds' now; remove the file" in why
    Store(tmp_path).files.path("two--se--none--c0--t30").unlink()
    assert len(run(document | {"replications": 3}, tmp_path).done) == 1


@pytest.mark.parametrize("name", ["finished", "unfinished"])
def test_what_0_1_0_wrote_grows_too(name: str, games: Games, tmp_path: Path) -> None:
    old, new, data = tmp_path / "old", tmp_path / "new", {"clicks": ASSETS / "clicks.csv"}
    shutil.copytree(ASSETS / name, old)
    played = {path.stem for path in (old / "cells").iterdir()}
    text = (ASSETS / f"{name}.toml").read_text(encoding="utf-8")
    before = spec.read(ASSETS / f"{name}.toml", data if name == "finished" else None)
    file = tmp_path / "grown.toml"
    file.write_text(text.replace(f"replications = {before.replications}", f"replications = {before.replications + 2}"))
    grown = spec.read(file, data if name == "finished" else None)
    assert grown.replications == before.replications + 2
    lab.run(grown, old, workers=1)
    extended = Counter(games)
    lab.run(grown, new, workers=1)
    assert lab.load(old).to_frame().equals(lab.load(new).to_frame())
    assert sum(games.values()) - 2 * sum(extended.values()) == len(played) * before.replications
    versions = {key: cell["vambrace"] for key, cell in Store(old).head()["cells"].items()}
    assert versions == {key: f"0.1.0 and {vb.__version__}" if key in played else vb.__version__ for key in versions}


OWN = DOCUMENT | {
    "policies": ["ucb1", "mine.py:my-greedy:budget={budget}", "other.py:my-greedy"],
    "adversaries": ["conceal", "other.py:Slander"],
    "environments": {"two": "bernoulli:means=0.9/0.5", "own": "other.py:up-to:tops=1/0.5"},
}


def test_a_changed_line_of_a_file_replays_exactly_its_cells(
    games: Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "other.py"):
        Path(name).write_text(own_file.TEXT, encoding="utf-8")
    total = run(OWN, tmp_path / "out").total
    assert total == 2 * 3 * 3  # environments, policies, and no attack or two
    before = files(tmp_path / "out")
    games.clear()
    assert run(OWN, tmp_path / "out").total == total
    assert not games
    Path("mine.py").write_text(own_file.TEXT.replace("FIRST = 3", "FIRST = 4"), encoding="utf-8")
    status = run(OWN, tmp_path / "out")
    assert {key[0].name for key in games} == {"mine.py:my-greedy"}
    assert len(games) == 6 * DOCUMENT["replications"]
    changed = {name for name, data in files(tmp_path / "out").items() if data != before[name]}
    assert changed == {name for name in before if "mine.py" in name}
    assert len(status.aside) == 6
    games.clear()
    Path("mine.py").write_text(own_file.TEXT, encoding="utf-8")  # as it was: so are the games
    assert len(run(OWN, tmp_path / "out").aside) == 6
    assert not games
    assert files(tmp_path / "out") == before
    Path("other.py").write_text(own_file.TEXT + "# a word\n", encoding="utf-8")
    run(OWN, tmp_path / "out")
    untouched = 2 * 2  # ucb1 and mine.py on two, without attack and against conceal
    assert len(games) == (total - untouched) * DOCUMENT["replications"]


def test_reading_results_runs_no_code_of_the_folder(
    games: Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "other.py"):
        Path(name).write_text(own_file.TEXT, encoding="utf-8")
    run(OWN, tmp_path / "out")
    expected = {(play.game.line, play.game.place, play.game.attack): play.regret for play in lab.load("out").plays}
    for name in ("mine.py", "other.py"):
        Path(name).write_text("raise RuntimeError('ran')", encoding="utf-8")
    monkeypatch.setattr(own_code, "load", lambda *_: pytest.fail("ran"))
    study = lab.load("out")
    assert {(play.game.line, play.game.place, play.game.attack): play.regret for play in study.plays} == expected
    own = next(play for play in study.plays if play.game.place == "own" and play.game.attack == "other.py:Slander")
    assert (own.gaps, own.spendable, own.most) == ([0.25], 5.0, 0.25 * 30)
    assert study.to_frame()["policy"].n_unique() == 4  # with the budget that the game has
    assert "mine.py:my-greedy:budget=C" in str(vb.compare(study))
    with pytest.raises(InvalidParameter, match=r"sources: expected specs such as mine\.py:MyPolicy instead"):
        lab.parse(OWN | {"sources": {"mine.py": "print()"}})
