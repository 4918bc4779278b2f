import json

import vambrace as vb
from command_line import PLAN, Finished, Run, widest


def test_plan_prints_a_table_or_json(run: Run) -> None:
    expected = vb.plan(arms=4, rate=0.015, gap=0.002, budget=100, horizon=10**6)
    assert run(*PLAN.split()) == Finished(0, f"{expected}\n", "")
    assert json.loads(run(*PLAN.split(), "--json").out) == expected.to_dict()


def test_a_plan_fits_in_eighty_columns(run: Run) -> None:
    assert widest(run(*PLAN.split()).out) <= 80
    large = ["--arms", "99999", "--rate", "1", "--gap", "9e-4", "--budget", "1e9", "--horizon", "1e15"]
    assert widest(run("plan", *large).out) <= 80
