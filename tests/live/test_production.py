"""What happens to a learner on a server: restarts, threads, answers that are late, lost or sent twice."""

import json
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from threading import Barrier, Thread

import pytest

import vambrace as vb
from vambrace.errors import DecisionError, HorizonReached, InvalidParameter
from vambrace.live import knowledge


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def together(n_threads: int, work: Callable[[int], None]) -> None:
    """Run the same work in several threads that start at once; raises what one of them raised."""
    errors, barrier = [], Barrier(n_threads)

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except Exception as error:
            errors.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(n_threads)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that they meet in the middle of everything: without a lock this fails
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    if errors:
        raise errors[0]


# ------------------------------------------------------------------------------------------------ restarts and threads


@pytest.mark.parametrize("policy", [vb.SEWR(budget=2), vb.EXP3(), vb.Thompson()], ids=lambda policy: policy.name)
def test_a_late_click_never_goes_to_another_arm_after_a_restart(policy: vb.Policy) -> None:
    """Decisions made after the last snapshot are lost with the process: their answers are refused."""
    learner = policy.learner(n_arms=3, horizon=1_000, seed=1)
    kept = learner.ask_many(5)
    saved = json.dumps(learner.snapshot())
    lost = learner.ask_many(4)
    again = vb.Learner.restore(json.loads(saved))
    new = again.ask_many(4)
    assert [decision.arm for decision in new] == [decision.arm for decision in lost]
    assert not {decision.id for decision in new} & {decision.id for decision in lost}
    before = again.snapshot()
    for decision in lost:
        for given in (decision, decision.id):
            with pytest.raises(DecisionError, match="made after the snapshot from which this learner was restored"):
                again.tell(given, 1.0)
    assert again.snapshot() == before
    for decision in (*kept, *new):
        assert again.tell(decision.id, 1.0) == "applied"
    assert Counter(decision.index for decision in (*kept, *new)) == {
        arm: record.answers for arm, record in enumerate(again._core.arms) if record.answers
    }


@pytest.mark.parametrize("asks", [1_500, pytest.param(40_000, marks=pytest.mark.slow)])  # 40,000: about 15 s
def test_threads_get_different_ids_and_count_every_answer(asks: int) -> None:
    learner, n_threads = vb.UCB1().learner(n_arms=3), 8
    ids: list[list[object]] = [[] for _ in range(n_threads)]

    def work(number: int) -> None:
        for t in range(asks):
            decision = learner.ask()
            ids[number].append(decision.id)
            if t % 3:
                assert learner.tell(decision, 1.0) == "applied"
            elif t % 2:
                assert learner.abandon(decision)

    together(n_threads, work)
    assert len({key for each in ids for key in each}) == n_threads * asks == learner.asked
    told = sum(t % 3 > 0 for t in range(asks)) * n_threads
    assert sum(record.answers for record in learner._core.arms) == told
    assert len(learner.open) == sum(t % 3 == 0 and t % 2 == 0 for t in range(asks)) * n_threads


def test_one_answer_from_many_threads_counts_once() -> None:
    learner = vb.UCB1().learner(n_arms=2)
    for _ in range(20):
        decision, outcomes = learner.ask(), []
        together(8, lambda number: outcomes.append(learner.tell(decision, float(number % 2))))  # noqa: B023
        assert Counter(outcomes)["applied"] == 1
        assert Counter(outcomes)["duplicate"] == 3
        assert Counter(outcomes)["conflict"] == 4
    assert sum(record.answers for record in learner._core.arms) == 20


def test_snapshots_of_a_busy_learner_are_whole() -> None:
    learner = vb.KLUCBWR(budget=2).learner(n_arms=3)

    def work(number: int) -> None:
        for _ in range(60):
            if number == 0:
                again = vb.Learner.restore(learner.snapshot())
                assert sum(record.answers for record in again._core.arms) == again._core.state.answered
            else:
                learner.tell(learner.ask(), 1.0)

    together(4, work)


# ------------------------------------------------------------------------------------------------------------- expiry


