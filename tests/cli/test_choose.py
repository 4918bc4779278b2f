import json
from pathlib import Path

from command_line import Run, assert_mistake, widest, without_progress

FEW = ["--policy", "thompson", "--policy", "kl-ucb-wr:budget=10", "--attack", "conceal", "--fakes", "0,10"]
FEW += ["--horizon", "200", "--replications", "2"]


def test_choose_prints_the_answer_first_in_eighty_columns(run: Run) -> None:
    done = run("choose", "--arms", "3", "--rate", "0.8", "--gap", "0.4", *FEW)
    assert (done.code, without_progress(done.err)) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "3 arms with means 0.8, 0.4, 0.4; 200 rounds"
    assert lines[2].startswith("If you do not know how many events are fake, use ")
    assert widest(done.out) <= 80
    assert "\nThe worst regret that was found\n" in done.out
    assert "\nWhat armour costs when nobody attacks\n" in done.out


def test_choose_reads_a_log_and_writes_json_and_a_page(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("arm,events,successes\nold,100,20\nnew,100,50\n", encoding="utf-8")
    page = tmp_path / "choice.html"
    done = run("choose", "--log", str(tmp_path / "test.csv"), *FEW, "--json", "--html", str(page))
    assert (done.code, without_progress(done.err)) == (0, "")
    found = json.loads(done.out)
    assert (found["means"], found["horizon"]) == ([0.2, 0.5], 200)
    assert found["unknown"] in page.read_text(encoding="utf-8")
    assert "test.csv" in page.read_text(encoding="utf-8")


def test_mistakes_are_one_line(run: Run, tmp_path: Path) -> None:
    for words, message in (
        ([], "expected either means, or arms with rate and gap, or a log, got none of these"),
        (["--means", "0.5,0.4", "--log", "x.csv"], "got means, log"),
        (["--means", "0.5,0.4", "--fakes", "-3"], "fakes: expected a number in"),
        (["--arms", "2.5", "--rate", "0.1", "--gap", "0.1"], "arms: expected a whole number"),
        (["--means", "0.5,0.4", "--attack", "none"], "attack: expected the name of an attack"),
        (["--means", "0.5,0.4", "--html", str(tmp_path)], "file: expected a name ending in .html"),
        (["--log", str(tmp_path / "none.csv")], "none.csv"),
    ):
        done = run("choose", *words)
        assert_mistake(done)
        assert message in done.err
