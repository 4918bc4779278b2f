"""The command line in tests: how it is run, and what a mistake looks like."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

SIMULATE = ["simulate", "ucb1", "se-wr:budget=2", "--means", "0.9,0.5", "--attack", "conceal:budget=3"]
SMALL = ["--horizon", "3e1", "--replications", "3", "--seed", "5", "--checkpoints", "4"]
PLAN = "plan --arms 4 --rate 0.015 --gap 0.002 --budget 100 --horizon 1e6"

MINE = """
class Mine:
    def __init__(self, n_arms, horizon, seed):
        self.paid, self.pulls = [1.0] * n_arms, [1] * n_arms
    def ask(self):
        means = [paid / pulls for paid, pulls in zip(self.paid, self.pulls)]
        return means.index(max(means))
    def tell(self, arm, reward):
        self.paid[arm] += reward
        self.pulls[arm] += 1
"""


class Finished(NamedTuple):
    code: Any
    out: str
    err: str


Run = Callable[..., Finished]


def fresh(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def assert_mistake(done: Finished) -> None:
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("vambrace: error: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")


def widest(text: str) -> int:
    """The number of columns that a text takes."""
    return max(map(len, text.splitlines()))


def without_progress(text: str) -> str:
    """A text without the lines that slow machines print to say that they still work."""
    return re.sub(r"^(compiling .*|.*: [\d,]+ of [\d,]+\b.* \(\d+ %\))\n", "", text, flags=re.MULTILINE)