@pytest.mark.parametrize("late", ["record", "count"])
def test_an_answer_after_expiry_is_late(late: str) -> None:
    clock = Clock()
    learner = vb.Learner(vb.UCB1(), arms=["a", "b"], expires_after=60, late=late, clock=clock)  # type: ignore[arg-type]
    first, second = learner.ask_many(2)
    clock.now += 59.9
    assert learner.tell(first, 1.0) == "applied"
    clock.now += 0.1
    assert learner.expire() == 1
    assert learner.open == ()
    assert [learner.tell(second, reward) for reward in (1.0, 1.0, 0.0)] == ["late", "duplicate", "conflict"]
    assert learner._core.state.totals.tolist() == ([1.0, 1.0] if late == "count" else [1.0, 0.0])
    assert [record.late for record in learner._core.arms] == [0, 1]


def test_a_default_reward_is_counted_once() -> None:
    clock = Clock()
    learner = vb.Learner(vb.UCB1(), arms=["a", "b"], expires_after=60, default_reward=0.25, clock=clock)
    first, second = learner.ask_many(2)
    clock.now += 60
    assert learner.tell(first, 1.0) == "late"
    assert learner._core.state.totals.tolist() == [0.25, 0.25]
    assert learner.tell(second, 0.25) == "late"
    assert learner._core.state.ranking.counts.tolist() == [1, 1]


def test_a_clock_that_runs_backwards_stands_still() -> None:
    clock = Clock()
    learner = vb.Learner(vb.UCB1(), arms=["a", "b"], expires_after=60, clock=clock)
    first = learner.ask()
    clock.now -= 1_000
    second = learner.ask()
    clock.now += 1_059
    assert learner.open == (first.id, second.id)
    assert learner.expire() == 0
    clock.now += 1
    assert learner.expire() == 2


def test_expired_decisions_survive_a_restart() -> None:
    clock = Clock()
    learner = vb.Learner(vb.UCB1(), n_arms=2, expires_after=60, late="count", clock=clock)
    first, second = learner.ask_many(2)
    clock.now += 60
    learner.expire()
    again = vb.Learner.restore(json.loads(json.dumps(learner.snapshot())), clock=clock)
    assert again.tell(first, 1.0) == "late"
    third = again.ask()
    again = vb.Learner.restore(again.snapshot(), clock=clock)
    assert again.tell(first.id, 1.0) == "duplicate"
    clock.now += 60
    assert again.tell(third, 1.0) == "late"
    assert again.abandon(second) is False


def test_lost_answers_cost_nothing_later() -> None:
    """Of 20,000 decisions, of which every tenth is never answered, few are open at any time, and memory is bounded."""
    clock = Clock()
    learner = vb.Learner(vb.KLUCBWR(budget=5), n_arms=3, expires_after=100.0, clock=clock)

    def converse(rounds: int) -> int:
        size = 0
        for t in range(rounds):
            clock.now += 1.0
            decision = learner.ask()
            if t % 10:
                learner.tell(decision, 0.0)
            size = max(size, len(learner._core.open))
        return size

    converse(500)
    assert converse(20_000) <= 12
    assert len(learner._core.closed) == knowledge.REMEMBERED
    tracemalloc.start()
    converse(2_000)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 2_500_000  # the window is full of new entries, and nothing else grows


# ------------------------------------------------------------------------------------------------ arms that come and go


def test_a_policy_whose_arms_cannot_change_says_whose_can() -> None:
    learner = vb.PEWR().learner(n_arms=2, horizon=100)
    for change in (learner.add_arm, learner.retire_arm):
        with pytest.raises(vb.VambraceError, match=r"expected a policy whose arms can \(.*kl-ucb-wr.*\), got pe-wr"):
            change(1)


