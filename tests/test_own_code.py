"""Files of the user: what a spec finds in them, and what never runs them."""

import sys
from pathlib import Path
from typing import Any

import pytest

import own_file
import vambrace as vb
from vambrace import own_code, registry
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.parameters import spec_of


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(own_file.TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("ucb1", ("", "ucb1", "")),
        ("se-wr:budget=3", ("", "se-wr", "budget=3")),
        ("mine.py:MyPolicy", ("mine.py", "MyPolicy", "")),
        ("../a b/mine.py:my-policy:budget=3,radius=tight", ("../a b/mine.py", "my-policy", "budget=3,radius=tight")),
        (r"C:\code\mine.py:MyPolicy:budget=3", (r"C:\code\mine.py", "MyPolicy", "budget=3")),
        ("mine.py", ("mine.py", "", "")),
        ("replay:file=a.py", ("", "replay", "file=a.py")),
        ("replay:file=a.py:b", ("", "replay", "file=a.py:b")),
    ],
)
def test_the_parts_of_a_spec(spec: str, parts: tuple[str, str, str]) -> None:
    assert own_code.split(spec) == parts


def test_by_the_name_of_the_class_or_its_own(mine: Path) -> None:
    policy = own_code.policy("mine.py:Greedy:budget=3")
    assert policy == own_code.policy("mine.py:my-greedy:budget=3")
    assert spec_of(policy) == "mine.py:my-greedy:budget=3"
    assert own_code.policy(spec_of(policy)) == policy
    attack = own_code.adversary("mine.py:Slander:budget=5")
    arms = own_code.environment("mine.py:up-to:tops=1/0.5")
    result = vb.simulate(policy, arms, attack, horizon=200, interpret=True, seed=1)
    assert str(result).startswith("mine.py:my-greedy:budget=3 against mine.py:slander:budget=5: regret")
    assert own_code.adversary("none") is None
    assert own_code.policy("se-wr:budget=3") == registry.policy("se-wr:budget=3")


def test_a_class_without_a_name_of_its_own_is_not_taken_for_its_base(mine: Path) -> None:
    mine.write_text("import vambrace as vb\nclass Same(vb.UCB1):\n    pass\n", encoding="utf-8")
    assert spec_of(own_code.policy("mine.py:Same")) == "mine.py:Same"
    assert vb.UCB1.name == "ucb1"
    with pytest.raises(UnknownName, match=r"unknown policy in mine\.py 'UCB1'; known: Same$"):
        own_code.policy("mine.py:UCB1")  # only what the file itself defines


def test_a_changed_file_is_another_one_and_an_unchanged_one_runs_once(mine: Path) -> None:
    before = own_code.policy("mine.py:Greedy")
    assert type(own_code.policy("mine.py:Greedy")) is type(before)
    mine.write_text(own_file.TEXT.replace("FIRST = 3", "FIRST = 4"), encoding="utf-8")
    after = own_code.policy("mine.py:Greedy")
    assert type(after) is not type(before)
    assert [sys.modules[type(each).__module__].FIRST for each in (before, after)] == [3, 4]  # both can be played
    old = own_code.policy("mine.py:Greedy", {"mine.py": own_code.fingerprint(own_file.TEXT)})
    assert old == before  # the version that was asked for


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nraise ValueError('no')\n", r"^mine\.py, line 2: ValueError: no$"),
        ("def f(:\n", r"^mine\.py: SyntaxError: "),
        ("import nowhere\n", r"^mine\.py, line 1: ModuleNotFoundError: No module named 'nowhere'$"),
        ("raise SystemExit('bye')\n", r"^mine\.py, line 1: SystemExit: bye$"),
        ("x = 1\n", r"^unknown policy in mine\.py 'Greedy'; known: none$"),
    ],
)
def test_mistakes_are_one_line_with_the_place(mine: Path, text: str, message: str) -> None:
    mine.write_text(text, encoding="utf-8")
    for _ in range(2):  # a file that failed is not half there afterwards
        with pytest.raises(vb.VambraceError, match=message):
            own_code.policy("mine.py:Greedy")


def test_a_wrong_name_parameter_or_path_is_said(mine: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown policy in mine\.py 'my-gredy'; did you mean 'my-greedy'"):
        own_code.policy("mine.py:my-gredy")
    with pytest.raises(UnknownName, match=r"unknown parameter of mine\.py:Greedy 'buget'; did you mean 'budget'"):
        own_code.policy("mine.py:Greedy:buget=3")
    with pytest.raises(InvalidParameter, match=r"^other\.py: expected a file of Python code, got No such file"):
        own_code.policy("other.py:Greedy")
    with pytest.raises(UnknownName, match=r"unknown adversary in mine\.py 'Greedy'"):
        own_code.adversary("mine.py:Greedy:budget=1")


INCOMPLETE = """
import vambrace as vb
class Forgetful(vb.Policy):
    pass
class Undecided(Forgetful):
    def init(self, game): ...
class Deaf(Undecided):
    select = staticmethod(vb.UCB1.select)
class Aimless(vb.Adversary):
    budget = 1.0
class Idle(Aimless):
    strength = "strong"
    def init(self, game): ...
class Silent(Aimless):
    strength = "medium"
class Fake(Idle):
    strength = "injecting"
class Nowhere(vb.Environment):
    pass
class Empty(Nowhere):
    def arm_means(self): ...
    def init(self): ...
"""


def test_a_class_that_leaves_something_out_is_refused(mine: Path) -> None:
    mine.write_text(INCOMPLETE, encoding="utf-8")
    missing = {"policy": {"Forgetful": "init", "Undecided": "select", "Deaf": "update"}}
    missing["adversary"] = {"Aimless": "strength", "Idle": "alter", "Silent": "init", "Fake": "inject"}
    missing["environment"] = {"Nowhere": "arm_means", "Empty": "draw"}
    for kind, name, part in ((kind, *each) for kind, parts in missing.items() for each in parts.items()):
        game: dict[str, Any] = {"policy": vb.UCB1(), "environment": vb.Bernoulli([0.9, 0.5]), "adversary": None}
        game[kind] = getattr(own_code, kind)(f"mine.py:{name}")
        role = "attack" if kind == "adversary" else kind
        message = rf"^{role} mine\.py:{name}: expected a class that defines {part}, got {name}$"
        with pytest.raises(InvalidParameter, match=message):
            vb.simulate(*game.values(), horizon=10)
    with pytest.raises(UnknownName, match=r"^unknown policy in mine\.py ''; known: Deaf, Forgetful, Undecided$"):
        own_code.policy("mine.py")


def test_no_other_way_runs_a_file(mine: Path) -> None:
    """Snapshots and folders of results have specs too, and may come from strangers."""
    mine.write_text("raise RuntimeError('ran')\n", encoding="utf-8")
    with pytest.raises(UnknownName, match=r"unknown policy 'mine\.py'"):
        registry.policy("mine.py:Greedy")
    with pytest.raises(InvalidParameter, match=r"expected a file that this program was asked to run"):
        own_code.policy("mine.py:Greedy", {"mine.py": "0" * 64})
    snapshot = vb.UCB1().learner(arms=["a", "b"], horizon=10).snapshot()
    with pytest.raises(vb.VambraceError, match=r"unknown policy 'mine\.py'"):
        vb.Learner.restore(snapshot | {"policy": "mine.py:Greedy"})
