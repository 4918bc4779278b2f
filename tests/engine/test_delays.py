"""Late and lost answers: the same numbers as a live learner that is told in that order, and the queue itself."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import vambrace as vb
from vambrace import registry
from vambrace.engine.delays import Waiting, is_due, make_queue, send, take
from vambrace.engine.simulation import DELAY
from vambrace.errors import InvalidParameter, NotApplicable, UnknownName
from vambrace.protocols import Answer
from vambrace.sampling import stream, uniform

HORIZON, SEED = 400, 5
MEANS = (0.8, 0.5, 0.2)
CONDITIONS: dict[str, dict[str, Any]] = {
    "fixed": {"delay": vb.Delay.fixed(30)},
    "geometric": {"delay": vb.Delay.geometric(mean=30), "lost": 0.2},
    "batch": {"delay": vb.Delay.batch(every=64)},
    "lost": {"lost": 0.1},
}
EVERY = [*registry.specimens("policy", budget=5.0).values()]


def arrivals(condition: dict[str, Any]) -> list[int | None]:
    """After which round the answer to each decision arrives, from the definition; None: never."""
    rng, due = stream(SEED, 0, DELAY), []
    delay, lost = condition.get("delay"), condition.get("lost", 0.0)
    for t in range(1, HORIZON + 1):
        is_lost = uniform(rng) < lost
        when = t
        if delay and delay.kind == "fixed":
            when = t + delay.value
        if delay and delay.kind == "batch":
            when = t
            while when % delay.value != 0:
                when += 1
        if delay and delay.kind == "geometric":
            chance, left = 1.0 - 1.0 / (1.0 + delay.value), 1.0 - uniform(rng)
            while left <= chance:  # one more round with this chance
                left, when = left / chance, when + 1
        due.append(None if is_lost else int(when))
    return due


def live_regret(policy: vb.Policy, condition: dict[str, Any], hidden: float) -> float:
    """A live learner that is told late, in order of arrival; while the budget lasts arm 0 shows no success."""
    learner = policy.learner(n_arms=len(MEANS), horizon=HORIZON, seed=SEED)
    learner._core.stream = stream(SEED, 0, 0)  # the policy's stream in the engine
    rewards, due = stream(SEED, 0, 1), arrivals(condition)
    waiting: list[tuple[int, int, Any, float]] = []
    regret = 0.0
    for t in range(1, HORIZON + 1):
        decision = learner.ask()
        arm = decision.index
        regret += max(MEANS) - MEANS[arm]
        reward = float(uniform(rewards) < MEANS[arm])
        if arm == 0 and reward > 0.0 and hidden > 0.0:
            reward, hidden = 0.0, hidden - 1.0
        when = due[t - 1]
        if when is not None:
            waiting.append((when, t, decision, reward))
        for each in sorted(each for each in waiting if each[0] <= t):
            learner.tell(each[2], each[3])
        waiting = [each for each in waiting if each[0] > t]
    return regret


@pytest.mark.parametrize("policy", EVERY, ids=lambda policy: policy.name)
@pytest.mark.parametrize("name", CONDITIONS)
def test_same_numbers_as_a_learner_that_is_told_in_that_order(policy: vb.Policy, name: str) -> None:
    attack = vb.Conceal(budget=20) if name != "batch" else None
    options: dict[str, Any] = {"horizon": HORIZON, "seed": SEED, "interpret": True, "checkpoints": 1}
    result = vb.simulate(policy, vb.Bernoulli(MEANS), attack, **options, **CONDITIONS[name])
    assert result.engine == "rounds"
    expected = live_regret(policy, CONDITIONS[name], 20.0 if attack else 0.0)
    assert result.pseudo_regret[0, -1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("policy", [vb.SEWR(budget=5), vb.TsallisINF()], ids=lambda p: p.name)
def test_compiled_and_interpreted_are_the_same(policy: vb.Policy) -> None:
    for condition in (CONDITIONS["geometric"], CONDITIONS["batch"]):
        found = []
        for interpret in (True, False):
            options: dict[str, Any] = {"horizon": 700, "replications": 2, "seed": 1, "interpret": interpret}
            found.append(vb.simulate(policy, vb.Bernoulli(MEANS), vb.Conceal(budget=9), **options, **condition))
        np.testing.assert_array_equal(found[0].pseudo_regret, found[1].pseudo_regret)
        np.testing.assert_array_equal(found[0].observed_regret, found[1].observed_regret)


def test_nothing_late_is_the_ordinary_game() -> None:
    options: dict[str, Any] = {"horizon": 500, "seed": 3, "interpret": True, "engine": "rounds"}
    for policy in (vb.UCB1(), vb.PEWR(), vb.EXP3()):
        plain = vb.simulate(policy, vb.Bernoulli(MEANS), **options)
        for delay in (vb.Delay.fixed(0), vb.Delay.batch(every=1)):
            late = vb.simulate(policy, vb.Bernoulli(MEANS), delay=delay, **options)
            np.testing.assert_array_equal(plain.pseudo_regret, late.pseudo_regret)


def test_a_policy_that_never_hears_anything_plays_all_arms_alike() -> None:
    result = vb.simulate(vb.SEWR(budget=1), vb.Bernoulli(MEANS), horizon=300, lost=1.0)
    assert result.pulls.tolist() == [[100, 100, 100]]


def test_a_foreign_bandit_hears_late() -> None:
    heard: list[int] = []

    class Diary:
        def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
            self.asked = 0

        def ask(self) -> int:
            self.asked += 1
            return self.asked % 2

        def tell(self, arm: int, reward: float) -> None:
            heard.append(self.asked)

    policy = vb.Foreign(make=Diary)
    vb.simulate(policy, vb.Bernoulli([0.5, 0.5]), horizon=10, delay=vb.Delay.fixed(3))
    assert heard == [4, 5, 6, 7, 8, 9]


@given(st.lists(st.one_of(st.integers(0, 6), st.none()), min_size=1, max_size=60))
@example([3, 2, 1, 0, 2, 1, None, None, None, None, None, None])
def test_the_queue_is_a_sorted_list(delays: list[int | None]) -> None:
    """Delays, and None for taking the next answer out if there is one."""
    queue = make_queue(vb.Delay.fixed(len(delays)), 0.0, 10**6, stream(0))
    waiting, expected = Waiting(0, 0), list[tuple[int, int]]()
    for t, delay in enumerate(delays, start=1):
        if delay is None:
            if expected:
                expected.sort()
                due, asked = expected.pop(0)
                assert is_due(queue, waiting, due + 1)
                assert not is_due(queue, waiting, due)
                answer, waiting = take(queue, waiting)
                assert answer == Answer(asked % 5, asked / 7, 0.5, asked)
        else:
            waiting = send(queue._replace(value=float(delay)), waiting, t, Answer(t % 5, t / 7, 0.5, t))
            expected.append((t + delay, t))
        assert waiting == Waiting(len(expected), len(expected))


def test_geometric_delays_have_the_mean_and_the_room_that_they_need() -> None:
    """20,000 draws of standard deviation about 50: further off than six standard errors once in 10^9."""
    delay, rounds = vb.Delay.geometric(mean=50), 20_000
    queue, waiting, most, total = make_queue(delay, 0.0, 10**6, stream(1)), Waiting(0, 0), 0, 0
    for t in range(1, rounds + 1):
        while is_due(queue, waiting, t):
            answer, waiting = take(queue, waiting)
            total += t - 1 - answer.tag
        waiting = send(queue, waiting, t, Answer(0, 0.0, 1.0, t))
        most = max(most, waiting.answers)
    assert most < len(queue.heap)
    assert abs(total / rounds - 50) < 6 * 51 / np.sqrt(rounds)


def test_bad_values_are_refused() -> None:
    play = {"policy": vb.UCB1(), "environment": vb.Bernoulli([0.9, 0.5]), "horizon": 100}
    with pytest.raises(InvalidParameter, match=r"delay: expected a vambrace\.Delay such as"):
        vb.simulate(**play, delay=1000)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"lost: expected a number in \[0, 1\], got 1.5"):
        vb.simulate(**play, lost=1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="delay fixed: rounds: expected a whole number"):
        vb.Delay.fixed(-1)
    with pytest.raises(InvalidParameter, match="delay batch: every"):
        vb.Delay.batch(every=0)
    with pytest.raises(InvalidParameter, match="delay geometric: mean"):
        vb.Delay.geometric(mean=0)
    with pytest.raises(UnknownName, match="fixed"):
        vb.Delay.parse("fixd:10")
    for wrong in ("batch:many", "batch:1.5", "fixed:inf"):
        with pytest.raises(InvalidParameter, match=f"such as .*:1000, got '{wrong}'"):
            vb.Delay.parse(wrong)
    with pytest.raises(NotApplicable, match="engine leap: expected prompt answers"):
        vb.simulate(vb.SE(), vb.Bernoulli([0.9, 0.5]), horizon=100, lost=0.1, engine="leap")


def test_a_result_names_its_conditions() -> None:
    result = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), horizon=100, delay=vb.Delay.parse("fixed:1e1"), lost=0.25)
    assert str(result).startswith("ucb1 without attack (delay fixed:10, 0.25 of answers lost): regret")
    summary = result.summary()
    assert (summary["delay"], summary["lost"], summary["arms_open"]) == ("fixed:10", 0.25, None)
