import dataclasses
import functools
import gzip
import importlib
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import typer
from polars.testing import assert_frame_equal

import vambrace as vb
from vambrace import cli, registry, theory

PLURALS = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}
SIMULATE = ["simulate", "ucb1", "se-wr:budget=2", "--means", "0.9,0.5", "--attack", "conceal:budget=3"]
SMALL = ["--horizon", "3e1", "--replications", "3", "--seed", "5", "--checkpoints", "4"]


class Finished(NamedTuple):
    code: Any
    out: str
    err: str


Run = Callable[..., Finished]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process; whatever it simulates is interpreted, which saves the compiling."""
    engine = importlib.import_module("vambrace.engine.simulation")
    monkeypatch.setattr(engine, "simulate", functools.partial(engine.simulate, interpret=True))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer sets its own

    def run(*words: str) -> Finished:
        monkeypatch.setattr(sys, "argv", ["vambrace", *words])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return Finished(stopped.value.code, *capsys.readouterr())

    return run


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


def fresh(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300, check=False
    )


# ------------------------------------------------------------------------------------------------------ what it prints


def test_simulate_prints_a_row_for_each_policy(run: Run, expected: list[vb.Result]) -> None:
    done = run(*SIMULATE, *SMALL)
    assert (done.code, done.err) == (0, "")
    assert "30 rounds, 3 replications, adversary conceal:budget=3" in done.out
    for result in expected:
        (row,) = (line for line in done.out.splitlines() if line.startswith(f" {registry.spec_of(result.policy)} "))
        regret = result.summary()["pseudo_regret"]
        assert f"{regret['mean']:,.1f} ± {regret['standard_error']:,.1f}" in row
        assert f"{result.pulls[:, 0].mean() / 30:.1%}" in row
        assert f"{result.cost[:, -1].mean():,.1f}" in row


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


ATTACK = ["attack", "ucb1", "--budgets", "0,3,6", "--attack", "conceal", "--attack", "random-flips:rate=0.5"]
FEW = ["--horizon", "40", "--replications", "2", "--seed", "5"]


def test_attack_prints_every_attack_and_the_worst(run: Run) -> None:
    done = run(*ATTACK, *FEW, "--means", "0.9,0.2")
    assert (done.code, done.err) == (0, "")
    for title in ("every attack", "worst of each budget"):
        assert f"ucb1, 40 rounds, 2 replications: {title}" in done.out
    attacks = [vb.Conceal(), vb.RandomFlips(rate=0.5)]
    options: dict[str, Any] = {"budgets": [0, 3, 6], "attacks": attacks, "horizon": 40, "replications": 2, "seed": 5}
    report = vb.attack_suite(vb.UCB1(), vb.Bernoulli([0.9, 0.2]), **options)
    rows = [line.split() for line in done.out.splitlines()]
    for row in (*report.rows, *report.worst.values()):
        start = [f"{row.budget:g}", row.attack, f"{row.regret:,.1f}", "±"]
        assert any(line[:4] == start for line in rows), start


def test_attack_prints_json_and_has_default_arms(run: Run) -> None:
    done = run(*ATTACK, *FEW, "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["environment"] == "bernoulli:means=0.9/0.8/0.7/0.6/0.5"
    assert [row["budget"] for row in found["worst"]] == [0, 3, 6]


def test_bounds_are_printed_and_orders_marked(run: Run) -> None:
    words = ["bounds", "--policy", "pe-wr", "--gaps", "0.1,0.2", "--horizon", "1e6", "--budget", "50"]
    found = theory.bounds("pe-wr", gaps=[0.1, 0.2], horizon=10**6, budget=50)
    assert json.loads(run(*words, "--json").out) == [dataclasses.asdict(bound) for bound in found]
    shown = run(*words)
    assert (shown.code, shown.err) == (0, "")
    for bound in found:
        (row,) = (line for line in shown.out.splitlines() if line.startswith(f" {bound.name} "))
        assert f"{bound.value:,.0f}" in row
        assert ("~ " in row) == (not bound.explicit)


def test_plan_prints_a_table_or_json(run: Run) -> None:
    expected = vb.plan(arms=4, rate=0.015, gap=0.002, budget=100, horizon=10**6)
    assert run(*PLAN.split()) == Finished(0, f"{expected}\n", "")
    assert json.loads(run(*PLAN.split(), "--json").out) == expected.summary()


TABLE = "arm,views,clicks\nold,9000,900\nnew,9000,1200\n"
TESTS = "test,arm,views,clicks\nx,old,90000,9000\nx,new,90000,10800\ny,old,50,4\ny,new,50,5\nz,old,10,1\n"


def io_table() -> pl.DataFrame:
    return pl.read_csv(io.StringIO(TABLE))


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return str(path)


def test_certify_prints_the_sentence_and_the_rivals(run: Run, table: str) -> None:
    expected = vb.certify(table, threat="inject", design="fixed", delta=0.01)
    words = ["certify", table, "--threat", "inject", "--design", "fixed", "--delta", "0.01"]
    done = run(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{expected}\nthreat inject, design fixed, delta 0.01\ncolumns: ")
    (row,) = (line.split() for line in done.out.splitlines() if line.startswith(" old "))
    (rival,) = expected.rivals
    low, high = (f"{100 * end:.1f}" for end in (rival.low, rival.high))
    assert row == ["old", str(expected.budget), "10.0", "%", low, "%", high, "%", "9,000"]
    assert json.loads(run(*words, "--json").out) == json.loads(json.dumps(expected.to_dict()))


def test_certify_reads_standard_input(run: Run, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = vb.certify(table)
    for text in (Path(table).read_bytes(), gzip.compress(Path(table).read_bytes())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert run("certify", "-").out.startswith(f"{expected}\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    done = run("certify", "-")
    assert_mistake(done)
    assert "standard input: expected" in done.err


def test_certify_tells_tabs_from_commas_in_a_stream(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TABLE.replace(",", "\t").replace("clicks", "clicks\tnote, if any").replace("0\n", "0\tx\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert run("certify", "-").out.startswith(str(vb.certify(io_table())))


def test_certify_reads_a_pipe(run: Run, table: str, tmp_path: Path) -> None:
    """As the shell makes them from <(...)."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(Path(table).read_bytes()))
    writer.start()
    assert run("certify", str(pipe)).out.startswith(f"{vb.certify(table)}\n")
    writer.join()