@pytest.mark.parametrize(
    "policy", [vb.SEWR(budget=1), vb.KLUCBWR(budget=1), vb.Thompson(), vb.EXP3()], ids=lambda p: p.name
)
def test_arms_come_and_go(policy: vb.Policy) -> None:
    learner = policy.learner(arms=["old", "new"], horizon=5_000, seed=3)
    rates = {"old": 0.1, "new": 0.5, "newer": 0.9}

    def play(rounds: int) -> Counter[str]:
        shown: Counter[str] = Counter()
        for t in range(rounds):
            decision = learner.ask()
            shown[decision.arm] += 1
            learner.tell(decision, float(t % 10 < 10 * rates[decision.arm]))
        return shown

    play(100)
    waiting = learner.ask_many(6)
    learner.retire_arm("old")
    assert set(play(100)) == {"new"}
    learner.add_arm("newer")
    assert learner.arms == ("old", "new", "newer")
    answers = learner._core.arms[0].answers
    assert learner.tell_many((decision, 1.0) for decision in waiting) == ["applied"] * 6
    assert learner._core.arms[0].answers == answers + sum(decision.arm == "old" for decision in waiting)
    shown = play(300)
    assert set(shown) <= {"new", "newer"}
    assert shown["newer"] > 50
    restored = vb.Learner.restore(json.loads(json.dumps(learner.snapshot())))
    assert [each.arm for each in restored.ask_many(20)] == [each.arm for each in learner.ask_many(20)]
    learner.add_arm("old")
    assert learner.n_arms == 3
    learner.retire_arm("newer")
    learner.retire_arm("new")
    assert {each.arm for each in learner.ask_many(20)} == {"old"}


# --------------------------------------------------------------------------------------------------------- warm starts


def test_a_warm_start_is_as_if_its_events_had_been_answers() -> None:
    warm = vb.KLUCBWR(budget=3).learner(arms=["a", "b"], horizon=5_000)
    warm.warm_start({"a": (200, 60), "b": (100, 50)})
    assert warm._core.state.totals.tolist() == [60.0, 50.0]
    assert warm._core.state.counts.tolist() == [200, 100]
    assert (warm.asked, warm.ask().round) == (0, 301)


def test_a_warm_start_from_a_table_or_a_log() -> None:
    table = {"variant": ["a", "b"], "visitors": [200, 100], "clicks": [60, 50]}
    log = {"arm": ["a", "b", "a"], "reward": [1, 0, 0]}
    for source, totals in ((table, [60.0, 50.0]), (log, [1.0, 0.0])):
        learner = vb.UCB1().learner(arms=["a", "b"])
        learner.warm_start(source)
        assert learner._core.state.totals.tolist() == totals
    numbered = vb.UCB1().learner(n_arms=2)
    numbered.warm_start({"arm": [1, 0], "reward": [1, 0]})
    assert numbered._core.state.totals.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ({"a": (10, 11)}, r"successes of 'a': expected a whole number in \[0, 10\], got 11"),
        ({"a": (10, 1), "c": (10, 1)}, "arm: expected one of a, b, got 'c'"),
        ({"a": 10}, "counts of 'a': expected events and successes, got 10"),
        ({"a": (5_000, 1)}, r"warm_start: expected at most 100 events \(the rest of the horizon\), got 5000"),
        ({"arm": ["a", "b"], "reward": [0.5, 1]}, "expected rewards of 0 and 1, got others"),
    ],
    ids=repr,
)
def test_a_warm_start_that_cannot_be_meant_is_refused(log: object, message: str) -> None:
    learner = vb.UCB1().learner(arms=["a", "b"], horizon=100)
    before = learner.snapshot()
    with pytest.raises(vb.VambraceError, match=message):
        learner.warm_start(log)
    assert learner.snapshot() == before


def test_a_policy_that_needs_probabilities_says_who_learns_from_counts() -> None:
    with pytest.raises(vb.VambraceError, match=r"expected a policy that learns from counts \(.*thompson.*\), got exp3"):
        vb.EXP3().learner(n_arms=2, horizon=100).warm_start({0: (10, 5)})


def test_more_decisions_than_the_horizon_has_left_are_none() -> None:
    """Otherwise those before the error would stay open, and nobody would know their ids."""
    learner = vb.KLUCBWR(budget=1).learner(arms=["old", "new"], horizon=10)
    with pytest.raises(HorizonReached, match=r"at most 10 decisions .* got 11 more"):
        learner.ask_many(11)
    assert (learner.asked, learner.open) == (0, ())
    assert len(learner.ask_many(10)) == 10


@pytest.mark.parametrize("label", ["two\nlines", "\x1b[31mred", "zero\0", "half \ud800", "line\u2028end"])
def test_a_label_that_would_spoil_every_table(label: str) -> None:
    learner = vb.KLUCBWR(budget=1).learner(arms=["old", "👨‍👩‍👧"])
    with pytest.raises(InvalidParameter, match="arm: expected a name without line breaks"):
        learner.add_arm(label)
    assert learner.arms == ("old", "👨‍👩‍👧")
