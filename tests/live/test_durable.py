"""Learners on disk: the same as in memory, shared, and never ahead of their journal."""

import multiprocessing
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from effort import repeated
from vambrace.errors import DecisionError, HorizonReached, InvalidParameter, JournalError, UnknownName
from vambrace.live import fold as fold_module
from vambrace.live.checking import check
from vambrace.live.clock import Clock
from vambrace.live.durable import DurableLearner
from vambrace.live.fold import Fold, Request, snapshot_text
from vambrace.live.journal import Entry
from vambrace.live.sql import open_journal


def opened(url: str, policy: vb.Policy | None = None, **changed: Any) -> DurableLearner:
    given: dict[str, Any] = {"arms": ["old", "new"], "seed": 7} | changed
    return vb.open(url, "headlines", policy=policy or vb.KLUCBWR(budget=5), **given)


def replayed(url: str) -> str:
    """The state that the journal makes, from its first event, as text."""
    return snapshot_text(Fold(open_journal(url, "headlines", create=False)).load(from_snapshot=False))


def live(learner: DurableLearner) -> str:
    return learner._look(snapshot_text)


@pytest.mark.parametrize("policy", [vb.KLUCBWR(budget=5), vb.Thompson(), vb.TsallisINF()])
def test_the_same_as_in_memory(policy: vb.Policy, tmp_path: Path) -> None:
    """Asked and answered in the same order: the same arms, bit for bit, from two objects in turn."""
    url = f"sqlite:///{tmp_path}/shop.db"
    memory = policy.learner(arms=["old", "new"], seed=7)
    disk = [opened(url, policy), opened(url, policy)]
    waiting = []
    for step in range(300):
        twins = memory.ask(), disk[step % 2].ask()
        assert twins[0].arm == twins[1].arm
        assert twins[0].probability == twins[1].probability
        assert twins[0].round == twins[1].round == step + 1
        waiting.append(twins)
        if step % 3 == 2:
            for one, other in (waiting.pop(1), waiting.pop(0)):
                reward = float(hash((step, one.arm)) % 3 == 0)
                assert memory.tell(one, reward) == disk[(step + 1) % 2].tell(other, reward) == "applied"
    assert live(disk[0]) == live(disk[1]) == replayed(url)
    mine, theirs = memory.snapshot(), disk[0].snapshot()
    assert [mine[part] for part in ("state", "stream", "asked")] == [
        theirs[part] for part in ("state", "stream", "asked")
    ]


def test_one_life_in_two_processes_worth_of_objects(url: str) -> None:
    first = opened(url, expires_after=3_600.0)
    decision = first.ask()
    second = opened(url, expires_after=3_600.0)
    assert second.open == (decision.id,)
    assert second.tell(decision.id, reward=1.0) == "applied"
    assert first.tell(decision, reward=1.0) == "duplicate"
    assert first.tell(decision, reward=0.0) == "conflict"
    gone = second.ask()
    assert first.abandon(gone) is True
    assert second.abandon(gone) is False
    assert second.tell(gone, reward=1.0) == "late"
    assert first.tell(gone, reward=1.0) == "duplicate"
    second.add_arm("newer")
    assert first.arms == ("old", "new", "newer")
    first.retire_arm("old")
    second.warm_start({"new": (100, 40)})
    assert {decision.arm for decision in first.ask_many(20)} <= {"new", "newer"}
    assert first.tell_many([(each, 1.0) for each in first.open]) == ["applied"] * 20
    assert (first.asked, second.asked, len(second.open)) == (22, 22, 0)
    assert live(first) == live(second) == replayed(url)
    assert str(first.explain()) == str(second.explain())
    first.close()
    assert first.asked == 22  # connects again


