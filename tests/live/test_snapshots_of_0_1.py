"""Snapshots that version 0.1.0 wrote are restored, and go on as 0.1.0 itself did.

Each file of tests/assets/0.1.0/snapshots holds a snapshot that was taken with five open decisions, the moves that came
after it ("ask", or [decision, reward]) and the arms that 0.1.0 answered with.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace import registry
from vambrace.errors import SnapshotError

FOLDER = Path(__file__).parents[1] / "assets" / "0.1.0" / "snapshots"
FILES = sorted(FOLDER.glob("*.json"))


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def arms_after(learner: vb.Learner, moves: list[Any]) -> list[int]:
    arms = []
    for move in moves:
        if move == "ask":
            arms.append(learner.ask().arm)
        else:
            learner.tell(move[0], move[1])
    return arms


def test_every_policy_of_0_1_has_a_snapshot() -> None:
    assert len(FILES) == 23
    assert {path.stem for path in FILES} <= set(registry.known("policy"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_snapshot_of_0_1_goes_on_as_it_did_there(path: Path) -> None:
    content = read(path)
    assert len(content["snapshot"]["open"]) == 5
    learner = vb.Learner.restore(content["snapshot"])
    assert arms_after(learner, content["moves"]) == content["arms"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_migrated_learner_is_saved_and_restored_again(path: Path) -> None:
    content = read(path)
    again = vb.Learner.restore(json.loads(json.dumps(vb.Learner.restore(content["snapshot"]).snapshot())))
    assert arms_after(again, content["moves"]) == content["arms"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_damaged_snapshot_of_0_1_is_refused(path: Path) -> None:
    damaged = read(path)["snapshot"]
    del damaged["state"][next(iter(damaged["state"]))]
    with pytest.raises(SnapshotError, match="expected"):
        vb.Learner.restore(damaged)


def leader_of(state: dict[str, Any]) -> int:
    """The arm to play next if nothing were open, as 0.1.0 wrote it."""
    for part in ("optimism", "board", "lead"):
        state = state.get(part, state)
    leader: int = state["leader" if "leader" in state else "arm"]
    return leader


@pytest.mark.parametrize(
    "name",
    ["cw-oful", "epsilon-greedy", "kl-ucb", "median-of-means-ucb", "moss", "trimmed-mean-ucb", "ucb-wr", "ucb1"],
)
def test_the_leader_of_an_index_policy_is_kept(name: str) -> None:
    snapshot = read(FOLDER / f"{name}.json")["snapshot"]
    assert vb.Learner.restore(snapshot)._core.state.ranking.leader == leader_of(snapshot["state"])
