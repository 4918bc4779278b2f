"""`vambrace learners`, with both databases in one test where it is quick."""

import json
from pathlib import Path
from typing import Any

import polars
import pytest

import vambrace as vb
from command_line import Finished, Run
from vambrace.live import fold
from vambrace.live.fold import Fold, snapshot_text
from vambrace.live.sql import open_database, open_journal


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two learners: 40 decisions with 30 answers, and a new one."""
    monkeypatch.setattr(fold, "SNAPSHOT_EVERY", 50)
    url = f"sqlite:///{tmp_path}/shop.db"
    learner = vb.open(url, "headlines", policy=vb.KLUCBWR(budget=2), arms=["old", "new"])
    for step in range(40):
        decision = learner.ask()
        if step % 4:
            learner.tell(decision, float(decision.arm == "new"))
    learner.close()
    vb.open(url, "prices", policy=vb.UCB1(), n_arms=3).close()
    return url


def test_list(run: Run, url: str) -> None:
    code, out, err = run("learners", "list", url)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:6] == ["name", "policy", "arms", "decisions", "open", "events"]
    assert lines[2].split()[:6] == ["headlines", "kl-ucb-wr:budget=2", "2", "40", "10", "71"]
    assert lines[3].split()[:6] == ["prices", "ucb1", "3", "0", "0", "1"]
    assert json.loads(run("learners", "list", url, "--json").out)[0]["open"] == 10


def test_show(run: Run, url: str) -> None:
    assert run("learners", "show", url, "headlines") == Finished(0, f"{vb.open(url, 'headlines').explain()}\n", "")
    assert json.loads(run("learners", "show", url, "headlines", "--json").out)["decisions"] == 40


def test_check(run: Run, url: str) -> None:
    same = "events replayed; the same state, bit for bit\n"
    assert run("learners", "check", url) == Finished(0, f"headlines: 71 {same}prices: 1 {same}", "")
    answer = json.loads(run("learners", "check", url, "headlines", "--json").out)
    assert answer == [{"name": "headlines", "events": 71, "snapshot": 50, "difference": ""}]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            "UPDATE vambrace_events SET payload = '[0.5]' WHERE number = 5 AND kind = 'told'",
            "the snapshot after event 50",
        ),
        ("UPDATE vambrace_events SET payload = '[0.5]' WHERE number = 60 AND kind = 'told'", ""),
        ("DELETE FROM vambrace_events WHERE number = 20", "expected event 20, got 21: it is damaged"),
        ("UPDATE vambrace_events SET payload = '[1,1.0,0,2]' WHERE number = 2", "expected a decision"),
    ],
)
def test_check_finds_damage(run: Run, url: str, damage: str, said: str) -> None:
    """A changed event after the snapshot is the truth for everybody; before it, the snapshot contradicts it."""
    database = open_database(url, create=False)
    rows = [row[0] for row in database.run("SELECT number FROM vambrace_events WHERE learner = 1 AND kind = 'told'")]
    database.run(damage.replace("number = 5 ", f"number = {rows[0]} ").replace("number = 60", f"number = {rows[-1]}"))
    done = run("learners", "check", url, "headlines")
    assert done.code == (2 if said else 0)
    assert said in done.out
    assert ("got a difference in headlines" in done.err) == bool(said)


def test_check_sees_another_opened_state(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that cannot be read is not used; one that was replaced by a valid other state is found."""
    journal = open_journal(url, "headlines", create=False)
    other = Fold(journal).load(from_snapshot=False, upto=48)
    with journal.transaction():
        journal.save_snapshot(50, snapshot_text(other))
    assert "the snapshot after event 50 is another state" in run("learners", "check", url, "headlines").out


@pytest.mark.parametrize("ending", ["csv", "parquet", "ndjson"])
def test_export_feeds_certify(run: Run, url: str, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"log.{ending}"
    done = run("learners", "export", url, "headlines", "--to", str(file))
    assert done == Finished(0, f"30 answered decisions written to {file}\n", "")
    read: Any = {"csv": polars.read_csv, "parquet": polars.read_parquet, "ndjson": polars.read_ndjson}[ending]
    found = read(file)
    assert found.columns == ["arm", "reward", "time", "id", "probability", "status"]
    assert set(found["status"]) == {"told"}
    assert (found["reward"] == (found["arm"] == "new").cast(polars.Float64)).all()
    certificate = vb.certify(file)
    assert certificate.winner == "new"
    assert run("certify", str(file)).code == 0


def test_export_of_late_and_expired_decisions(run: Run, tmp_path: Path) -> None:
    from vambrace.live.clock import Clock

    now = [1e9]
    url, file = f"sqlite:///{tmp_path}/shop.db", tmp_path / "log.ndjson"
    learner = vb.open(
        url,
        "a",
        policy=vb.UCB1(),
        n_arms=2,
        expires_after=10.0,
        default_reward=0.25,
        clock=Clock(lambda: now[0], lambda: now[0]),
    )
    told, late, expired, abandoned, _ = learner.ask_many(5)
    learner.tell(told, 1.0)
    learner.abandon(abandoned)
    now[0] += 11.0
    learner.add_arm("2nd")
    learner.tell(late, 0.5)
    newest = learner.ask()
    learner.tell(newest, 0.0)
    run("learners", "export", url, "a", "--to", str(file))
    found = {row["id"]: (row["arm"], row["reward"], row["status"]) for row in polars.read_ndjson(file).to_dicts()}
    assert found[told.id] == ("0", 1.0, "told")
    assert found[late.id] == ("1", 0.5, "late")
    assert found[expired.id] == (str(expired.arm), 0.25, "expired")
    assert found[newest.id] == (str(newest.arm), 0.0, "told")
    assert abandoned.id not in found
    assert len(found) == 5


def test_mistakes(run: Run, url: str, tmp_path: Path) -> None:
    def error(*words: str) -> str:
        done = run("learners", *words)
        assert (done.code, done.out) == (2, "")
        return done.err

    assert "unknown action 'lst'; did you mean 'list'?" in error("lst", url)
    assert "there is no such file" in error("list", f"sqlite:///{tmp_path}/none.db")
    assert "did you mean 'prices'" in error("show", url, "price")
    assert "name: expected a learner (headlines, prices), got none" in error("show", url)
    assert "to: expected a file with export, and only there" in error("export", url, "headlines")
    assert "to: expected a file with export, and only there" in error("list", url, "--to", "x.csv")
    assert ".csv or .parquet or .ndjson" in error("export", url, "headlines", "--to", "x.txt")
    assert "url: expected sqlite:///FILE or postgresql://" in error("list", "shop.db")


def test_postgresql(run: Run, postgres_url: str) -> None:
    vb.open(postgres_url, "of-the-command-line", policy=vb.UCB1(), n_arms=3).close()
    assert "of-the-command-line" in run("learners", "list", postgres_url).out
    assert "the same state" in run("learners", "check", postgres_url, "of-the-command-line").out
