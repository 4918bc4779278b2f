import functools
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace import lab, registry
from vambrace.lab import cells
from vambrace.lab import experiment as spec
from vambrace.lab.cells import Cell, expand, fingerprint

DOCUMENT: dict[str, Any] = {
    "name": "small",
    "seed": 7,
    "replications": 3,
    "checkpoints": 4,
    "horizons": [30],
    "budgets": [0, 5],
    "policies": ["ucb1", "se-wr:budget={budget}"],
    "adversaries": ["conceal", "conceal:arm=1"],
    "environments": {"two": "bernoulli:means=0.9/0.5"},
}


def made(**changes: Any) -> dict[str, Cell]:
    return expand(spec.parse(DOCUMENT | changes)).cells


def test_names_say_what_is_played() -> None:
    assert list(made()) == [
        "two--ucb1--none--c0--t30",
        "two--se-wr_budget-0--none--c0--t30",
        "two--ucb1--conceal--c5--t30",
        "two--ucb1--conceal_arm-1--c5--t30",
        "two--se-wr_budget-5--conceal--c5--t30",
        "two--se-wr_budget-5--conceal_arm-1--c5--t30",
    ]


def test_what_two_panels_share_is_played_once() -> None:
    panels = [{"name": "all"}, {"name": "trusting", "policies": ["ucb1:alpha=2"]}]
    experiment = spec.parse(DOCUMENT | {"panels": panels})
    assert expand(experiment).cells == made()
    names = {panel: [game["cell"] for game in games] for panel, games in expand(experiment).panels.items()}
    assert names == {"all": list(made()), "trusting": [name for name in made() if "--ucb1--" in name]}


def test_what_cannot_be_spelled_in_a_name_gets_a_fingerprint() -> None:
    long = [f"0.{'123456789' * 2}{k}" for k in range(9)]
    odd = [f"replay:events=4/4,successes=1/2,labels={label}" for label in ("A/b", "a/b", "a%20b/b", "none/--")]
    specs = [f"bernoulli:means={'/'.join(long)}", *odd]
    slugs = [cells._slug(each) for each in specs]
    assert len({*slugs}) == len(specs)
    assert all(
        re.fullmatch(r"[a-z0-9._-]+", slug) and len(slug) <= cells.LONGEST and "--" not in slug for slug in slugs
    )


def test_clean_and_attacked_games_are_paired_and_others_are_not() -> None:
    twins = made(environments=DOCUMENT["environments"] | {"three": "bernoulli:means=0.9/0.5/0.1"}, horizons=[30, 40])
    seeds = {(cell.environment, cell.horizon): set[int]() for cell in twins.values()}
    for cell in twins.values():
        seeds[cell.environment, cell.horizon].add(cell.seed)
    assert len(seeds) == 4
    assert all(len(found) == 1 for found in seeds.values())
    different = {seed for found in seeds.values() for seed in found}
    assert len(different) == 4
    assert different.isdisjoint({cell.seed for cell in made(seed=8).values()})


def test_adding_cells_changes_nobody_elses() -> None:
    more = made(
        environments={"another": "bernoulli:means=0.3/0.2", **DOCUMENT["environments"]},
        horizons=[20, 30],
        budgets=[1, 0, 5],
        policies=["se", *DOCUMENT["policies"]],
        title="more",
    )
    assert made().items() <= more.items()


def test_the_fingerprint_covers_all_that_matters_and_nothing_else() -> None:
    cell = made()["two--ucb1--conceal--c5--t30"]
    changes: dict[str, Any] = {
        "policy": "ucb1:alpha=3",
        "environment": "bernoulli:means=0.9/0.4",
        "adversary": "conceal:budget=6",
        "horizon": 31,
        "replications": 4,
        "seed": 1,
        "checkpoints": 5,
        "bounded": False,
        "engine": "rounds",
        "delay": "fixed:3",
        "lost": 0.5,
        "arms_open": "1:5-",
        "sources": {"mine.py": "00"},
    }
    others: dict[str, Any] = {"id": "other", "first": 1, "code": {"mine.py": "pass"}, "means": (0.5,)}
    assert {"hash", *changes, *others} == {field.name for field in fields(Cell)}
    assert cell.hash == fingerprint(cell.content)
    hashes = {fingerprint(replace(cell, **{name: value}).content) for name, value in changes.items()}
    assert len({cell.hash, *hashes}) == 1 + len(changes)
    assert fingerprint(replace(cell, **others).content) == cell.hash


def test_a_cell_is_one_call_of_simulate(monkeypatch: pytest.MonkeyPatch) -> None:
    called: dict[str, Any] = {}
    monkeypatch.setattr(cells, "simulate", lambda *things, **options: called.update(options, things=things))
    cell = made()["two--se-wr_budget-5--conceal--c5--t30"]
    cell.play(threads=3)
    assert called == {
        "things": (vb.SEWR(budget=5), vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=5)),
        **{
            name: getattr(cell, name)
            for name in ("horizon", "replications", "seed", "checkpoints", "bounded", "engine")
        },
        "threads": 3,
        "progress": False,
    }
    assert registry.policy(cell.policy) == vb.SEWR(budget=5)


def test_what_answers_and_arms_do_is_played_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
    conditions = {"delay": "fixed:5", "lost": 0.25, "arms_open": "1:1-10,1:20-"}
    document = DOCUMENT | conditions | {"policies": ["ucb1"], "adversaries": ["conceal"], "budgets": [5]}
    lab.run(lab.parse(document), tmp_path, workers=1)
    (play,) = lab.load(tmp_path).plays
    options: dict[str, Any] = {"horizon": 30, "replications": 3, "checkpoints": 4, "seed": play.result.seed}
    windows = {1: [(1, 10), (20, None)]}
    late: dict[str, Any] = {"delay": vb.Delay.fixed(5), "lost": 0.25, "arms_open": windows}
    result = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=5), **options, **late, interpret=True)
    assert (play.result.pseudo_regret == result.pseudo_regret).all()
    for name in ("delay", "lost", "arms_open"):
        assert getattr(play.result, name) == getattr(result, name)
    assert play.result.conditions() == ["delay fixed:5", "0.25 of answers lost", "arms open and close"]
