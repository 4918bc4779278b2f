"""The bandit to attack, from a spec or a file."""

from pathlib import Path

import pytest

import vambrace as vb
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.redteam.bandits import bandit
from vambrace.registry import spec_of

FILE = """
from dataclasses import dataclass
import vambrace as vb

class Plain:
    def __init__(self, n_arms, horizon, seed):
        self.n_arms = n_arms
    def ask(self):
        return self.n_arms - 1
    def tell(self, arm, reward):
        pass

@dataclass(frozen=True, kw_only=True)
class Careful(vb.UCB1):
    pass

tuned = vb.SEWR(budget=30)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(FILE, encoding="utf-8")
    return tmp_path


def test_a_spec() -> None:
    assert bandit("se-wr:budget=50") == vb.SEWR(budget=50)


def test_a_class_with_ask_and_tell_is_played(folder: Path) -> None:
    plain = bandit("shop.py:Plain", folder)
    assert (type(plain), plain.name) == (vb.Foreign, "Plain")
    assert vb.simulate(plain, vb.Bernoulli([0.9, 0.2]), horizon=50, seed=1).pulls.tolist() == [[0, 50]]


def test_a_policy_of_a_file_takes_its_parameters(folder: Path) -> None:
    careful = bandit("shop.py:Careful:alpha=0.5", folder)
    assert isinstance(careful, vb.UCB1)
    assert spec_of(careful) == "shop.py:Careful:alpha=0.5"
    assert bandit("shop.py:tuned", folder) == vb.SEWR(budget=30)


def test_mistakes(folder: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown bandit in shop.py 'Plan'; did you mean 'Plain'?"):
        bandit("shop.py:Plan", folder)
    with pytest.raises(InvalidParameter, match=r"bandit: expected a Python file, got 'none.py:Plain'"):
        bandit("none.py:Plain", folder)
    with pytest.raises(UnknownName, match="unknown policy 'ucb3'"):
        bandit("ucb3", folder)
    with pytest.raises(InvalidParameter, match=r"shop.py:Plain: expected no parameters"):
        bandit("shop.py:Plain:alpha=1", folder)
    (folder / "shop.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"shop.py, line 1: ZeroDivisionError"):
        bandit("shop.py:Plain", folder)
