"""Snapshots of older formats are restored, and go on as they did where they were written.

Each file holds a snapshot that was taken with five open decisions, the moves that came after it ("ask", or [decision,
reward], with the number of the decision) and the arms that were asked then. Those of tests/assets/0.1.0 are of format
version 1, those of tests/assets/snapshots-of-version-2 were written shortly before version 3.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace import registry
from vambrace.errors import DecisionError, SnapshotError

ASSETS = Path(__file__).parents[1] / "assets"
FOLDER = ASSETS / "0.1.0" / "snapshots"
FILES = sorted(FOLDER.glob("*.json"))
LATER = sorted((ASSETS / "snapshots-of-version-2").glob("*.json"))


def named(path: Path) -> str:
    return f"{path.parent.parent.name if path.parent == FOLDER else 'version-2'}-{path.stem}"


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def arms_after(learner: vb.Learner, moves: list[Any]) -> list[int]:
    """The old decisions are told by their number, as they are known where they were stored."""
    arms, ids = [], {}
    for move in moves:
        if move == "ask":
            decision = learner.ask()
            ids[decision.round] = decision.id
            arms.append(decision.arm)
        else:
            assert learner.tell(ids.get(move[0], move[0]), move[1]) == "applied"
            assert learner.tell(ids.get(move[0], move[0]), move[1]) == "duplicate"
    return arms


def test_every_policy_of_0_1_has_a_snapshot() -> None:
    assert len(FILES) == 23
    assert {path.stem for path in FILES} <= set(registry.known("policy"))
    assert len(LATER) == 24
    assert {path.stem for path in LATER} <= set(registry.known("policy"))


@pytest.mark.parametrize("path", FILES + LATER, ids=named)
def test_a_snapshot_of_0_1_goes_on_as_it_did_there(path: Path) -> None:
    content = read(path)
    assert len(content["snapshot"]["open"]) == 5
    learner = vb.Learner.restore(content["snapshot"])
    assert arms_after(learner, content["moves"]) == content["arms"]


@pytest.mark.parametrize("path", FILES + LATER, ids=named)
def test_a_migrated_learner_is_saved_and_restored_again(path: Path) -> None:
    content = read(path)
    again = vb.Learner.restore(json.loads(json.dumps(vb.Learner.restore(content["snapshot"]).snapshot())))
    assert arms_after(again, content["moves"]) == content["arms"]


@pytest.mark.parametrize("path", FILES + LATER, ids=named)
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


@pytest.mark.parametrize("path", [FILES[0], LATER[0]], ids=named)
def test_a_decision_that_was_not_open_in_an_old_snapshot_is_refused(path: Path) -> None:
    learner = vb.Learner.restore(read(path)["snapshot"])
    assert all(isinstance(key, int) for key in learner.open)
    for key in ({*range(1, 125)} - {*learner.open}) | {0, -1}:
        with pytest.raises(DecisionError, match="no longer known"):
            learner.tell(key, 1.0)


@pytest.mark.parametrize(
    "name",
    ["cw-oful", "epsilon-greedy", "kl-ucb", "median-of-means-ucb", "moss", "trimmed-mean-ucb", "ucb-wr", "ucb1"],
)
def test_the_leader_of_an_index_policy_is_kept(name: str) -> None:
    snapshot = read(FOLDER / f"{name}.json")["snapshot"]
    assert vb.Learner.restore(snapshot)._core.state.ranking.leader == leader_of(snapshot["state"])
