import json
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from command_line import MINE, Run, assert_mistake

ATTACK = ["attack", "ucb1", "--budgets", "0,3,6", "--attack", "conceal", "--attack", "random-flips:rate=0.5"]
FEW = ["--horizon", "40", "--replications", "2", "--seed", "5"]


def test_attack_prints_every_attack_and_the_worst(run: Run) -> None:
    done = run(*ATTACK, *FEW, "--means", "0.9,0.2")
    assert (done.code, done.err) == (0, "")
    for title in ("every attack", "worst of each budget"):
        assert f"ucb1, 40 rounds, 2 replications: {title}" in done.out
    assert "± is the standard error" in done.out
    attacks = [vb.Conceal(), vb.RandomFlips(rate=0.5)]
    options: dict[str, Any] = {"budgets": [0, 3, 6], "attacks": attacks, "horizon": 40, "replications": 2, "seed": 5}
    report = vb.attack_suite(vb.UCB1(), vb.Bernoulli([0.9, 0.2]), **options)
    rows = [line.split() for line in done.out.splitlines()]
    for row in (*report.rows, *report.worst.values()):
        attack = ["no", "attack"] if row.budget == 0 else [row.attack]
        start = [f"{row.budget:g}", *attack, f"{row.regret:,.1f}", "±"]
        assert any(line[: len(start)] == start for line in rows), start


def test_attack_prints_json_and_has_default_arms(run: Run) -> None:
    done = run(*ATTACK, *FEW, "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["environment"] == "bernoulli:means=0.9/0.8/0.7/0.6/0.5"
    assert [row["budget"] for row in found["worst"]] == [0, 3, 6]


def test_one_replication_has_no_spread(run: Run) -> None:
    done = run(*ATTACK, "--horizon", "40", "--replications", "1")
    assert (done.code, done.err) == (0, "")
    assert "40 rounds, 1 replication: every attack" in done.out
    assert "±" not in done.out


def test_a_budget_inside_an_attack_is_refused(run: Run) -> None:
    """--budgets replaces it, so one of the two would be ignored."""
    done = run("attack", "ucb1", "--budgets", "10,20", "--attack", "swap:margin=0.2,budget=5")
    assert_mistake(done)
    assert "--budgets 10,20 both set the budget; drop budget=5 from --attack" in done.err
    assert run("attack", "ucb1", "--budgets", "10", "--attack", "swap:margin=0.2", *FEW).code == 0


@pytest.mark.slow  # several seconds
def test_answers_may_be_late(run: Run) -> None:
    words = ["attack", "ucb1", "--budgets", "8", "--means", "0.9,0.2", "--horizon", "200", "--effort", "quick"]
    done = run(*words, "--delay", "batch:50", "--lost", "0.1")
    assert done.code == 0
    assert "ucb1 (delay batch:50, 0.1 of answers lost) loses" in " ".join(done.out.split())


def test_late_answers_need_a_search_and_a_known_delay(run: Run) -> None:
    assert_mistake(refused := run("attack", "ucb1", "--budgets", "8", "--suite", "--lost", "0.1"))
    assert "lost: expected a search, got --suite or --attack" in refused.err
    for command in ("attack", "break"):
        more = ["--budgets", "8"] if command == "attack" else []
        assert_mistake(run(command, "ucb1", *more, "--delay", "soon:3"))


def test_without_fixed_attacks_it_searches_and_answers_first(run: Run, tmp_path: Path) -> None:
    words = ["attack", "ucb1", "--budgets", "0,8", "--means", "0.9,0.2", "--horizon", "200", "--effort", "quick"]
    done = run(*words, "--html", str(tmp_path / "page.html"))
    assert done.code == 0
    report = vb.red_team(vb.UCB1(), vb.Bernoulli([0.9, 0.2]), budgets=8, horizon=200, effort="quick")
    text = " ".join(done.out.split())
    assert text.startswith(report.answer(report.worst[8]))
    assert "warning" not in done.out
    assert "The attack: " in text
    assert "To replay it: --attack " in text
    assert "<h1>With 8 fake events" in (tmp_path / "page.html").read_text()
    assert json.loads(run(*words, "--json").out) == report.summary()


def test_a_page_needs_a_search(run: Run, tmp_path: Path) -> None:
    assert_mistake(run(*ATTACK, *FEW, "--html", str(tmp_path / "page.html")))
    assert run("attack", "ucb1", "--budgets", "3", "--suite", *FEW).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--suite", "--goal", "best 10%"], "goal: expected a search, got --suite or --attack"),
        (["--attack", "swap", "--effort", "quick"], "effort: expected a search"),
        (["--suite", "--threat", "inject"], "threat: expected a search"),
        (["--unbounded"], "unbounded: expected --suite or --attack, got a search"),
        (["--replications", "5"], "replications: expected --suite or --attack"),
    ],
)
def test_options_that_would_be_ignored_are_refused(run: Run, words: list[str], message: str) -> None:
    assert_mistake(refused := run("attack", "ucb1", "--budgets", "8", *words))
    assert message in refused.err


def test_a_class_with_ask_and_tell(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE, encoding="utf-8")
    done = run("attack", "mine.py:Mine", "--budgets", "8", "--means", "0.9,0.2", "--suite", *FEW)
    assert done.code == 0
    assert done.out.startswith("mine.py:Mine, ")


def test_fake_visitors(run: Run) -> None:
    words = ["attack", "ucb1", "--budgets", "8", "--means", "0.9,0.2", "--horizon", "200", "--effort", "quick"]
    done = run(*words, "--threat", "inject")
    assert done.code == 0
    assert done.out.startswith("With 8 fake visitors ucb1 loses ")
    assert "The attack: fake visitors answer " in " ".join(done.out.split())
    assert_mistake(run(*words, "--threat", "bribe"))
