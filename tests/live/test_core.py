"""The core: its events alone make the same learner, what is refused changes nothing, a damaged journal is noticed."""

import dataclasses
import json
import os
import time
from random import Random
from typing import Any

import pytest

import vambrace as vb
from vambrace import registry
from vambrace.errors import JournalError
from vambrace.live import events, ids
from vambrace.live.core import Core
from vambrace.live.events import Event, decoded, encoded
from vambrace.live.ids import is_genuine, new_id
from vambrace.live.settings import Settings
from vambrace.live.snapshots import content_of
from vambrace.sampling import next_word

POLICIES = list(registry.specimens("policy", budget=3.0).values())


def played(core: Core, rounds: int = 150) -> list[Event]:
    """Everything that can happen to a core, and the events of it; what is refused is checked to change nothing."""
    done: list[Event] = []
    random = Random(3)
    core.on_event = done.append

    def refused(command: Any, *given: Any) -> None:
        core.expire(now)
        before, number = json.dumps(content_of(core)), len(done)
        with pytest.raises(vb.VambraceError):
            command(now, *given)
        assert (json.dumps(content_of(core)), len(done)) == (before, number)

    if core.policy.learns_from_counts:
        core.warm_start(0.0, {"a": (20, 8), "c": (10, 5)})
    for t in range(rounds):
        now = float(t)
        if t % 10 == 0:
            for key in [*core.open, "0-a-b"]:
                refused(core.tell, key, 1.5)
            for command, label in ((core.abandon, "0-a-b"), (core.add_arm, "a"), (core.retire_arm, "x")):
                refused(command, label)
            refused(core.warm_start, {"a": (20, 21)})
        core.ask(now)
        for key in [*core.open, *[*core.closed][-5:]]:
            if random.random() < 0.1:
                core.tell(now, key, float(random.random() < 0.5))
            elif random.random() < 0.02:
                core.abandon(now, key)
        if core.policy.arms_can_change and t % 40 == 20:
            core.add_arm(now, f"arm {t}")
            core.retire_arm(now, "b" if t == 20 else f"arm {t - 40}")
    return done


@pytest.mark.parametrize("policy", POLICIES, ids=registry.spec_of)
def test_the_same_events_make_the_same_learner(policy: vb.Policy) -> None:
    settings = Settings.made(policy, arms=["a", "b", "c"], horizon=1_000, expires_after=20.0, late="count")
    core = Core(settings)
    written = json.dumps([encoded(event) for event in played(core)])
    again = Core(Settings.from_dict(json.loads(json.dumps(settings.to_dict()))))
    for content in json.loads(written):
        again.apply(decoded(content))
    assert json.dumps(content_of(again)) == json.dumps(content_of(core))
    assert again.ask(500.0)[2:] == core.ask(500.0)[2:]


def fresh(policy: vb.Policy | None = None) -> Core:
    return Core(Settings.made(policy or vb.SEWR(budget=1), arms=["a", "b"], horizon=100, seed=1, key="0" * 32))


def test_a_journal_with_another_arm_is_damaged() -> None:
    for policy in (vb.SEWR(budget=1), vb.EXP3()):
        event = fresh(policy).ask(0.0)
        for change in ({"arm": 1 - event.arm}, {"probability": 0.25}, {"tag": 1}):
            core = fresh(policy)
            before = content_of(core)
            with pytest.raises(JournalError, match=r"journal: expected a decision .* it is damaged"):
                core.apply(event._replace(**change))
            assert content_of(core) == before


def test_a_journal_with_an_answer_too_many_is_damaged() -> None:
    core = fresh()
    asked = core.ask(0.0)
    core.apply(events.Told(1.0, asked.id, 1.0))
    for event in (events.Told(1.0, asked.id, 1.0), events.Abandoned(1.0, asked.id), events.Expired(1.0, "0-a-b")):
        before = content_of(core)
        with pytest.raises(JournalError, match=r"journal: expected an open decision, got .* it is damaged"):
            core.apply(event)
        assert content_of(core) == before


def test_a_decision_of_another_state_is_damage() -> None:
    """Two cores make their first decision; applied as the second one of a third core, it would be another arm."""
    first, second, core = fresh().ask(0.0), fresh().ask(0.0), fresh()
    core.apply(first)
    with pytest.raises(JournalError, match="it is damaged"):
        core.apply(second)
    with pytest.raises(JournalError, match="it is damaged"):
        core.apply(first._replace(arm=1))  # the right arm with an id that is open
    assert core.ask(0.0).arm == 1


class Failing(vb.UCB1):
    """It raises when it learns."""

    @staticmethod
    def update(state: Any, answer: Any) -> Any:
        raise RuntimeError("half done")


def test_a_policy_that_raises_while_it_learns_leaves_the_core_in_doubt() -> None:
    core = fresh(Failing())
    key = core.ask(0.0).id
    with pytest.raises(vb.VambraceError):
        core.tell(1.0, key, 2.0)
    assert not core.is_in_doubt
    with pytest.raises(RuntimeError, match="half done"):
        core.tell(1.0, key, 1.0)
    assert core.is_in_doubt
    assert [*core.open] == [key]


def test_a_policy_that_raises_at_a_default_reward_leaves_the_core_in_doubt() -> None:
    core = Core(Settings.made(Failing(), arms=["a", "b"], expires_after=1.0, default_reward=0.0))
    key = core.ask(0.0).id
    with pytest.raises(RuntimeError, match="half done"):
        core.ask(5.0)
    assert core.is_in_doubt
    assert [*core.open] == [key]


