import json
import re
from pathlib import Path

import pytest

import own_file
import vambrace as vb
from vambrace import registry
from vambrace.errors import InvalidParameter
from vambrace.lab import experiment as spec
from vambrace.lab.cells import expand
from vambrace.parameters import spec_of

SMALL = """
name = "small"
horizons = [1e3]
budgets = [0, 5, 7.5]
adversaries = ["conceal", "swap:margin=0.2"]
policies = ["ucb1", "se-wr:budget={budget}"]

[environments]
two = "bernoulli:means=0.9/0.5"
"""


def read(tmp_path: Path, text: str) -> spec.Experiment:
    path = tmp_path / "file.toml"
    path.write_text(text, encoding="utf-8")
    return spec.read(path)


def test_the_product_of_all_lists_with_one_clean_game_for_each_policy(tmp_path: Path) -> None:
    games = list(read(tmp_path, SMALL).games)
    assert {(game.panel, game.place, game.horizon) for game in games} == {("small", "two", 1000)}
    assert [(game.policy, game.adversary) for game in games] == [
        (vb.UCB1(), None),
        (vb.SEWR(budget=0), None),
        (vb.UCB1(), vb.Conceal(budget=5)),
        (vb.UCB1(), vb.Swap(budget=5, margin=0.2)),
        (vb.SEWR(budget=5), vb.Conceal(budget=5)),
        (vb.SEWR(budget=5), vb.Swap(budget=5, margin=0.2)),
        (vb.UCB1(), vb.Conceal(budget=7.5)),
        (vb.UCB1(), vb.Swap(budget=7.5, margin=0.2)),
        (vb.SEWR(budget=7.5), vb.Conceal(budget=7.5)),
        (vb.SEWR(budget=7.5), vb.Swap(budget=7.5, margin=0.2)),
    ]


def test_a_budget_of_an_attack_may_follow_that_of_the_game(tmp_path: Path) -> None:
    text = SMALL.replace('"conceal"', '"conceal:budget={2 * budget}", "none", "random-flips:rate=0.5,budget={budget}"')
    rivals = [game.adversary for game in read(tmp_path, text).games if game.policy == vb.SEWR(budget=7.5)]
    assert rivals == [
        vb.Conceal(budget=15),
        None,
        vb.RandomFlips(budget=7.5, rate=0.5),
        vb.Swap(budget=7.5, margin=0.2),
    ]


def test_a_panel_says_what_differs_from_the_top(tmp_path: Path) -> None:
    text = (
        SMALL
        + """
three = "bernoulli:means=0.9/0.5/{horizon}e-9"
[[panels]]
name = "as-above"
environments = ["two"]
[[panels]]
name = "other"
environments = ["three"]
policies = ["se"]
adversaries = ["invert"]
budgets = [9]
horizons = [30, 40]
"""
    )
    games = list(read(tmp_path, text).games)
    first, second = ([game for game in games if game.panel == panel] for panel in ("as-above", "other"))
    assert [game[2:] for game in first] == [game[2:] for game in read(tmp_path, SMALL).games]
    assert [game[1:] for game in second] == [
        (
            "three",
            vb.Bernoulli([0.9, 0.5, float(f"{horizon}e-9")]),
            vb.SE(),
            vb.Invert(budget=9),
            horizon,
            9,
            "se",
            "invert",
            None,
        )
        for horizon in (30, 40)
    ]


def test_budgets_can_be_powers_of_the_horizon_and_arms_follow_them(tmp_path: Path) -> None:
    text = """
name = "powers"
policies = ["se-wr:budget={budget}"]
adversaries = ["conceal", "none"]
horizons = [100, 10_000]
[environments]
near = "bernoulli:means={0.5 + 1 / sqrt(horizon)}/0.5"
bought = "bernoulli:means=0.9/{min(0.8, budget / horizon)}"
[[panels]]
name = "one"
budget_powers = [0, 0.5]
"""
    games = list(read(tmp_path, text).games)
    assert [(game.place, game.horizon, game.budget, game.power) for game in games[::2]] == [
        ("near", 100, 1.0, 0.0),
        ("near", 100, 10.0, 0.5),
        ("near", 10_000, 1.0, 0.0),
        ("near", 10_000, 100.0, 0.5),
        ("bought-at-1", 100, 1.0, 0.0),
        ("bought-at-10", 100, 10.0, 0.5),
        ("bought-at-1", 10_000, 1.0, 0.0),
        ("bought-at-100", 10_000, 100.0, 0.5),
    ]
    assert {game.line for game in games} == {"se-wr:budget=C"}
    assert games[2].environment == vb.Bernoulli([0.6, 0.5])
    assert games[-1].environment == vb.Bernoulli([0.9, 0.01])
    assert [game.adversary for game in games[-2:]] == [vb.Conceal(budget=100), None]


