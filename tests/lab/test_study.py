"""A finished experiment as a study and as a frame."""

import functools
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vambrace as vb
from vambrace import lab
from vambrace.lab import cells
from vambrace.lab.study import Study, share_of_best, worst

DOCUMENT: dict[str, Any] = {
    "name": "small",
    "replications": 3,
    "checkpoints": [5, 20],
    "horizons": [20, 30],
    "budgets": [0, 4],
    "policies": ["ucb1", "se-wr:budget={budget}"],
    "adversaries": ["conceal"],
    "environments": {"two": "bernoulli:means=0.9/0.5", "level": "beta:means=0.4/0.4/0.3"},
    "panels": [{"name": "all"}, {"name": "again", "policies": ["ucb1"]}],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
        lab.run(lab.parse(DOCUMENT), str(folder), workers=1)
    return lab.load(str(folder))


def test_panels_have_the_games_of_the_file(study: Study) -> None:
    assert [play.game for play in study.plays] == [*lab.parse(DOCUMENT).games]
    assert [len(study.panel(name)) for name in ("all", "again", "none")] == [16, 8, 0]
    assert study.name == "small"


def test_the_frame_has_a_row_for_each_cell_replication_and_checkpoint(study: Study) -> None:
    frame = study.to_frame()
    assert frame.columns == [
        *("environment", "policy", "attack", "budget", "horizon", "replication", "round"),
        *("pseudo_regret", "cost", "realized_regret", "observed_regret"),
    ]
    assert len(frame) == 8 * 3 * 2 + 8 * 3 * 3  # the last checkpoint of 30 rounds is a third one
    assert frame.select("environment", "policy", "attack", "budget", "horizon").n_unique() == 16
    for play in study.panel("all"):
        attack = "conceal:budget=4" if play.game.adversary else None
        rows = frame.filter(
            pl.col("environment") == play.game.place,
            pl.col("policy") == vb.registry.spec_of(play.game.policy),
            pl.col("attack").eq_missing(attack),
            pl.col("budget") == play.spendable,
            pl.col("round") == pl.col("horizon"),
            pl.col("horizon") == play.game.horizon,
        )
        assert rows["pseudo_regret"].to_list() == play.final.tolist()
        assert rows["cost"].to_list() == play.result.cost[:, -1].tolist()


def test_a_folder_without_finished_cells_has_an_empty_frame(tmp_path: Path) -> None:
    with lab.store.Store(tmp_path).opened(lab.parse(DOCUMENT)):
        pass
    assert lab.load(tmp_path).to_frame().is_empty()


def test_what_can_be_lost_and_spent(study: Study) -> None:
    play = next(play for play in study.plays if play.game.place == "level" and play.game.budget == 4)
    assert play.gaps == pytest.approx([0.0, 0.1])  # an arm as good as the best is one of the others
    assert play.most == pytest.approx(0.1 * 20)
    assert play.spendable == 4
    assert share_of_best(play) == pytest.approx(play.result.pulls[:, 0].mean() / 20)


def test_the_worst_of_each_kind(study: Study) -> None:
    found = worst(study.plays, lambda play: play.game.line)
    for line, play in found.items():
        assert play.regret == max(each.regret for each in study.plays if each.game.line == line)


def test_a_game_that_the_file_describes_twice_is_compared_once(tmp_path: Path) -> None:
    twice = {"adversaries": ["none", "conceal", "conceal:budget={2 * budget}"], "budgets": [0, 2, 4]}
    document = DOCUMENT | twice | {"horizons": [20], "panels": [], "policies": ["ucb1", "thompson"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "simulate", functools.partial(vb.simulate, interpret=True))
        lab.run(lab.parse(document), tmp_path / "fixed", workers=1)
        lab.run(lab.parse(document | {"policies": ["ucb1", "se-wr:budget={budget}"]}), tmp_path / "given", workers=1)
    found = vb.compare(lab.load(tmp_path / "fixed"))
    spent = [0, 2, 4, 8]  # by the attack; 4 in two ways
    assert len(found.table) == 2 * len(spent)
    assert found.ranks["games"].to_list() == [2 * len(spent)] * 2
    rows = found.table.filter(pl.col("environment") == "two").select("attack", "budget").rows()
    assert rows == [(None, 0), ("conceal", 2), ("conceal:budget=2*C", 2), ("conceal:budget=2*C", 4)]
    given = vb.compare(lab.load(tmp_path / "given"))  # here the policy differs
    assert len(given.table) == 2 * (3 + 4)
    assert "on two, no attack, C = 4, T = 20:" in str(given)


def test_a_study_is_compared_by_the_names_of_its_file(study: Study) -> None:
    found = vb.compare(study, baseline="ucb1")
    assert {*found.ranks["policy"]} == {"ucb1", "se-wr:budget=C"}
    assert found.ranks["games"].to_list() == [8, 8]  # two environments, horizons and budgets; a panel again is no game
    row = found.table.row(-1, named=True)
    game = next(play for play in study.plays if play.game.place == "level" and play.game.line != "ucb1")
    assert (row["policy"], row["baseline"], row["environment"]) == ("se-wr:budget=C", "ucb1", "level")
    assert (row["attack"], row["budget"], row["horizon"], row["replications"]) == ("conceal", 4.0, 30, 3)
    clean = found.table.filter(pl.col("attack").is_null(), environment="level", horizon=20).row(0, named=True)
    assert clean["regret"] == game.regret
