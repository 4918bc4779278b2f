"""Any order of everything that can be done with a learner: it always says what its slow twin says."""

import copy
import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import naive
import vambrace as vb
from vambrace.errors import DecisionError, InvalidParameter
from vambrace.live import knowledge
from vambrace.live.events import decoded, encoded
from vambrace.live.snapshots import content_of, core_of

HORIZON, BUDGET, DELTA, WINDOW = 400, 2.0, 0.1, 6
EXAMPLES = 150  # 1,500 of them, in 20 s, found nothing more
REWARDS = st.sampled_from([0.0, 0.5, 1.0])


class AnyOrder(RuleBasedStateMachine):
    """A learner that plays UCB-WR, its twin, and a core that follows by the learner's events alone."""

    @initialize(
        expires_after=st.sampled_from([None, 3.0, 10.0]),
        default_reward=st.sampled_from([None, None, 0.0, 0.5]),
        late=st.sampled_from(["record", "count"]),
    )
    def start(self, expires_after: float | None, default_reward: float | None, late: Any) -> None:
        if expires_after is None or late == "count":
            default_reward = None
        self.time = 100.0
        options: dict[str, Any] = {"expires_after": expires_after, "default_reward": default_reward, "late": late}
        policy = vb.UCBWR(budget=BUDGET, delta=DELTA)
        self.learner = vb.Learner(policy, n_arms=2, horizon=HORIZON, clock=lambda: self.time, **options)
        self.twin = naive.Learner(2, HORIZON, BUDGET, DELTA, remembered=WINDOW, **options)
        self.ids: list[str] = []  # also those of other branches, after an older snapshot was restored
        self.saved: list[tuple[str, naive.Learner]] = []
        self.follow()

    def follow(self) -> None:
        """Let another core live by the events of the learner, as they are written to a journal."""
        self.follower = core_of(json.loads(json.dumps(self.learner.snapshot())))

        def follow(event: Any) -> None:
            self.follower.apply(decoded(json.loads(json.dumps(encoded(event)))))

        self.learner._core.on_event = follow

    @rule(step=st.sampled_from([0.5, 1.0, 4.0, -2.0]))
    def wait(self, step: float) -> None:
        self.time += step

    @rule(n=st.integers(1, 3))
    def ask(self, n: int) -> None:
        self.twin.pass_time(self.time)
        expected = []
        decisions = self.learner.ask_many(n) if n > 1 else [self.learner.ask()]
        for decision in decisions:
            expected.append(self.twin.next_arm())
            assert decision.id not in self.ids
            self.ids.append(str(decision.id))
            self.twin.ask(str(decision.id), decision.index)
        assert [decision.index for decision in decisions] == expected

    @precondition(lambda self: self.ids)
    @rule(pick=st.integers(0, 10**6), last=st.booleans(), reward=REWARDS, many=st.booleans())
    def tell(self, pick: int, last: bool, reward: float, many: bool) -> None:
        key = self.pick(pick, last)
        self.twin.pass_time(self.time)
        expected = self.twin.tell(key, reward)
        if expected is None:
            with pytest.raises(DecisionError, match="no longer known"):
                self.learner.tell(key, reward)
        elif many:
            assert self.learner.tell_many([(key, reward), (key, reward)]) == [
                expected,
                "conflict" if expected == "conflict" else "duplicate",
            ]
        else:
            assert self.learner.tell(key, reward) == expected

    @precondition(lambda self: self.ids)
    @rule(pick=st.integers(0, 10**6), last=st.booleans())
    def abandon(self, pick: int, last: bool) -> None:
        key = self.pick(pick, last)
        self.twin.pass_time(self.time)
        expected = self.twin.abandon(key)
        if expected is None:
            with pytest.raises(DecisionError, match="no longer known"):
                self.learner.abandon(key)
        else:
            assert self.learner.abandon(key) == expected

    def pick(self, number: int, last: bool) -> str:
        recent = self.ids[-4:] if last else self.ids
        return recent[number % len(recent)]

    @rule()
    def expire(self) -> None:
        before = len(self.learner.open)
        self.twin.pass_time(self.time)
        assert self.learner.expire() == before - len(self.learner.open)

    @precondition(lambda self: len(self.twin.is_open) < 6)
    @rule()
    def add_arm(self) -> None:
        self.twin.pass_time(self.time)
        self.learner.add_arm(f"arm {len(self.twin.is_open)}")
        self.twin.changed()
        self.twin.is_open.append(True)
        self.twin.before.append((0, 0))

    @rule(arm=st.integers(0, 5))
    def retire_or_open_again(self, arm: int) -> None:
        self.twin.pass_time(self.time)
        arm %= len(self.twin.is_open)
        label = self.learner.arms[arm]
        if not self.twin.is_open[arm]:
            with pytest.raises(InvalidParameter, match="which is retired"):
                self.learner.retire_arm(label)
            self.learner.add_arm(label)
        elif sum(self.twin.is_open) == 1:
            with pytest.raises(InvalidParameter, match="expected another open arm"):
                self.learner.retire_arm(label)
            return
        else:
            with pytest.raises(InvalidParameter, match="which is open"):
                self.learner.add_arm(label)
            self.learner.retire_arm(label)
        self.twin.changed()
        self.twin.is_open[arm] = not self.twin.is_open[arm]

    @rule(arm=st.integers(0, 5), events=st.integers(0, 6), successes=st.integers(0, 6))
    def warm_start(self, arm: int, events: int, successes: int) -> None:
        self.twin.pass_time(self.time)
        arm, successes = arm % len(self.twin.is_open), min(successes, events)
        self.learner.warm_start({self.learner.arms[arm]: (events, successes)})
        self.twin.changed()
        old = self.twin.before[arm]
        self.twin.before[arm] = (old[0] + events, old[1] + successes)

    @rule()
    def save(self) -> None:
        self.saved.append((json.dumps(self.learner.snapshot()), copy.deepcopy(self.twin)))

    @precondition(lambda self: self.saved)
    @rule(which=st.integers(0, 10))
    def restore(self, which: int) -> None:
        """The last snapshot or an older one: ids that were given since then are refused."""
        text, twin = self.saved[which % len(self.saved)]
        self.learner = vb.Learner.restore(json.loads(text), clock=lambda: self.time)
        assert self.learner.snapshot() == json.loads(text)
        self.twin = copy.deepcopy(twin)
        self.follow()

    @invariant()
    def same(self) -> None:
        if not hasattr(self, "learner"):
            return
        known, twin = self.learner._core, self.twin
        assert list(known.open) == [visit.key for visit in twin.visits if visit.status == "open"]
        assert list(known.closed) == twin.closed[-WINDOW:]
        for arm, record in enumerate(known.arms):
            answers = twin.answers(arm)
            assert record.answers == len(answers)
            assert record.total == sum(answers)  # multiples of one half
            assert record.binary == all(reward in (0.0, 1.0) for reward in answers)
            assert record.asked == sum(visit.arm == arm for visit in twin.visits)
            assert record.expired == twin.how_many(arm, "expired")
            assert record.abandoned == twin.how_many(arm, "abandoned")
            assert record.late == sum(visit.arm == arm and visit.late for visit in twin.visits)
            assert record.retired != twin.is_open[arm]
        assert content_of(self.follower) == content_of(known)


def test_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "REMEMBERED", WINDOW)
    run_state_machine_as_test(AnyOrder, settings=settings(max_examples=EXAMPLES, stateful_step_count=40))
