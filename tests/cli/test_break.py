import json
from pathlib import Path

import pytest

import vambrace as vb
from command_line import Run, assert_mistake

BREAK = ["break", "ucb1", "--means", "0.9,0.2", "--effort", "quick"]


@pytest.mark.slow  # 7 s
def test_break_prints_the_answer_first(run: Run, tmp_path: Path) -> None:
    done = run(*BREAK, "--horizon", "100", "--html", str(tmp_path / "page.html"))
    assert done.code == 0
    found = vb.breakdown(vb.UCB1(), vb.Bernoulli([0.9, 0.2]), horizon=100, effort="quick")
    words = " ".join(done.out.split())
    assert words.startswith(str(found))
    assert f"To replay it: {found.summary()['attack']}" in words
    for text in ("without attack", "plays at random", "always plays the worst arm", "score"):
        assert text in done.out
    assert "<h1>" in (tmp_path / "page.html").read_text()


@pytest.mark.slow  # six seconds
def test_several_horizons_show_how_it_grows(run: Run) -> None:
    done = run(*BREAK, "--horizon", "50,150")
    assert done.code == 0
    assert "With the number of rounds T it grows about as" in done.out
    found = json.loads(run(*BREAK, "--horizon", "50", "--json").out)
    assert found["horizon"] == 50


def test_mistakes(run: Run) -> None:
    for wrong in (["--goal", "win"], ["--effort", "much"], ["--horizon", "x"], ["--html", "page.txt"]):
        assert_mistake(run(*BREAK, *wrong))