def test_a_policy_that_names_no_arm_leaves_the_random_numbers_as_they_were() -> None:
    class Lost(vb.EXP3):
        @staticmethod
        def select(state: Any, round: Any, rng: Any) -> Any:
            next_word(rng)
            return 7, 1.0, 0

    core = fresh(Lost())
    before = content_of(core)
    with pytest.raises(vb.VambraceError, match=r"expected an open arm in \[0, 1\], got 7"):
        core.ask(1.0)
    assert content_of(core) == before
    assert not core.is_in_doubt


def test_many_answers_are_refused_as_one_when_old_decisions_are_forgotten_in_between() -> None:
    time = [0.0]
    learner = vb.Learner(vb.UCB1(), n_arms=2, expires_after=1.0, late="count", clock=lambda: time[0])
    learner._core.remembered = 2
    oldest, *_, newest = learner.ask_many(3)
    time[0] = 5.0  # now all of them expire, and the oldest is forgotten
    with pytest.raises(vb.VambraceError, match="no longer known"):
        learner.tell_many([(newest, 1.0), (oldest, 1.0)])
    assert sum(record.late for record in learner._core.arms) == 0


def test_a_clock_that_runs_backwards_stands_still() -> None:
    core = Core(Settings.made(vb.UCB1(), arms=["a", "b"], expires_after=10.0))
    first, second = core.ask(5.0), core.ask(3.0)
    assert [decision.time for decision in core.open.values()] == [5.0, 5.0]
    core.tell(1.0, first.id, 1.0)
    assert core.time == 5.0
    assert core.expire(14.0) == 0
    assert core.expire(15.0) == 1
    assert core.closed[second.id] == second._replace(time=5.0)


def test_an_older_decision_is_found_where_the_durable_learner_keeps_it() -> None:
    core = fresh(vb.UCB1())
    key, unknown = (new_id(bytes(16), 1) for _ in range(2))
    core.find_closed = lambda wanted: events.Asked(3.0, key, 1, 1.0, 0) if wanted == key else None
    done: list[Event] = []
    core.remembered, core.on_event = 0, done.append
    assert core.tell(9.0, key, 0.5) == "late"
    assert done == [events.ToldLate(9.0, key, 0.5, 1, 1.0, 0)]
    assert not core.abandon(9.0, key)
    core.find_closed = lambda wanted: 0.5 if wanted == key else None
    assert core.tell(9.0, key, 0.5) == "duplicate"
    assert core.tell(9.0, key, 1.0) == "conflict"
    with pytest.raises(vb.VambraceError, match="no longer known"):
        core.tell(9.0, unknown, 1.0)
    assert len(done) == 1


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "told",
        ["gone", 1.0],
        [["told"], 1.0, "x", 1.0],
        ["told", 1.0, "x"],
        ["told", 1.0, "x", 1.0, 0],
        ["told", "1", "x", 1.0],
        ["told", float("nan"), "x", 1.0],
        ["told", 1.0, None, 1.0],
        ["told", 1.0, "x", True],
        ["asked", 1.0, "x", 0.5, 1.0, 0],
        ["warm", 1.0, 3],
    ],
    ids=repr,
)
def test_what_is_no_event_is_refused(content: Any) -> None:
    with pytest.raises(JournalError, match=r"event: expected .*, got "):
        decoded(content)


def test_ids_of_one_moment_are_neighbours() -> None:
    begun = time.time_ns() // 10**6
    nonces = [new_id(b"of one moment", 0).split("-")[1] for _ in range(100)]
    assert len({nonce[12:] for nonce in nonces}) == 100
    assert all(begun <= int(nonce[:12], 16) <= time.time_ns() // 10**6 for nonce in nonces)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system copies no processes")
def test_a_copy_of_a_process_gives_other_ids() -> None:
    key = b"of a copied process"
    first = new_id(key, 0)  # more are made than this one
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, " ".join(new_id(key, 0) for _ in range(20)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 10_000).decode().split()
    assert len({first, *theirs, *(new_id(key, 0) for _ in range(20))}) == 41


def test_unused_ids_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "_unused", {})
    monkeypatch.setattr(ids, "MOST_KEPT", 10)
    assert len({new_id(b"key", arm) for arm in range(100)}) == 100
    assert len(ids._unused) <= 10


def test_an_id_is_sealed_with_its_arm() -> None:
    key, other = bytes(16), bytes(15) + b"1"
    found = {new_id(key, arm) for arm in range(3) for _ in range(500)}
    assert len(found) == 1_500
    for text in found:
        arm, nonce, seal = text.split("-")
        assert (len(nonce), len(seal)) == (32, 16)
        assert is_genuine(key, text)
        assert not is_genuine(other, text)
        assert not is_genuine(key, f"{int(arm) + 1}-{nonce}-{seal}")
        counts = {*ids.COUNTS, "20", "zz", "-1"} - {nonce[-2:]}
        assert not any(is_genuine(key, f"{arm}-{nonce[:-2]}{count}-{seal}") for count in counts)


def test_records_and_settings_are_all_in_a_snapshot() -> None:
    core = fresh()
    names = {field.name for field in dataclasses.fields(Settings)} - {"labels"} | {"arms"}
    assert names <= set(content_of(core))
