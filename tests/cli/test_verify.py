import json

import pytest

from command_line import Run, widest
from vambrace.theory import verification
from vambrace.theory.checks import Check

HOLDS = Check(
    promise="SE-WR paper keeps the best arm",
    instance="K = 10, T = 1,000,000, C = 1000",
    attack="elimination-rush:budget=1000",
    replications=400,
    spent=0.57,
    largest_ratio=None,
    failures=3,
    allowed=0.05,
    at_least=0.0004,
)
BROKEN = Check(**vars(HOLDS) | {"promise": "a bound", "spent": None, "largest_ratio": 1.25, "at_least": 0.0812})


def test_each_promise_has_its_worst_check_in_eighty_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    milder = Check(**vars(BROKEN) | {"at_least": 0.01, "instance": "a milder game"})
    monkeypatch.setattr(verification, "verify", lambda **_: [HOLDS, milder, BROKEN])
    done = run("verify")
    assert done.code == 1
    assert widest(done.out) <= 80
    assert "    attack    elimination-rush:budget=1000, which spent 57% of its budget\n" in done.out
    assert "    failures  3 of 400; at least 0.0812, allowed 0.05\n    ratio     1.250\n" in done.out
    assert "    verdict   holds\n" in done.out
    assert "    verdict   VIOLATED\n" in done.out
    assert done.out.endswith("\n2 of 3 checks hold.\n")
    assert "a milder game" not in done.out
    assert "a milder game" in run("verify", "--all").out


def test_checks_that_all_hold_end_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "verify", lambda **_: [HOLDS])
    assert run("verify").code == 0
    assert [row["holds"] for row in json.loads(run("verify", "--json").out)] == [True]
