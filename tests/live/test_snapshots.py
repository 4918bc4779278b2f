import ast
import copy
import dataclasses
import json
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vambrace as vb
from effort import examples
from vambrace import registry
from vambrace.errors import SnapshotError
from vambrace.live.snapshots import checksum

Snapshot = dict[str, Any]

POLICIES: list[vb.Policy] = [
    cls(**{field.name: 1 for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING})
    for cls in registry.known("policy").values()
]
POLICIES += [
    vb.SEWR(budget=0.1, radius="kl", delta=0.3),
    vb.SEWRStop(budget=0, radius="tight", stop="multiplicative"),
    vb.PEWR(radius="tight", cap="repaired"),
    vb.UCB1(alpha=0.7),
    vb.MSSEWR(master="exp3p", share=True),
    vb.MSSEWR(smoothing=False, radius="tight"),
]


def drive(learner: vb.Learner, moves: bytes) -> list[tuple[int, float | None]]:
    """Ask, or tell or abandon any open decision, as the moves say; the arms asked, and with which probability."""
    asked = []
    for move in moves:
        waiting = learner.open
        if waiting and (move % 2 or learner.asked == learner.horizon):
            key = waiting[move // 2 % len(waiting)]
            if move % 16 == 15:
                learner.abandon(key)
            else:
                learner.tell(key, (len(waiting) + move // 64) % 3 / 2)
        elif learner.horizon is None or learner.asked < learner.horizon:
            decision = learner.ask()
            asked.append((decision.index, decision.probability))
    return asked


def without_ids(learner: vb.Learner) -> Snapshot:
    """What a learner knows besides ids and times."""
    content = learner.snapshot()
    parts = {name: [entry[1:4] for entry in content[name]] for name in ("open", "closed")}
    return {name: value for name, value in content.items() if name not in ("checksum", "time")} | parts


@pytest.mark.parametrize("policy", POLICIES, ids=registry.spec_of)
@examples(12)
@given(
    n_arms=st.sampled_from([1, 2, 4]),
    before=st.binary(max_size=40) | st.binary(min_size=200, max_size=200),
    after=st.binary(min_size=80, max_size=80),
)
def test_a_restored_learner_goes_on_bit_for_bit(policy: vb.Policy, n_arms: int, before: bytes, after: bytes) -> None:
    learner = policy.learner(n_arms=n_arms, horizon=120, seed=5)
    drive(learner, before)
    taken = learner.snapshot()
    text = json.dumps(taken, allow_nan=False)
    assert json.loads(text) == taken  # nothing but what JSON knows

    again = vb.Learner.restore(json.loads(text))
    assert again.policy == policy
    assert drive(again, after) == drive(learner, after)
    assert len(again.open) == len(learner.open)
    assert without_ids(again) == without_ids(learner)
    assert json.dumps(taken) == text  # a snapshot is a copy, not a window


def test_the_learner_of_a_shared_snapshot_writes_nothing_back() -> None:
    learner = vb.MSSEWR().learner(n_arms=2, horizon=50, seed=0)
    drive(learner, bytes(range(20)))
    taken = learner.snapshot()
    text = json.dumps(taken)
    drive(vb.Learner.restore(taken), bytes(range(40)))
    assert json.dumps(taken) == text


@dataclasses.dataclass(frozen=True, kw_only=True)
class Private(vb.UCB1):
    name = "private"


def test_a_policy_that_is_not_registered_is_handed_over() -> None:
    learner = Private(alpha=1).learner(n_arms=2, horizon=50)
    drive(learner, bytes(range(20)))
    taken = learner.snapshot()
    again = vb.Learner.restore(taken, policy=Private(alpha=1))
    assert drive(again, bytes(range(40))) == drive(learner, bytes(range(40)))
    with pytest.raises(SnapshotError, match="unknown policy 'private'"):
        vb.Learner.restore(taken)
    for other in (Private(alpha=2), vb.UCB1(alpha=1), "private:alpha=1"):
        with pytest.raises(SnapshotError, match="expected"):
            vb.Learner.restore(taken, policy=other)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- damaged snapshots


@pytest.fixture(scope="module")
def healthy() -> Snapshot:
    """Of MS-SE-WR, whose state is nested and has every type; of four decisions 1 is answered and 2 abandoned."""
    learner = vb.MSSEWR().learner(arms=["old", "new"], horizon=20, seed=1, expires_after=3600)
    first, second, *_ = learner.ask_many(4)
    learner.tell(first, 0.5)
    learner.abandon(second)
    return learner.snapshot()


def put(value: Any, *path: Any) -> Callable[[Snapshot], None]:
    """Replace what a path of keys leads to."""

    def change(snapshot: Snapshot) -> None:
        place: Any = reduce(getitem, path[:-1], snapshot)
        assert place[path[-1]] != value or type(place[path[-1]]) is not type(value)
        place[path[-1]] = value

    return change


DAMAGE: dict[str, Callable[[Snapshot], None]] = {
    "other format": put("vambrace-result", "format"),
    "other version": put(4, "version"),
    "version zero": put(0, "version"),
    "version in words": put("3", "version"),
    "state of a later version": put(2, "state_version"),
    "state version in words": put("1", "state_version"),
    "other checksum": put("0" * 64, "checksum"),
    "horizon a little longer": put(21, "horizon"),
    "other policy": put("ucb1", "policy"),
    "unknown policy": put("gone", "policy"),
    "policy without its parameter": put("se-wr", "policy"),
    "policy that is no text": put(3, "policy"),
    "more arms": put(["old", "new", "newer"], "arms"),
    "other arms": put(["old", "newer"], "arms"),
    "an arm twice": put(["old", "old"], "arms"),
    "no arms": put([], "arms"),
    "arms are a number": put(2, "arms"),
    "longer horizon": put(2000, "horizon"),
    "horizon in words": put("20", "horizon"),
    "negative seed": put(-1, "seed"),
    "no seed": put(None, "seed"),
    "negative asked": put(-1, "asked"),
    "asked beyond the horizon": put(21, "asked"),
    "asked smaller than the decisions": put(3, "asked"),
    "asked a half": put(2.5, "asked"),
    "warm negative": put(-1, "warm"),
    "time in words": put("noon", "time"),
    "expires after no time": put(0, "expires_after"),
    "default reward too large": put(1.5, "default_reward"),
    "late never": put("never", "late"),
    "key too short": put("ab", "key"),
    "key not hexadecimal": put("x" * 32, "key"),
    "no key": put(None, "key"),
    "records null": put(None, "records"),
    "record of another arm": put("newer", "records", 1, 0),
    "record too short": lambda snapshot: snapshot["records"][0].pop(),
    "record too few": lambda snapshot: snapshot["records"].pop(),
    "record too many": lambda snapshot: snapshot["records"].append(["newer", False, 0, 0, 0.0, True, 0, 0, 0]),
    "record retired a number": put(0, "records", 0, 1),
    "record asked negative": put(-1, "records", 0, 2),
    "record answers in words": put("1", "records", 0, 3),
    "record total above the answers": put(1.5, "records", 0, 4),
    "open is null": put(None, "open"),
    "open is a number": put(3, "open"),
    "open decision too short": lambda snapshot: snapshot["open"][0].pop(),
    "open decision too long": lambda snapshot: snapshot["open"][0].append(0),
    "open decision twice": lambda snapshot: snapshot["open"].append(snapshot["open"][0]),
    "open and closed": lambda snapshot: snapshot["closed"].append([snapshot["open"][0][0], 0.5]),
    "open id null": put(None, "open", 0, 0),
    "open id a flag": put(True, "open", 0, 0),
    "open arm too high": put(2, "open", 0, 1),
    "open arm negative": put(-1, "open", 0, 1),
    "open arm in words": put("0", "open", 0, 1),
    "open probability above one": put(1.5, "open", 0, 2),
    "open probability zero": put(0.0, "open", 0, 2),
    "open probability not a number": put("nan", "open", 0, 2),
    "open probability in words": put("0.5", "open", 0, 2),
    "open tag a half": put(0.5, "open", 0, 3),
    "open tag null": put(None, "open", 0, 3),
    "open time null": put(None, "open", 0, 4),
    "closed is null": put(None, "closed"),
    "closed reward too large": put(1.5, "closed", 0, 1),
    "closed reward null": put(None, "closed", 0, 1),
    "closed arm too high": put(2, "closed", 1, 1),
    "stream too short": lambda snapshot: snapshot["stream"].pop(),
    "stream too long": lambda snapshot: snapshot["stream"].append("0" * 16),
    "stream null": put(None, "stream"),
    "stream word cut off": put("cec08954", "stream", 0),
    "stream word too large": put("f" * 17, "stream", 0),
    "stream word negative": put("-000000000000001", "stream", 0),
    "stream word not hexadecimal": put("x" * 16, "stream", 0),
    "stream word a number": put(7, "stream", 0),
    "stream of zeros": put(["0" * 16] * 4, "stream"),
    "state null": put(None, "state"),
    "state a list": put([1, 2], "state"),
    "state with a field too many": lambda snapshot: snapshot["state"].update(more=1),
    "nested state null": put(None, "state", "master"),
    "array of another shape": put([[0.0, 0.0]], "state", "bases", "totals"),
    "array that is ragged": lambda snapshot: snapshot["state"]["bases"]["totals"][0].pop(),
    "array that is a number": put(0.0, "state", "bases", "budgets"),
    "array with a null": put(None, "state", "bases", "totals", 0, 0),
    "array with a word": put("x", "state", "bases", "totals", 0, 0),
    "array of numbers in words": put("1", "state", "bases", "counts", 0, 0),
    "array of whole numbers with a half": put(0.5, "state", "bases", "counts", 0, 0),
    "array of flags with a number": put(7, "state", "bases", "dropped", 0, 0),
    "whole number null": put(None, "state", "replay"),
    "whole number a half": put(0.5, "state", "replay"),
    "whole number in words": put("1", "state", "replay"),
    "number null": put(None, "state", "replay_probability"),
    "number in words": put("a half", "state", "replay_probability"),
    "flag in words": put("false", "state", "share"),
    "flag a number": put(0, "state", "smoothing"),
}


def test_a_healthy_snapshot_is_restored(healthy: Snapshot) -> None:
    assert vb.Learner.restore(healthy).open == tuple(entry[0] for entry in healthy["open"])


ONLY_THE_CHECKSUM_SHOWS = {"other checksum", "horizon a little longer"}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_snapshot_is_refused(healthy: Snapshot, name: str) -> None:
    broken = copy.deepcopy(healthy)
    DAMAGE[name](broken)
    if name not in ONLY_THE_CHECKSUM_SHOWS:
        broken["checksum"] = checksum({key: value for key, value in broken.items() if key != "checksum"})
    with pytest.raises(SnapshotError, match=r"expected|unknown (policy|late)"):
        vb.Learner.restore(broken)


@pytest.mark.parametrize("path", [(), ("state",), ("state", "master"), ("state", "rule")], ids="/".join)
def test_every_key_of_a_snapshot_is_needed(healthy: Snapshot, path: tuple[str, ...]) -> None:
    for key in reduce(getitem, path, healthy):
        broken = copy.deepcopy(healthy)
        del reduce(getitem, path, broken)[key]
        with pytest.raises(SnapshotError, match=f"expected .*{key}" if key != "version" else "expected version"):
            vb.Learner.restore(broken)


@pytest.mark.parametrize("thing", [None, [], "snapshot", 3, {}, {"format": None}], ids=repr)
def test_what_is_no_snapshot_is_refused(thing: Any) -> None:
    with pytest.raises(SnapshotError, match="expected a dict with format"):
        vb.Learner.restore(thing)


def test_nothing_in_the_package_can_run_what_it_reads() -> None:
    unsafe = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "eval", "exec"}
    for path in Path(vb.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str | None] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            elif isinstance(node, ast.Name | ast.keyword):
                names = [node.id if isinstance(node, ast.Name) else node.arg]
            assert not {str(name).split(".")[0] for name in names} & (unsafe | {"allow_pickle"}), path