WITH_DATA = """
name = "mine"
policies = ["ucb1"]
horizons = [50]
[data]
tests = ""
[environments]
mine = "replay:file={tests},test=b,mode=bootstrap"
two = "bernoulli:means=0.9/0.5"
[[panels]]
name = "needs-it"
environments = ["mine"]
[[panels]]
name = "does-not"
environments = ["two"]
"""


def test_a_file_of_the_users_is_read_once_and_left_out_without_its_path(tmp_path: Path) -> None:
    table = tmp_path / "a=b, c.csv"
    table.write_text("test,arm,events,successes\na,x,9,1\nb,x,10,5\nb,y,20,4\n", encoding="utf-8")
    (tmp_path / "file.toml").write_text(WITH_DATA, encoding="utf-8")
    given = spec.read(tmp_path / "file.toml", {"tests": table})
    expected = vb.Replay(mode="bootstrap", events=(10, 20), successes=(5, 4), labels=("x", "y"))
    assert [game.environment for game in given.games] == [expected, vb.Bernoulli([0.9, 0.5])]
    assert given.data["tests"].startswith("sha256:")
    table.unlink()
    assert spec.parse(given.canonical()) == given  # all that is needed is in the experiment

    without = spec.read(tmp_path / "file.toml")
    assert [game.panel for game in without.games] == ["does-not"]
    assert (without.data, [*without.environments]) == ({"tests": "left out"}, ["two"])
    with pytest.raises(InvalidParameter, match=r"data: unknown file 'test'; did you mean 'tests'\?"):
        spec.read(tmp_path / "file.toml", {"test": table})
    with pytest.raises(InvalidParameter, match=r"environments\.mine: replay: .*: expected a file, got nothing there"):
        spec.read(tmp_path / "file.toml", {"tests": table})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WITH_DATA.partition('[[panels]]\nname = "does')[0], "data: expected a file for tests, since nothing is left"),
        (
            WITH_DATA.replace("tests", "horizon"),
            "data.horizon: expected a name that formulas do not have, got 'horizon'",
        ),
        (WITH_DATA.replace('tests = ""', "tests = 3"), "data.tests: expected a text, got 3"),
    ],
)
def test_an_experiment_without_its_files_is_not_another_one(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        read(tmp_path, text)


def test_a_game_has_its_policy_and_its_adversary_as_the_file_has_them(tmp_path: Path) -> None:
    games = read(tmp_path, SMALL.replace('"conceal"', '"conceal", "conceal:budget={2 * budget}"')).games
    assert {(game.line, game.attack) for game in games if game.line != "ucb1"} == {
        ("se-wr:budget=C", attack) for attack in ("no attack", "conceal", "conceal:budget=2*C", "swap:margin=0.2")
    }


def test_the_games_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    original = registry.policy

    def policy(text: str) -> vb.Policy:
        made.append(text)
        return original(text)

    monkeypatch.setattr(registry, "policy", policy)
    experiment = read(tmp_path, SMALL)
    assert len(made) == 6  # two policies at three budgets
    assert len(expand(experiment).cells) == len(experiment.games) == 10
    assert experiment == read(tmp_path, SMALL)
    assert "games" not in experiment.canonical()
    assert len(made) == 12


def test_a_mark_at_the_beginning_of_a_file_is_no_mistake(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeff" + SMALL) == read(tmp_path, SMALL)


PANEL = '\n[[panels]]\nname = "one"\n'
MISTAKES = {
    "empty panel": (SMALL.replace("[env", "[[panels]]\n[env"), "panels[0].name: expected a value, got none"),
    "panel without arms": (
        SMALL + PANEL + "environments = []",
        "panels[0].environments: expected at least one, got none",
    ),
    "policy twice": (
        SMALL.replace('["ucb1"', '["ucb1", "ucb1"'),
        "policies[1]: expected each once, got 'ucb1' again",
    ),
    "policy twice, with other spaces": (
        SMALL.replace('["ucb1"', '["se-wr:budget={2*budget}", "se-wr:budget={2 * budget}"'),
        "policies[1]: expected each once, got 'se-wr:budget={2 * budget}' again",
    ),
    "power twice": (
        SMALL + PANEL + "budget_powers = [0.5, 0.1, 0.5]",
        "panels[0].budget_powers[2]: expected each once, got 0.5 again",
    ),
    "checkpoint after the end": (
        "checkpoints = [1, 2000]\n" + SMALL,
        "checkpoints: expected rounds up to the least of horizons, 1,000, got 2,000",
    ),
    "checkpoint that is a text": (
        'checkpoints = [1, "2"]\n' + SMALL,
        "checkpoints[1]: expected a valid integer, got '2'",
    ),
    "empty policy": (SMALL.replace("ucb1", ""), "policies[0]: expected at least one character, got none"),
    "policy in capitals": (SMALL.replace("ucb1", "UCB1"), "policies[0]: unknown policy 'UCB1'; did you mean 'ucb1'?"),
    "number beyond all others": (
        SMALL.replace("{budget}", "{" + 4000 * "9" + "}"),
        "policies[1]: {" + 200 * "9" + "…}: expected a formula with a value, got int too large to convert to float",
    ),
    "brackets": (
        "x = " + 3000 * "[" + 3000 * "]" + SMALL,
        "expected an experiment, got a file with too many brackets",
    ),
    "not TOML": ("name = !", "expected a TOML file, got a mistake: Invalid value (at line 1, column 8)"),
    "unknown key": (SMALL.replace("budgets", "budgts"), "budgts: unknown key 'budgts'; did you mean 'budgets'?"),
    "key of a panel": (
        SMALL + PANEL + 'policys = ["se"]',
        "panels[0].policys: unknown key 'policys'; did you mean 'policies'?",
    ),
    "no name": (SMALL.replace('name = "small"', ""), "name: expected a value, got none"),
    "bad name": (
        SMALL.replace('"small"', '"Too Loud"'),
        "name: expected a name in kebab case such as ten-arms, got 'Too Loud'",
    ),
    "policy": (
        SMALL.replace("ucb1", "ubc1"),
        "policies[0]: unknown policy 'ubc1'; did you mean 'ucb1'?",
    ),
    "policy of a panel": (
        SMALL + PANEL + 'policies = ["se", "se-wrr:budget=3"]',
        "panels[0].policies[1]: unknown policy 'se-wrr'; did you mean 'se-wr'?",
    ),
    "adversary": (
        SMALL.replace('"conceal"', '"conseal"'),
        "adversaries[0]: unknown adversary 'conseal'; did you mean 'conceal'?",
    ),
    "parameter": (
        SMALL.replace("margin", "margn"),
        "adversaries[1]: unknown parameter of swap 'margn'; did you mean 'margin'?",
    ),
    "environment": (
        SMALL.replace("bernoulli", "bernouli"),
        "environments.two: unknown environment 'bernouli'; did you mean 'bernoulli'?",
    ),
    "environment of a panel": (
        SMALL + PANEL + 'environments = ["tow"]',
        "panels[0].environments[0]: unknown environment 'tow'; did you mean 'two'?",
    ),
    "placeholder": (
        SMALL.replace("{budget}", "{budgt}"),
        "policies[1]: unknown placeholder 'budgt'; did you mean 'budget'?",
    ),
    "wrong engine": (
        SMALL.replace("horizons", 'engine = "fast"\nhorizons'),
        "engine: expected 'auto', 'rounds' or 'leap', got 'fast'",
    ),
    "budgets as texts": (
        SMALL.replace("7.5", '"7.5"'),
        "budgets[2]: expected a valid number, got '7.5'",
    ),
    "horizon 0": (
        SMALL.replace("1e3", "0"),
        "horizons[0]: expected greater than or equal to 1, got 0",
    ),
    "formula": (
        SMALL.replace("{budget}", "{budget +}"),
        "policies[1]: {budget +}: expected a formula of numbers, names, + - * / **, and sqrt, ln, min, max, "
        "got something else",
    ),
    "budgets twice": (
        SMALL + PANEL + "budgets = [1]\nbudget_powers = [0.5]",
        "panels[0].budget_powers: expected these or budgets, got both",
    ),
    "axis": (
        SMALL + PANEL + 'axis = "rounds"',
        "panels[0].axis: expected 'round', 'budget' or 'horizon', got 'rounds'",
    ),
    "negative budget": (
        SMALL.replace("7.5", "-7.5"),
        "budgets[2]: expected greater than or equal to 0, got -7.5",
    ),
    "text for a number": (SMALL.replace("1e3", '"1e3"'), "horizons[0]: expected a valid integer, got '1e3'"),
    "fraction": (SMALL.replace("1e3", "0.5"), "horizons[0]: expected a valid integer, got 0.5"),
    "true for a number": (SMALL.replace("1e3", "true"), "horizons[0]: expected a valid integer, got True"),
    "checkpoints": (
        SMALL.replace("horizons", 'checkpoints = "all"\nhorizons'),
        "checkpoints: expected a valid integer, got 'all'",
    ),
    "no policies": (SMALL + PANEL + "policies = []", "panels[0].policies: expected at least one, got none"),
    "no horizons": (SMALL.replace("horizons = [1e3]", ""), "horizons: expected at least one, got none"),
    "no adversaries": (
        SMALL + PANEL + "adversaries = []",
        "panels[0].adversaries: expected one to spend the budgets, or budgets = [0], got none",
    ),
    "budget of an attack": (
        SMALL.replace("swap:margin=0.2", "swap:margin=0.2,budget=3"),
        "adversaries[1]: the budget is given twice, by the list of budgets and by 'swap:margin=0.2,budget=3'; "
        "drop 'budget=3' here and list it there",
    ),
    "budget of a panel's attack": (
        SMALL + PANEL + 'adversaries = ["conceal:budget={sqrt(horizon)}"]',
        "panels[0].adversaries[0]: the budget is given twice, by the list of budgets and by "
        "'conceal:budget={sqrt(horizon)}'; drop 'budget={sqrt(horizon)}' here and list it there",
    ),
    "panel twice": (SMALL + PANEL + PANEL, "panels[1].name: expected a name of its own, got 'one' again"),
}


@pytest.mark.parametrize(("text", "message"), [pytest.param(*MISTAKES[name], id=name) for name in MISTAKES])
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'file.toml'}: {message}"


UNPLAYABLE = {
    "a rush on UCB1": (
        SMALL.replace("conceal", "elimination-rush:stop_when_dropped=true"),
        "small: ucb1 on two against elimination-rush:stop_when_dropped=true cannot be played: attack elimination-rush: "
        "expected a policy whose state has 'arms', got ucb1",
    ),
    "a leap with UCB1": (
        f'engine = "leap"\n{SMALL}',
        "small: ucb1 on two cannot be played: engine leap: expected a policy with quiet stretches, got ucb1",
    ),
    "arms that come and go in PE-WR": (
        f'arms_open = "1:5-"\n{SMALL.replace("ucb1", "pe-wr")}',
        "small: pe-wr on two cannot be played: ",
    ),
    "an arm that is not there": (
        f'arms_open = "2:5-"\n{SMALL}',
        "small: ucb1 on two cannot be played: arms_open: arm: expected",
    ),
    "a window": (f'arms_open = "2"\n{SMALL}', "arms_open: expected ARM:FIRST-END such as 2:1-5000 or 2:8000-, got '2'"),
    "a delay": (f'delay = "3"\n{SMALL}', "delay: unknown delay '3'; known: batch, fixed, geometric"),
    "a share": (f"lost = 1.5\n{SMALL}", "lost: expected less than or equal to 1, got 1.5"),
    "no such file": (SMALL.replace('"ucb1"', '"mine.py:Mine"'), "mine.py: expected a file of Python code, got No such"),
    "a budget twice": (
        SMALL.replace('"conceal"', '"mine.py:Slander:budget=3"'),
        "adversaries[0]: the budget is given twice, by the list of budgets and by 'mine.py:Slander:budget=3'; drop",
    ),
}


@pytest.mark.parametrize(("text", "message"), UNPLAYABLE.values(), ids=UNPLAYABLE)
def test_what_cannot_be_played_is_refused_when_the_file_is_read(tmp_path: Path, text: str, message: str) -> None:
    if "Slander" in text:
        (tmp_path / "mine.py").write_text(own_file.TEXT, encoding="utf-8")
    with pytest.raises(InvalidParameter) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'file.toml'}: {message}")


def test_files_of_the_user_are_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(own_file.TEXT, encoding="utf-8")
    text = SMALL.replace('"ucb1"', '"mine.py:Greedy:budget={2 * budget}"').replace('"conceal"', '"mine.py:Slander"')
    experiment = read(tmp_path, text)
    assert [*experiment.sources] == ["mine.py"]
    game = experiment.games[2]
    assert (spec_of(game.policy), spec_of(game.adversary)) == (
        "mine.py:my-greedy:budget=10",
        "mine.py:slander:budget=5",
    )
    assert (game.line, game.attack) == ("mine.py:Greedy:budget=2*C", "mine.py:Slander")
    assert "sources" not in json.loads(schema())["properties"]


def schema() -> str:
    """The JSON schema of an experiment, with which editors complete and check TOML files."""
    found = spec.Experiment.model_json_schema()
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema"} | found, indent=2) + "\n"


def test_the_shipped_schema_is_the_one_of_the_models() -> None:
    """After a change: `python tests/lab/test_experiment.py` writes it."""
    assert spec.SCHEMA.read_text(encoding="utf-8") == schema()


if __name__ == "__main__":
    spec.SCHEMA.write_text(schema(), encoding="utf-8")
