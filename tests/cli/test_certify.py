import gzip
import hashlib
import html
import io
import json
import os
import re
import shlex
import sqlite3
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

import vambrace as vb
from command_line import Run, assert_mistake, widest

TABLE = "arm,views,clicks\nold,9000,900\nnew,9000,1200\n"
TESTS = "test,arm,views,clicks\nx,old,90000,9000\nx,new,90000,10800\ny,old,50,4\ny,new,50,5\nz,old,10,1\n"


def io_table() -> pl.DataFrame:
    return pl.read_csv(io.StringIO(TABLE))


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return str(path)


def test_what_is_read_and_how(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE log (visitor, variant, converted, day)")
        rows = [(k % 400, "ab"[k % 2], int(k % 2 == 1 or k % 40 == 0), k // 500) for k in range(1000)]
        database.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", [*rows, (1, "c", 0, 0), (7, "a", 0, 0)])
    database.close()
    sql = "SELECT * FROM log"
    words = ["certify", str(path), "--sql", sql, "--user", "visitor", "--drop", "c", "--time", "day"]
    done = run(*words)
    assert done.code == 0
    assert "400 persons were counted, each once." in done.out + done.err
    assert "2 persons (0.5 %) saw several arms; each counts for the arm seen first." in done.out + done.err
    expected = vb.certify(path, sql=sql, user="visitor", drop="c", time="day")
    assert json.loads(run(*words, "--json").out) == json.loads(json.dumps(expected.to_dict()))
    assert (expected.winner, expected.events, len(expected.notes)) == ("b", 400, 2)


def test_certify_prints_the_sentence_and_the_rivals(run: Run, table: str) -> None:
    expected = vb.certify(table, threat="inject", design="fixed", delta=0.01)
    words = ["certify", table, "--threat", "inject", "--design", "fixed", "--delta", "0.01"]
    done = run(*words)
    assert (done.code, done.err) == (0, "")
    said = " ".join(expected.sentences())
    assert " ".join(done.out.split()).startswith(f"{said} threat inject, design fixed, delta 0.01 columns: ")
    (row,) = (line.split() for line in done.out.splitlines() if line.startswith("old  "))
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
        assert f"\n{name} " in done.out


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


def test_certify_speaks_in_the_units_of_the_log(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\n" + "a,-2\nb,10\n" * 50 + "b,4\n", encoding="utf-8")
    words = ["certify", str(path), "--reward-range", "-2,10", "--unit", "EUR", "--design", "fixed"]
    done = run(*words, "--html", str(tmp_path / "x.html"))
    assert "9.88 EUR" in done.out
    assert "9.88 EUR" in (tmp_path / "x.html").read_text(encoding="utf-8")
    in_json = json.loads(run("certify", str(path), "--reward-range=-2,10", "--json").out)
    assert in_json["reward_range"] == [-2, 10]
    assert in_json["winner_mean"] == pytest.approx(504 / 51)


def test_certify_many_tests(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    path.write_text(TESTS, encoding="utf-8")
    done = run("certify", str(path), "--group", "test", "--html", str(tmp_path / "x.html"))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 tests, 1 with a certified winner.\n")
    assert "\n'z' was left out: only one arm.\n" in done.out
    rows = [line.split() for line in done.out.splitlines()]
    budget = vb.certify({"arm": [0, 1], "views": [90_000, 90_000], "clicks": [9_000, 10_800]}).budget
    assert budget is not None
    assert budget >= 1000
    for row in (["0", "1"], ["100", "1"], ["1,000", "1"], ["x", f"{budget:,}", "1,800", "180,000", "new"]):
        assert row in rows
    found = json.loads(run("certify", str(path), "--group", "test", "--json").out)
    assert [(each["test"], each["certified"]) for each in found] == [("x", True), ("y", False)]
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<h1>1 of 2 tests have a certified winner</h1>" in page


def test_a_table_of_many_tests_in_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tests.csv"
    rows = [f"t{k},old,90000,9000\nt{k},{'new headline ' * 9},90000,{9000 + 300 * k}\n" for k in range(8)]
    path.write_text("test,arm,views,clicks\n" + "".join(rows), encoding="utf-8")
    outs = [tmp_path / "new" / f"found.{ending}" for ending in ("csv", "parquet")]
    words = ["certify", str(path), "--group", "test"]
    done = run(*words, "--csv", str(outs[0]), "--parquet", str(outs[1]))
    assert (done.code, done.err) == (0, "")
    assert widest(done.out) <= 80
    expected = vb.certify(path, group="test")
    frames = [pl.read_csv(outs[0]), pl.read_parquet(outs[1])]
    for frame in frames:
        assert frame["test"].to_list() == ["t7", "t6", "t5", "t4", "t3", "t0", "t1", "t2"]
        for row in frame.iter_rows(named=True):
            one = expected[row["test"]]
            assert row["arms"] == 2
            for name in ("winner", "budget", "overturned_at", "events", "more_events", "threat", "design", "delta"):
                assert row[name] == getattr(one, name)
            if one.cheapest is not None:
                assert row["on_winner"] + row["on_rival"] == row["budget"] + 1
    printed = [line.split()[0] for line in done.out.splitlines() if line.startswith("t") and line[1].isdigit()]
    assert printed == ["t7", "t6", "t5", "t4", "t3"]
    assert_mistake(run(*words, "--csv", str(tmp_path / "found.parquet")))


# the arms A and B with these counts, options, and everything that is then said
SAID = [
    (
        "10000,200 10000,400",
        [],
        "B beats every other arm unless at least 73 of the 20,000 events were altered. "
        "The cheapest attack that may have hidden a better arm: 73 clicks of A were erased. "
        "On B alone it would take 89 fake clicks. "
        "The guarantee holds up to C = 72: 18 % of the clicks of B, 0.36 % of all events. "
        "200 altered events could explain the whole lead of B: without them, A would look at least as good. "
        "Beyond C, nothing is guaranteed; B may still be the best arm.",
    ),
    (
        "40,36 45,10",
        ["--threat=suppress", "--design=fixed"],
        "A beats every other arm unless at least 37 events were suppressed beside the 85 that are known. "
        "The cheapest attack that may have hidden a better arm: 21 failures of A were suppressed, and 16 clicks of B "
        "were suppressed. On A alone it would take 56 suppressed failures, "
        "on B alone it would take 108 suppressed clicks. "
        "The guarantee holds up to C = 36: 100 % of the clicks of A, 42 % of all events. "
        "57 suppressed events could explain the whole lead of A: with them, B would look at least as good. "
        "Beyond C, nothing is guaranteed; A may still be the best arm.",
    ),
    (
        "1000,20 1000,33",
        ["--design=fixed"],
        "B beats every other arm unless at least 1 of the 2,000 events was altered. "
        "The cheapest attack that may have hidden a better arm: 1 click of B was fake. "
        "On A alone it would take 1 erased click. "
        "13 altered events could explain the whole lead of B: without them, A would look at least as good. "
        "If an event was altered, nothing is guaranteed; B may still be the best arm.",
    ),
    (
        "1000,20 1000,31",
        ["--design=fixed", "--threat=inject"],
        "No arm is certified: even without fake events B is not separated from A. "
        "Its lead may be chance. About 420 more events at the same rates would certify B. "
        "12 injected events could explain the whole lead of B: without them, A would look at least as good.",
    ),
    (
        "1000000,20 1000000,21",
        [],
        "No arm is certified: even without fake events B is not separated from A. "
        "Its lead may be chance. At these rates even 1,000,000,000 events of an arm would be too few. "
        "1 altered event could explain the whole lead of B: without it, A would look at least as good.",
    ),
    ("1000,20 1000,20", [], "No arm is certified: A and B share the largest mean."),
]


@pytest.mark.parametrize(("counts", "options", "said"), SAID)
def test_everything_is_said_once_and_in_order(
    run: Run, tmp_path: Path, counts: str, options: list[str], said: str
) -> None:
    path = tmp_path / "x.csv"
    rows = [f"{arm},{row}\n" for arm, row in zip("AB", counts.split(), strict=True)]
    path.write_text("arm,views,clicks\n" + "".join(rows), encoding="utf-8")
    out = run("certify", str(path), *options).out
    assert " ".join(out.partition("\nthreat ")[0].split()) == said
    assert widest(out) <= 80


def test_what_is_said_about_revenue(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("arm,reward\n" + "a,0\na,0\na,9\nb,40\nb,0\nb,9\n" * 3000, encoding="utf-8")
    words = ["certify", str(path), "--reward-range=0,50", "--unit=EUR"]
    found = vb.certify(path, reward_range=(0, 50), unit="EUR")
    said = " ".join(run(*words).out.split())
    assert re.search(r"altered by more than ([\d,]+\.\d\d) EUR in total\. ", said)
    assert re.search(
        r": rewards of a were lowered by [\d,.]+ EUR in total\. On b alone it would take rewards raised by", said
    )
    assert (
        f"{100 * (found.share_of_winner or 0):.0f} % of the total reward of b. Alterations of 120,000.00 EUR in" in said
    )
    for threat, how in (("inject", "events of b with the largest"), ("suppress", "events of a with the largest")):
        said = " ".join(run(*words, "--threat", threat).out.split())
        assert f"{how} possible reward were {threat}" in said


def test_since_when_a_winner_is_certain(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = [f"2026-03-{day:02},A,1000,20\n2026-03-{day:02},B,1000,40\n" for day in range(1, 11)]
    path.write_text("day,arm,views,clicks\n" + "".join(rows), encoding="utf-8")
    found = vb.certify(path, time="day")
    since = next(each.time for each in found.over_time if each.budget is not None)
    assert "2026-03-01" < since < "2026-03-10"
    out = run("certify", str(path), "--time", "day").out
    assert f"\nB has been certified without a break since {since}.\n" in out
    assert ["2026-03-01", "not", "separated", "B"] in [line.split() for line in out.splitlines()]
    assert ["2026-03-10", f"{found.budget}", "B"] in [line.split() for line in out.splitlines()]


def test_the_page_says_how_to_repeat_it(run: Run, table: str, tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    words = ["certify", table, "--design=fixed", "--drop=a b", "--delta=0.01", "--threat=inject"]
    assert_mistake(run(*words, "--html", str(page)))  # there is no arm of this name
    words.remove("--drop=a b")
    run(*words, "--html", str(page))
    text = page.read_text(encoding="utf-8")
    sha256 = hashlib.sha256(Path(table).read_bytes()).hexdigest()
    assert f"{len(TABLE)} bytes" in text
    assert sha256 in text
    command = html.unescape(re.findall(r"<code>(vambrace certify [^<]+)</code>", text)[0])
    assert shlex.split(command)[1:] == [*words[:2], "--delta=0.01", "--threat=inject", "--design=fixed"]
    assert run(*shlex.split(command)[1:]).out == run(*words).out


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
        (TABLE + "old ,1,1\n").encode(),
        "column 'arm': expected one way to write each name, got 'old' and 'old '",
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