def test_certify_without_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    done = run("certify", "-")
    assert_mistake(done)
    assert "standard input: expected a log, got a closed stream" in done.err


def test_certify_tells_which_columns_it_used(run: Run, tmp_path: Path) -> None:
    path, page = tmp_path / "x.csv", tmp_path / "x.html"
    path.write_text("variant,visitors,bought\nold,9000,900\nnew,9000,1200\n", encoding="utf-8")
    words = ["certify", str(path), "--successes", "bought"]
    done = run(*words, "--html", str(page))
    assert "\ncolumns: arm = variant, events = visitors, successes = bought\n" in done.out
    columns = {"arm": "variant", "events": "visitors", "successes": "bought"}
    for use, column in columns.items():
        assert f'<th scope="row">{use} column</th><td>{column}</td>' in page.read_text(encoding="utf-8")
    assert json.loads(run(*words, "--json").out)["columns"] == columns
    done = run("certify", str(path))
    assert_mistake(done)
    assert "or the names of these columns, got variant, visitors, bought" in done.err


def test_certify_lets_no_name_speak_to_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("arm,views,clicks\n[/],9000,900\n[red]\x1b[2J,9000,1200\n:bomb:,90,1\n", encoding="utf-8")
    done = run("certify", str(path))
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    for name in ("[/]", r"[red]\x1b[2J", ":bomb:"):
        assert f" {name} " in done.out


def test_certify_shows_the_closest_of_many_arms(run: Run, tmp_path: Path) -> None:
    path, page = tmp_path / "x.csv", tmp_path / "x.html"
    rows = [f"loser {k},{2000 + k},{20 + k % 7}\n" for k in range(1200)]
    path.write_text("arm,views,clicks\nbest,90000,9000\n" + "".join(rows), encoding="utf-8")
    done = run("certify", str(path), "--html", str(page))
    assert "the winner and its rivals, the 49 closest of 1,201" in done.out
    assert len(done.out.splitlines()) < 120
    text = page.read_text(encoding="utf-8")
    assert "The winner and the 39 closest of 1,201 arms." in text
    assert "The winner and the 999 closest of 1,201 arms" in text
    found = vb.certify(path)
    closest = min(found.rivals, key=lambda rival: rival.budget or 0)
    assert closest.budget == found.budget
    for where in (done.out, text):
        assert closest.label in where
    uncertain = tmp_path / "y.csv"
    uncertain.write_text("arm,views,clicks\n" + "".join(f"a{k},9,{k % 9}\n" for k in range(90)), encoding="utf-8")
    verdict = run("certify", str(uncertain)).out.splitlines()[0]
    assert verdict == "No arm is certified: a8, a17, a26, a35 and 6 more share the largest mean."


