import functools
import json
from pathlib import Path

import pytest

import vambrace as vb
from command_line import Run, assert_mistake


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

    paper = run("report", str(out / "one"), "--style", "paper")
    assert (paper.code, paper.err) == (0, "")
    assert {path.suffix for path in (out / "one" / "figures").iterdir()} == {".svg", ".png", ".pdf", ".csv"}
    assert {path.suffix for path in (out / "one" / "tables").iterdir()} == {".tex", ".md", ".csv"}
    assert "played 2 times" in (out / "one" / "methods.md").read_text(encoding="utf-8")
    drawn = (out / "one" / "figures" / "one-one.svg").read_text(encoding="utf-8")
    assert "Mean of 2 games" not in drawn  # a paper has captions of its own
    assert_mistake(run("report", str(out), "--style", "papers"))
    assert_mistake(run("reproduce", "--out", str(out), "--data", "yours=x"))
    assert_mistake(run("reproduce", "--out", str(out), "--data", "mine"))
    assert_mistake(run("report", str(tmp_path / "nowhere")))
    (tmp_path / "taken").write_text("mine")
    assert_mistake(run("reproduce", "--out", str(tmp_path / "taken"), "--workers", "1"))
