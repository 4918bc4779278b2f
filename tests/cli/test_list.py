import json

import pytest

from command_line import Run, widest
from vambrace import registry

PLURALS = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}


@pytest.mark.parametrize("only", [None, *PLURALS])
def test_list_shows_every_registered_name(run: Run, only: str | None) -> None:
    words = ["list", only] if only else ["list"]
    shown, in_json = run(*words), run(*words, "--json")
    assert (shown.code, in_json.code) == (0, 0)
    names = {plural: list(registry.known(kind)) for plural, kind in PLURALS.items() if only in (None, plural)}
    assert {plural: [each["name"] for each in found] for plural, found in json.loads(in_json.out).items()} == names
    assert widest(shown.out) <= 80
    rows = {*shown.out.splitlines()}
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


def test_a_name_shows_what_each_parameter_takes_and_means(run: Run) -> None:
    shown, found = run("list", "se-wr").out, json.loads(run("list", "se-wr", "--json").out)
    assert [each["name"] for each in found["se-wr"]] == ["se-wr"]
    budget, delta, radius = found["parameters"]
    assert (budget["range"], budget["default"]) == ("[0, 1e+18]", "must be given")
    assert (delta["type"], delta["range"], delta["default"]) == ("number or none", "(0, 1)", "none")
    assert radius["type"] == "one of paper, tight, kl"
    assert all(each["meaning"] in " ".join(shown.split()) for each in found["parameters"])
    assert widest(shown) <= 80


def test_a_name_without_parameters_and_one_that_is_not_known(run: Run) -> None:
    assert json.loads(run("list", "moss", "--json").out)["parameters"] == []
    assert run("list", "moss").code == 0
    wrong = run("list", "sewr")
    assert wrong.code == 2
    assert "unknown name 'sewr'; did you mean 'se-wr'?" in wrong.err


def test_nothing_that_is_listed_is_cut(run: Run) -> None:
    shown, in_json = run("list"), json.loads(run("list", "--json").out)
    words = " ".join(shown.out.split())
    for group in in_json.values():
        for entry in group:
            for value in entry.values():
                assert value in words


def test_list_shows_the_suites(run: Run) -> None:
    found = json.loads(run("list", "suites", "--json").out)["suites"]
    assert {"poster", "exponents"} <= {each["name"] for each in found}
    (poster,) = (each for each in found if each["name"] == "poster")
    assert int(poster["cells"]) > 0
    assert poster["title"] in run("list", "suites").out
