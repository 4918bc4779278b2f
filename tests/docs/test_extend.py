"""Everything that takes one of ours takes the skeletons of docs/extend. That they conform they test themselves.

`test_pages` runs the programs as a reader would, checks of conformance included.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb

PAGES = Path(__file__).parents[2] / "docs/extend"


def skeleton(page: str) -> dict[str, Any]:
    """What the first program of a page defines."""
    found = re.search(r"^```python\n(.*?)^```$", (PAGES / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    namespace: dict[str, Any] = {"__name__": "skeleton"}
    exec(compile(found[1], str(PAGES / page), "exec"), namespace)
    return namespace


@pytest.fixture(scope="module")
def explore() -> Any:
    return skeleton("policy.md")["ExploreThenCommit"]


@pytest.fixture(scope="module")
def silence() -> Any:
    return skeleton("attack.md")["Silence"]


@pytest.fixture(scope="module")
def prizes() -> Any:
    return skeleton("environment.md")["Prizes"]


@pytest.mark.parametrize("kind", ["policy", "adversary", "environment"])
def test_a_skeleton_checks_that_it_conforms(kind: str) -> None:
    page = {"adversary": "attack"}.get(kind, kind)
    program = (PAGES / f"{page}.md").read_text(encoding="utf-8").partition('if __name__ == "__main__":\n')[2]
    assert f"    check_{kind}(" in program.partition("```\n\n```text\n")[0]


def test_the_skeletons_play_each_other(explore: Any, silence: Any, prizes: Any) -> None:
    arms = prizes(chances=(1.0, 1.0, 0.5), prizes=(0.75, 0.5, 0.25))
    game: dict[str, Any] = {"horizon": 1_000, "replications": 2, "seed": 7, "interpret": True}
    alone = vb.simulate(explore(pulls=10), arms, **game)
    assert alone.pulls.tolist() == [[980, 10, 10]] * 2
    attacked = vb.simulate(explore(pulls=10), arms, silence(budget=20), **game)
    assert attacked.pulls.tolist() == [[10, 10, 980]] * 2
    assert attacked.cost[:, -1].tolist() == [12.5] * 2  # ten times 0.75 and ten times 0.5


def test_the_skeleton_policy_goes_live(explore: Any) -> None:
    learner = explore(pulls=2).learner(n_arms=2, horizon=10)
    for _ in range(4):
        decision = learner.ask()
        learner.tell(decision, reward=float(decision.arm))
    assert learner.ask().arm == 1
    assert vb.Learner.restore(learner.snapshot(), policy=explore(pulls=2)).ask().arm == 1