def test_certify_says_what_a_unit_is(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\n" + "a,-2\nb,10\n" * 50 + "b,4\n", encoding="utf-8")
    done = run("certify", str(path), "--reward-range", "-2,10", "--html", str(tmp_path / "x.html"))
    unit = "one unit of C is one event altered over the full range, -2 to 10."
    assert unit in done.out
    assert unit in (tmp_path / "x.html").read_text(encoding="utf-8")
    in_json = json.loads(run("certify", str(path), "--reward-range=-2,10", "--json").out)
    assert in_json["reward_range"] == [-2, 10]
    assert in_json["winner_mean"] == pytest.approx(50.5 / 51)


def test_certify_many_tests(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    path.write_text(TESTS, encoding="utf-8")
    done = run("certify", str(path), "--group", "test", "--html", str(tmp_path / "x.html"))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 tests, 1 with a certified winner.\n")
    assert done.out.endswith("1 left out, with one arm only, the first of them 'z'.\n")
    rows = [line.split() for line in done.out.splitlines()]
    budget = vb.certify({"arm": [0, 1], "views": [90_000, 90_000], "clicks": [9_000, 10_800]}).budget
    assert budget is not None
    assert 100 <= budget < 1000
    for row in (["0", "1"], ["100", "1"], ["1,000", "0"]):
        assert row in rows
    found = json.loads(run("certify", str(path), "--group", "test", "--json").out)
    assert [(each["test"], each["certified"]) for each in found] == [("x", True), ("y", False)]
    assert [each["budget"] for each in found] == [budget, None]
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<h1>1 of 2 tests have a certified winner</h1>" in page


@pytest.mark.parametrize("only", [None, *PLURALS])
def test_list_shows_every_registered_name(run: Run, only: str | None) -> None:
    words = ["list", only] if only else ["list"]
    shown, in_json = run(*words), run(*words, "--json")
    assert (shown.code, in_json.code) == (0, 0)
    names = {plural: list(registry.known(kind)) for plural, kind in PLURALS.items() if only in (None, plural)}
    assert {plural: [each["name"] for each in found] for plural, found in json.loads(in_json.out).items()} == names
    rows = {line.split()[0] for line in shown.out.splitlines() if line.strip()}
    assert rows >= {name for group in names.values() for name in group}


def test_list_shows_the_parameters(run: Run) -> None:
    found = json.loads(run("list", "--json").out)
    parameters = {each["name"]: each["parameters"] for group in found.values() for each in group}
    assert parameters["se-wr"] == "budget, delta=none, radius=paper"
    assert parameters["random-flips"] == "budget=inf, rate=0.1"
    assert "share=false" in parameters["ms-se-wr"]
    (conceal,) = (each for each in found["adversaries"] if each["name"] == "conceal")
    assert (conceal["strength"], conceal["knowledge"]) == ("strong", "oracle means")
    assert conceal["aim"] == "hides the best arm"


def test_version(run: Run) -> None:
    assert run("--version") == Finished(0, f"{vb.__version__}\n", "")


@pytest.mark.parametrize(
    "words", ["", *(str(command.name) for command in typer.main.get_group(cli.app).commands.values())]
)
def test_help(run: Run, words: str) -> None:
    done = run(*words.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: {' '.join(['vambrace', *words.split()])} " in done.out


def test_no_command_shows_the_help(run: Run) -> None:
    done = run()
    assert (done.code, done.err) == (2, "")
    assert all(command in done.out for command in ("simulate", "list", "reproduce"))


# ------------------------------------------------------------------------------------------------------ what it writes


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


def test_reproduce_runs_the_suites_and_says_where_the_report_is(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With two tiny suites in the place of those that are shipped."""
    text = 'horizons = [30]\nreplications = 2\ncheckpoints = 3\nbudgets = [0, 3]\npolicies = ["ucb1"]\n'
    suites = tmp_path / "suites"
    suites.mkdir()
    for name, more in (("one", 'adversaries = ["conceal"]'), ("two", 'adversaries = ["swap"]\n[data]\nmine = ""')):
        (suites / f"{name}.toml").write_text(
            f'name = "{name}"\n{text}{more}\n[environments]\ntwo = "bernoulli:means=0.9/0.5"\n', encoding="utf-8"
        )
    monkeypatch.setattr("vambrace.paper.suites.FOLDER", suites)
    monkeypatch.setattr("vambrace.paper.reproduce.ORDER", ("one", "two"))
    monkeypatch.setattr("vambrace.lab.cells.simulate", functools.partial(vb.simulate, interpret=True))
    out = tmp_path / "out"
    done = run("reproduce", "--out", str(out), "--workers", "1", "--data", f"mine={__file__}")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"one: 2 done of 2 cells in {out / 'one'}",
        f"two: 2 done of 2 cells in {out / 'two'}",
        str(out / "report.html"),
    ]
    assert (out / "report.html").read_text(encoding="utf-8").count("data-facets=") == 2
    again = run("report", str(out))
    assert (again.code, again.out) == (0, f"{out / 'report.html'}\n")
    claims = json.loads(run("report", str(out), "--json").out)
    assert {claim["holds"] for claim in claims} == {None, True}  # no suite of the paper was run, arithmetic needs none

    assert_mistake(run("reproduce", "--out", str(out), "--data", "yours=x"))
    assert_mistake(run("reproduce", "--out", str(out), "--data", "mine"))
    assert_mistake(run("report", str(tmp_path / "nowhere")))
    (tmp_path / "taken").write_text("mine")
    assert_mistake(run("reproduce", "--out", str(tmp_path / "taken"), "--workers", "1"))


# ---------------------------------------------------------------------------------------------------------- mistakes


def assert_mistake(done: Finished) -> None:
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("vambrace: error: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")


GAME = "simulate ucb1 --means 0.9,0.5"
PLAN = "plan --arms 4 --rate 0.015 --gap 0.002 --budget 100 --horizon 1e6"
MISTAKES = {
    "frob": "'frob'",
    "--frob": "--frob",
    "simulate": "POLICY",
    "list nope": "'nope'",
    "simulate ucb --means 1": "unknown policy 'ucb'; did you mean 'ucb1'?",
    "simulate ucb1 zz --means 1": "unknown policy 'zz'; known: barbar, ",
    "simulate se-wr --means 1": "expected se-wr:budget=…, got no budget",
    "simulate se-wr:budget=x --means 1": "se-wr: budget: expected a number, got 'x'",
    "simulate se-wr:budget=-1 --means 1": "se-wr: budget: expected a number in [0, 1e+18], got -1.0",
    "simulate se-wr:budgt=1 --means 1": "unknown parameter of se-wr 'budgt'; did you mean 'budget'?",
    "simulate ucb1:alpha=1,alpha=1 --means 1": "expected each parameter once, got 'alpha' twice",
    "simulate ucb1": "environment: expected either --means 0.9,0.8 or --env",
    f"{GAME} --env bernoulli:means=1": "environment: expected either --means 0.9,0.8 or --env",
    "simulate ucb1 --means 0.9,1.1": "means[1]: expected a number in [0, 1], got 1.1",
    "simulate ucb1 --means 0.9,b": "means: expected a number, got 'b'",
    "simulate ucb1 --means=": "means: expected a number, got ''",
    "simulate ucb1 --env bernuli:means=1": "unknown environment 'bernuli'; did you mean 'bernoulli'?",
    "simulate ucb1 --env beta": "expected beta:means=…, got no means",
    f"{GAME} --attack concel": "unknown adversary 'concel'; did you mean 'conceal'?",
    f"{GAME} --attack swap:target=9": "target: expected a whole number in [0, 1], got 9",
    f"{GAME} --attack conceal:stop_when_dropped=true": "expected a policy whose state has 'arms', got ucb1",
    f"{GAME} --horizon x": "horizon: expected a whole number such as 1000 or 1e6, got 'x'",
    f"{GAME} --horizon 1.5": "horizon: expected a whole number such as 1000 or 1e6, got '1.5'",
    f"{GAME} --horizon nan": "horizon: expected a whole number such as 1000 or 1e6, got 'nan'",
    f"{GAME} --horizon 1e999": "horizon: expected a whole number such as 1000 or 1e6, got '1e999'",
    f"{GAME} --horizon {'9' * 400}": "horizon: expected a whole number in [1, 1000000000000000], got 9",
    f"{GAME} --horizon 0": "horizon: expected a whole number in [1, 1000000000000000], got 0",
    f"{GAME} --horizon 1": "horizon: expected at least one round for each of the 2 arms, got 1",
    f"{GAME} --horizon": "--horizon",
    f"{GAME} --replications 0": "replications: expected a whole number in [1, ",
    f"{GAME} --seed -1": "seed: expected a whole number from 0 up, got -1",
    f"{GAME} --checkpoints 0": "checkpoints: expected a whole number in [1, ",
    f"{GAME} --threads 0": "threads: expected a whole number in [1, ",
    f"{GAME} --threads x": "--threads",
    f"{GAME} --engine lepa": "unknown engine 'lepa'; did you mean 'leap'?",
    f"{GAME} --output x.txt": "expected a name ending in .parquet or .csv, got 'x.txt'",
    f"{GAME} --plot x": "expected a name ending in .svg or .png or .pdf or .html, got 'x'",
    # two petabytes, more than any machine can address
    f"{GAME} --horizon 1e7 --checkpoints 1e6 --replications 1e9": "memory",
    "attack ucb1": "--budgets",
    "attack ucb1 --budgets x": "budgets: expected a number, got 'x'",
    "attack ucb1 --budgets 1,-1": "budget: expected a number in [0, 1e+18], got -1.0",
    "attack ucb1 --budgets 1 --attack none": "attack: expected an adversary, got none",
    "attack ucb1 --budgets 1 --means 0.9 --env beta:means=0.9": "environment: expected either",
    "bounds --policy se-wr --gaps x": "gaps: expected a number, got 'x'",
    "bounds --policy se_wr --gaps 0.1": "unknown policy 'se_wr'; did you mean 'se-wr'?",
    "bounds --policy se-wr --gaps 0.1 --horizon 1": "horizon: expected at least one round for each of the 2 arms",
    "plan --arms 4": "--rate",
    f"{PLAN} --arms 1": "arms: expected a whole number in [2, 1000000], got 1",
    f"{PLAN} --arms x": "arms: expected a whole number such as 1000 or 1e6, got 'x'",
    f"{PLAN} --rate x": "--rate",
    f"{PLAN} --rate 0": "rate: expected a number in (0, 1], got 0.0",
    f"{PLAN} --gap 0.02": "gap: expected a number in (0, 0.015], got 0.02",
    f"{PLAN} --gap nan": "gap: expected a number in (0, 0.015], got nan",
    f"{PLAN} --budget -1": "budget: expected a number in [0, 1e+18], got -1.0",
    f"{PLAN} --horizon 3": "horizon: expected at least one round for each of the 4 arms, got 3",
    f"{PLAN} --delta 1": "delta: expected a number in (0, 1), got 1.0",
    "certify": "FILE",
    "certify gone.csv": "gone.csv: expected a file, got nothing there",
    "certify gone*.csv": "gone*.csv: expected files that fit this pattern, got none",
    "certify .": ".: expected a file, got a folder there",
    "certify gone.csv --delta 1": "delta: expected a number in (0, 1), got 1.0",
    "certify gone.csv --threat altr": "unknown threat 'altr'; did you mean 'alter'?",
    "certify gone.csv --design fixd": "unknown design 'fixd'; did you mean 'fixed'?",
    "certify gone.csv --reward-range 1": "reward_range: expected the least and the largest reward, got [1.0]",
    "certify gone.csv --reward-range 0,x": "reward_range: expected a number, got 'x'",
    "certify gone.csv --reward-range 2,1": "reward_range[1]: expected a number in (2, 1e+100], got 1.0",
    "certify gone.csv --html x.pdf": "file: expected a name ending in .html, got 'x.pdf'",
    "reproduce --workers 0": "workers: expected a whole number in [1, ",
}


@pytest.mark.parametrize(("words", "message"), MISTAKES.items(), ids=[f"{words:.80}" for words in MISTAKES])
def test_a_mistake_is_one_clear_line(run: Run, words: str, message: str) -> None:
    done = run(*words.split())
    assert_mistake(done)
    assert message in done.err


def logged(rows: str) -> bytes:
    return f"arm,reward\n{rows}".encode()


BAD_LOGS: dict[str, tuple[str, bytes, str]] = {
    "empty": ("x.csv", b"", "expected a header and rows, got an empty file"),
    "no rows": ("x.csv", logged(""), "expected at least one row, got none"),
    "one arm": ("x.csv", logged("a,1\na,0\n"), "expected at least two arms, got one: 'a'"),
    "no column": ("x.csv", b"a,b\n1,2\n", "expected a column arm or variant or variation or treatment or"),
    "doubtful column": ("x.csv", b"variant,bucket,reward\n1,2,1\n", "expected one column arm or variant"),
    "not a number": ("x.csv", logged("a,1\nb,nan\n"), "column 'reward': expected a number in [0, 1]"),
    "text": ("x.csv", logged("a,1\nb,yes\n"), "(a reward range rescales others), got 'yes' in row 2"),
    "nothing": ("x.csv", logged("a,1\nb,\n"), "got nothing in row 2"),
    "no arm": ("x.csv", logged("a,1\n,1\n"), "column 'arm': expected a name, got nothing in row 2"),
    "outside": ("x.csv", logged("a,1\nb,7\n"), "got '7' in row 2"),
    "junk": ("x.csv", bytes(range(256)) * 9, "line 1: expected text in UTF-8, got a byte 0x00"),
    "junk lines": ("x.jsonl", bytes(range(256)) * 9, "line 1: expected text in UTF-8, got a byte 0x00"),
    "junk parquet": ("x.parquet", b"PAR1" + bytes(range(256)), "expected a table that can be read, got "),
    "cut gzip": ("x.csv.gz", gzip.compress(logged("a,1\nb,0\n" * 99))[:-20], "expected a table that can be read"),
    "several tests": ("x.csv", TESTS.encode(), "expected one test, or the group 'test' to tell them apart, got 3"),
    "arm twice": (
        "x.csv",
        (TABLE + "old,1,1\n").encode(),
        "column 'arm': expected one row for each arm (in a log, name the reward), got 'old'",
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_a_bad_log_is_one_clear_line(run: Run, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    done = run("certify", str(tmp_path / name), "--html", str(tmp_path / "report.html"))
    assert_mistake(done)
    assert f"{tmp_path / name}: " in done.err
    assert message in done.err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert_mistake(run("certify", str(tmp_path / name), "--html", str(tmp_path / "new" / "folder" / "report.html")))
    assert [path.name for path in tmp_path.iterdir()] == [name]  # folders are made when there is something to put there


def test_a_parquet_file_that_was_cut_is_one_clear_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"arm": ["a", "b"] * 999, "reward": [0, 1] * 999}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-9])
    assert_mistake(run("certify", str(path)))


def test_an_error_of_ours_is_not_dressed_up_as_a_mistake_of_the_user(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("vambrace.engine.simulation.simulate", broken)
    monkeypatch.setattr(sys, "argv", ["vambrace", *SIMULATE])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_an_interrupt_is_one_line_and_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vambrace.engine.simulation.simulate", interrupted)
    assert run(*SIMULATE) == Finished(130, "", "vambrace: interrupted\n")


# ------------------------------------------------------------------------------------------------------ real processes


def test_an_interrupt_stops_running_games() -> None:
    """Ctrl-C at the first look of the progress bar, in games that would last for hours."""
    done = fresh(
        "import os, signal, vambrace.cli\n"
        "from vambrace.progress import ProgressBar\n"
        "ProgressBar.update = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "vambrace.cli.main()",
        *("simulate", "ucb1", "--means", "0.9,0.8", "--horizon", "1e12", "--replications", "3"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "vambrace: interrupted\n")


def test_the_installed_command_runs() -> None:
    command = Path(sys.executable).with_name("vambrace")
    done = subprocess.run(
        [command, *SIMULATE, *SMALL, "--json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [each["policy"] for each in json.loads(done.stdout)] == ["ucb1", "se-wr:budget=2"]
    done = subprocess.run([command, "simulate", "nope"], capture_output=True, text=True, timeout=300, check=False)
    assert_mistake(Finished(done.returncode, done.stdout, done.stderr))


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["simulate", "--help"], ["certify", "--help"], ["list", "--json"], PLAN.split()],
    ids=" ".join,
)
def test_what_needs_no_simulation_imports_nothing_heavy(words: list[str]) -> None:
    done = fresh(
        "import sys, vambrace.cli\n"
        "try:\n"
        "    vambrace.cli.main()\n"
        "finally:\n"
        "    print([name for name in ('numba', 'polars', 'altair', 'scipy') if name in sys.modules], file=sys.stderr)",
        *words,
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert done.stdout
