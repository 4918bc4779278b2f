import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vambrace as vb
from command_line import SIMULATE, SMALL, Run, assert_mistake, widest
from vambrace import registry


@pytest.fixture(scope="module")
def expected() -> list[vb.Result]:
    """What `vambrace simulate` must find with SIMULATE and SMALL."""
    return [
        vb.simulate(
            policy,
            vb.Bernoulli([0.9, 0.5]),
            vb.Conceal(budget=3),
            horizon=30,
            replications=3,
            seed=5,
            checkpoints=4,
            interpret=True,
        )
        for policy in (vb.UCB1(), vb.SEWR(budget=2))
    ]


def test_simulate_prints_a_row_for_each_policy(run: Run, expected: list[vb.Result]) -> None:
    done = run(*SIMULATE, *SMALL)
    assert (done.code, done.err) == (0, "")
    assert "30 rounds, 3 replications, attack conceal:budget=3" in done.out
    assert "± is the standard error" in done.out
    for result in expected:
        (row,) = (line for line in done.out.splitlines() if line.startswith(f"{registry.spec_of(result.policy)} "))
        regret = result.summary()["pseudo_regret"]
        assert f"{regret['mean']:,.1f} ± {regret['standard_error']:,.1f}" in row
        assert f"{result.pulls[:, 0].mean() / 30:.1%}" in row
        assert f"{result.cost[:, -1].mean():,.1f}" in row


def test_one_replication_has_no_spread(run: Run) -> None:
    done = run("simulate", "ucb1", "--means", "0.9,0.5", "--horizon", "30", "--replications", "1")
    assert "30 rounds, 1 replication, no attack" in done.out
    assert "±" not in done.out
    assert "…" not in done.out
    (row,) = (line.split() for line in done.out.splitlines() if line.startswith("ucb1 "))
    assert len(row) == len(["policy", "regret", "share", "cost", "engine"])


def test_a_table_that_is_too_wide_has_its_cells_below_each_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = run(*SIMULATE, *SMALL)
    assert widest(run(*SIMULATE, *SMALL).out) <= 80
    lines = [line.split() for line in done.out.splitlines()]
    assert ["se-wr:budget=2"] in lines
    assert ["cost", "3.0"] in lines
    monkeypatch.setenv("COLUMNS", "120")
    assert ["se-wr:budget=2"] not in [line.split() for line in run(*SIMULATE, *SMALL).out.splitlines()]


def test_simulate_prints_json(run: Run, expected: list[vb.Result]) -> None:
    done = run(*SIMULATE, *SMALL, "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == [{**r.summary(), "policy": registry.spec_of(r.policy)} for r in expected]


def test_the_options_reach_the_simulator(run: Run) -> None:
    done = run("simulate", "se", "--env", "beta:means=0.9/0.2", "--attack", "swap", "--unbounded", "--json", *SMALL)
    result = vb.simulate(
        vb.SE(), vb.Beta([0.9, 0.2]), vb.Swap(), horizon=30, replications=3, seed=5, bounded=False, interpret=True
    )
    (summary,) = json.loads(done.out)
    assert summary == result.summary()
    assert summary["cost"]["mean"] > 0


@pytest.mark.parametrize(("name", "read"), [("x.parquet", pl.read_parquet), ("x.csv", pl.read_csv)])
def test_output_is_the_frames_of_the_results(
    run: Run, tmp_path: Path, expected: list[vb.Result], name: str, read: Callable[[Path], pl.DataFrame]
) -> None:
    assert run(*SIMULATE, *SMALL, "--output", str(tmp_path / name)).code == 0
    frames = [r.to_frame().insert_column(0, pl.lit(registry.spec_of(r.policy)).alias("policy")) for r in expected]
    assert_frame_equal(read(tmp_path / name), pl.concat(frames), check_exact=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_plot_writes_a_figure(run: Run, tmp_path: Path) -> None:
    done = run(*SIMULATE, *SMALL, "--plot", str(tmp_path / "folder" / "x.svg"))
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "folder" / "x.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("ending", ["csv", "parquet", "svg"])
@pytest.mark.parametrize("obstacle", ["a file where the folder should be", "a folder where the file should be"])
def test_what_cannot_be_written_is_one_line_and_leaves_nothing(
    run: Run, tmp_path: Path, ending: str, obstacle: str
) -> None:
    if obstacle.startswith("a file"):
        (tmp_path / "ta\nken").write_text("mine")
        target = tmp_path / "ta\nken" / f"x.{ending}"
    else:
        target = tmp_path / f"ta\nken.{ending}"
        target.mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = run(*SIMULATE, *SMALL, "--plot" if ending == "svg" else "--output", str(target))
    assert_mistake(done)
    assert str(tmp_path) in done.err
    assert sorted(tmp_path.rglob("*")) == before


def test_late_and_lost_answers_and_arms_that_change(run: Run) -> None:
    game = ["simulate", "ucb1", "--means", "0.9,0.8", "--horizon", "2000", "--replications", "2"]
    late = json.loads(run(*game, "--json", "--delay", "batch:500", "--lost", "0.1").out)[0]
    assert (late["delay"], late["lost"], late["engine"]) == ("batch:500", 0.1, "rounds")
    changing = json.loads(run(*game, "--json", "--arms-open", "0:1-500,0:1000-").out)[0]
    assert changing["arms_open"] == [[[1, 500], [1000, 2001]], [[1, 2001]]]
    assert "no attack, delay fixed:10, arms open and close" in run(
        *game, "--delay", "fixed:10", "--arms-open", "1:9-"
    ).out.replace("\n", " ")
    for wrong in (["--arms-open", "0=5"], ["--delay", "fixed"], ["--lost", "2"]):
        assert_mistake(run(*game, *wrong))