def test_a_key_is_asked_once(url: str) -> None:
    first, second = opened(url), opened(url)
    decision = first.ask(key="view-1")
    assert first.ask(key="view-1") == second.ask(key="view-1") == decision
    assert second.ask(key="view-2") != decision
    first.tell(decision, 1.0)
    assert second.ask(key="view-1") == decision  # an answered one, too
    assert (first.asked, len(first.open)) == (2, 1)
    both: list[vb.Decision] = []
    threads = [threading.Thread(target=lambda: both.append(first.ask(key="view-3"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(both)) == 1
    assert second.asked == 3
    for wrong in ("", "x" * 201, 3, "a\0b"):
        with pytest.raises(InvalidParameter, match="key: expected a text of 1 to 200 characters"):
            first.ask(key=wrong)  # type: ignore[arg-type]


def test_other_settings_are_refused_with_the_difference(url: str) -> None:
    opened(url, seed=None)
    opened(url, seed=None)  # each new learner has a seed of its own, which is no difference
    with pytest.raises(
        InvalidParameter,
        match=r"headlines: the learner in this database has policy='kl-ucb-wr:budget=5'.*, not 'ucb1'$",
    ):
        opened(url, vb.UCB1(), seed=None)
    with pytest.raises(
        InvalidParameter, match=r"arms=\['old', 'new'\], not \['old', 'newer'\]; expires_after=None, not 60"
    ):
        opened(url, arms=["old", "newer"], expires_after=60, seed=None)
    with pytest.raises(InvalidParameter, match=r"has seed=\d+, not 3$"):
        opened(url, seed=3)


def test_without_a_policy_it_must_be_there(url: str, tmp_path: Path) -> None:
    if url.startswith("sqlite"):
        with pytest.raises(JournalError, match="there is no such file"):
            vb.open(url, "headlines")
        assert list(tmp_path.iterdir()) == []
    opened(url)
    assert vb.open(url, "headlines").arms == ("old", "new")
    with pytest.raises(UnknownName, match="did you mean 'headlines'"):
        vb.open(url, "headline")
    with pytest.raises(InvalidParameter, match="policy: expected one together with arms, got None"):
        vb.open(url, "headlines", arms=["old", "new"])
    with pytest.raises(InvalidParameter, match="policy: expected one together with horizon, expires_after, got None"):
        vb.open(url, "headlines", horizon=100, expires_after=60.0)


def test_a_snapshot_makes_opening_fast_and_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_module, "SNAPSHOT_EVERY", 50)
    learner = opened(url)
    for step in range(60):
        decision = learner.ask()
        if step % 7:
            learner.tell(decision, float(step % 2))
    journal = open_journal(url, "headlines", create=False)
    saved = journal.load_snapshot()
    assert saved is not None
    assert saved[0] == 100
    assert snapshot_text(Fold(journal).load(from_snapshot=False, upto=saved[0])) == saved[1]
    read: list[int] = []
    real = fold_module.event_of

    def watched(entry: Entry) -> Any:
        read.append(entry.number)
        return real(entry)

    monkeypatch.setattr(fold_module, "event_of", watched)
    again = opened(url)
    assert read[0] == 101
    assert live(again) == live(learner) == replayed(url)
    with journal.transaction():
        journal.save_snapshot(*(saved[0], saved[1].replace('"asked":', '"asked":1')))
    assert live(opened(url)) == replayed(url)  # a damaged snapshot is not needed


def test_an_error_of_one_caller_does_not_stop_the_others(url: str) -> None:
    learner = opened(url, vb.SEWR(budget=1), horizon=100)
    with pytest.raises(DecisionError, match="which is not one"):
        learner.tell("0-forged-id", 1.0)
    with pytest.raises(InvalidParameter, match="reward: expected a number"):
        learner.tell(learner.ask(), 2.0)
    with pytest.raises(HorizonReached):
        learner.ask_many(100)  # one too many: none is asked
    assert (learner.asked, len(learner.open)) == (1, 1)
    assert len(learner.ask_many(99)) == 99
    assert live(learner) == replayed(url)


def test_a_key_that_comes_twice_in_one_transaction_gets_one_decision(url: str) -> None:
    learner = opened(url)

    def work(core: Any, now: float) -> Any:
        return learner._ask_for(core, now, ["view-1"], learner._fold.find_keys(["view-1"]))

    requests = [Request(work), Request(work)]
    learner._fold.run(requests)
    assert requests[0].result == requests[1].result
    assert learner.asked == 1


def test_a_policy_that_raises_leaves_no_trace(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its state may be half changed by then, so it is read again; another caller of the same transaction is served."""
    real = vb.UCB1.update

    def update(state: Any, answer: Any) -> Any:
        state.totals[answer.arm] += 5.0
        if answer.reward == 0.25:
            raise RuntimeError("half done")
        state.totals[answer.arm] -= 5.0
        return real(state, answer)

    monkeypatch.setattr(vb.UCB1, "update", staticmethod(update))
    learner = opened(url, vb.UCB1())
    decisions = learner.ask_many(3)
    before = live(learner)
    with pytest.raises(RuntimeError, match="half done"):
        learner.tell(decisions[0], 0.25)
    assert live(learner) == before
    assert learner.tell(decisions[0], 0.5) == "applied"
    assert live(learner) == replayed(url)


def test_threads_share_transactions_and_each_is_answered(url: str) -> None:
    learner = opened(url)
    transactions = 0
    real = learner._fold.journal.transaction

    def counted() -> Any:
        nonlocal transactions
        transactions += 1
        return real()

    learner._fold.journal.transaction = counted  # type: ignore[method-assign]
    told: list[tuple[str, float]] = []

    def play(number: int) -> None:
        for step in range(20):
            decision = learner.ask()
            reward = float((number + step) % 2)
            assert learner.tell(decision, reward) == "applied"
            told.append((str(decision.id), reward))

    threads = [threading.Thread(target=play, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key for key, _ in told}) == 320
    assert transactions < 400  # of 640 commands; mostly about 80
    assert learner.asked == 320
    assert live(learner) == replayed(url)
    journal = open_journal(url, "headlines", create=False)
    found: list[Any] = [fold_module.event_of(entry) for entry in journal.read(1) if entry.kind == "told"]
    assert {(event.id, event.reward) for event in found} == set(told)
    assert len(found) == 320


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_learner_that_was_opened_before_a_fork(url: str) -> None:
    """As web servers do it: the parent opens, the workers play, and some thread of the parent plays, too."""
    learner, stop = opened(url), threading.Event()

    def play() -> None:
        while not stop.is_set():
            learner.tell(learner.ask(), 1.0)

    thread = threading.Thread(target=play)
    thread.start()
    children = []
    for _ in range(3):
        children.append(os.fork())
        if children[-1] == 0:
            code = 1
            with suppress(BaseException):
                for _ in range(20):
                    learner.tell(learner.ask(), 0.0)
                code = 0
            os._exit(code)
    codes = [os.waitpid(child, 0)[1] for child in children]
    stop.set()
    thread.join()
    assert codes == [0, 0, 0]
    assert len(learner.open) == 0
    assert live(learner) == replayed(url)
    learners = [record.answers - record.total for record in learner._look(lambda core: core.arms)]
    assert sum(learners) == 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_threads_that_fork_at_the_same_moment(tmp_path: Path) -> None:
    """Each fork pauses every learner and resumes it. Two at once must not resume for each other."""
    learner, stop = opened(f"sqlite:///{tmp_path}/shop.db"), threading.Event()

    def play() -> None:
        while not stop.is_set():
            learner.tell(learner.ask(), 1.0)

    def fork() -> None:
        for _ in range(repeated(30, quick=6)):
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)

    player = threading.Thread(target=play, daemon=True)
    forkers = [threading.Thread(target=fork, daemon=True) for _ in range(3)]
    for thread in (player, *forkers):
        thread.start()
    for thread in forkers:
        thread.join(60)
    stop.set()
    player.join(60)
    assert not any(thread.is_alive() for thread in (player, *forkers))


def test_expire_says_how_many(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    clock = Clock(lambda: now[0], lambda: now[0])
    learner = opened(f"sqlite:///{tmp_path}/shop.db", expires_after=10.0, clock=clock)
    learner.ask_many(3)
    now[0] += 11.0
    assert (learner.expire(), learner.expire(), learner.open) == (3, 0, ())


def _open_and_play(url: str, start: Any) -> None:
    start.wait()
    learner = opened(url, seed=None)
    for _ in range(5):
        learner.tell(learner.ask(), 1.0)


def test_processes_that_open_the_same_new_learner_at_once(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    processes = [context.Process(target=_open_and_play, args=(url, start)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert vb.open(url, "headlines").asked == 15


def test_memory_does_not_grow_with_answered_decisions(tmp_path: Path) -> None:
    learner = opened(f"sqlite:///{tmp_path}/shop.db")
    for _ in range(20):
        decisions = learner.ask_many(100)
        learner.tell_many([(each, 1.0) for each in decisions])
    core = learner._fold.core
    assert core is not None
    assert (len(core.open), len(core.closed), core.asked) == (0, 0, 2_000)
    assert learner._fold._unwritten == []
    assert learner.tell(decisions[0], 1.0) == "duplicate"


@pytest.mark.parametrize(
    ("number", "payload"), [(1, "{}"), (1, "x"), (1, "[]"), (2, "3"), (2, "x"), (3, "{}"), (3, "[7.0]"), (3, "[-0.5]")]
)
def test_an_event_that_was_changed_by_hand_is_a_clear_error(number: int, payload: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/shop.db"
    learner = opened(url)
    learner.tell(learner.ask(), 1.0)
    journal: Any = learner._fold.journal
    with journal.transaction():
        journal._database.run("UPDATE vambrace_events SET payload = ? WHERE number = ?", payload, number)
    with pytest.raises(JournalError, match=r"journal: expected|event: expected"):
        vb.open(url, "headlines")
    assert check(open_journal(url, "headlines", create=False))["difference"] != ""


@pytest.mark.parametrize("key", ["", "k" * 201, "a\0", "\ud800", 5])
def test_a_key_that_no_database_can_store(key: Any, tmp_path: Path) -> None:
    learner = opened(f"sqlite:///{tmp_path}/shop.db")
    with pytest.raises(InvalidParameter, match="key: expected a text of 1 to 200 characters"):
        learner.ask(key=key)
    assert learner.asked == 0
