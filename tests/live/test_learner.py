import dataclasses
import itertools
import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples
from vambrace import registry
from vambrace.errors import DecisionError, HorizonReached, InvalidParameter, VambraceError
from vambrace.protocols import Round

POLICIES: list[vb.Policy] = [
    cls(**{field.name: 3 for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING})
    for cls in registry.known("policy").values()
]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=registry.spec_of)


# ------------------------------------------------------------------------------------------ late, out of order, never


@every_policy
@pytest.mark.parametrize("n_arms", [1, 3])
@pytest.mark.parametrize("answered", ["never", "every third", "last first"])
def test_feedback_that_is_missing_or_late_blocks_nothing(policy: vb.Policy, n_arms: int, answered: str) -> None:
    learner = policy.learner(n_arms=n_arms, horizon=60, seed=3)
    expected_open: list[int | str] = []
    for t in range(1, 61):
        decision = learner.ask()
        assert (decision.round, learner.asked) == (t, t)
        assert 0 <= decision.arm < n_arms
        assert decision.index == decision.arm
        assert policy.knows_probability == (decision.probability is not None)
        assert decision.probability is None or 0.0 < decision.probability <= 1.0
        expected_open.append(decision.id)
        if answered == "every third" and t % 3 == 0:
            learner.tell(expected_open.pop(), 1.0)
        if answered == "last first" and t % 20 == 0:
            while expected_open:
                learner.tell(expected_open.pop(), 0.5)
        assert learner.open == tuple(expected_open)


@every_policy
def test_the_horizon_ends_asking_but_not_telling(policy: vb.Policy) -> None:
    learner = policy.learner(n_arms=2, horizon=2)
    first, second = learner.ask(), learner.ask()
    for _ in range(2):
        before = learner.snapshot()
        with pytest.raises(HorizonReached, match="expected at most 2 decisions"):
            learner.ask()
        assert learner.snapshot() == before
        learner.tell(*((second, 1) if len(learner.open) == 2 else (first, 0)))
    assert learner.open == ()


def variants() -> list[Any]:
    """The name that a policy has in vambrace and in the oracle, with every radius, stop and cap."""
    radii, stops, caps = ("paper", "tight", "kl"), ("additive", "multiplicative"), ("paper", "repaired")
    found: list[tuple[str, dict[str, str]]] = [("UCB1", {})]
    found += [(name, {"radius": radius}) for name in ("SE", "SEWR") for radius in radii]
    found += [("SEWRStop", {"radius": radius, "stop": stop}) for radius, stop in itertools.product(radii, stops)]
    found += [("PEWR", {"radius": radius, "cap": cap}) for radius, cap in itertools.product(radii[:2], caps)]
    return [pytest.param(*each, id="-".join([each[0], *each[1].values()])) for each in found]


@pytest.mark.parametrize(("name", "words"), variants())
@examples(100)
@given(data=st.data())
def test_delayed_feedback_equals_the_oracle_pull_by_pull(name: str, words: dict[str, str], data: st.DataObject) -> None:
    """Random interleavings of asking and of telling any open decision; each arm mostly pays the same."""
    numbers: dict[str, st.SearchStrategy[Any]] = {
        "alpha": st.sampled_from([0.5, 1, 2]),
        "budget": st.sampled_from([0, 0.5, 2, 10]),
        "delta": st.sampled_from([0.99, 0.5, 0.01, None]),
    }
    fields = {field.name for field in dataclasses.fields(getattr(vb, name))}
    parameters = words | {key: data.draw(values, key) for key, values in numbers.items() if key in fields}
    n_arms = data.draw(st.integers(1, 4), "n_arms")
    horizon = data.draw(st.integers(n_arms, 200) | st.integers(150, 200) | st.just(200), "horizon")
    usual = data.draw(st.lists(st.sampled_from([0, 0, 0.5, 1]), min_size=n_arms, max_size=n_arms), "usual rewards")
    usual[data.draw(st.integers(0, n_arms - 1), "best arm")] = 1
    noise = data.draw(st.sampled_from([0.0, 0.0, 0.2]), "chance of another reward")
    eagerness = data.draw(st.sampled_from([0.8, 0.6, 0.5, 0.3]), "chance of telling where one can")
    random = Random(data.draw(st.integers(0, 2**32), "seed"))

    learner = getattr(vb, name)(**parameters).learner(n_arms=n_arms, horizon=horizon)
    oracle = getattr(naive, name)(n_arms, horizon, **parameters)
    waiting: list[vb.Decision] = []
    while learner.asked < horizon:
        if waiting and random.random() < eagerness:
            decision = waiting.pop(random.randrange(len(waiting)))
            reward = random.choice([0, 0.5, 1]) if random.random() < noise else usual[decision.arm]
            learner.tell(decision, reward)
            oracle.tell(decision.arm, reward)
        else:
            waiting.append(learner.ask())
            assert waiting[-1].arm == oracle.ask(), f"decision {waiting[-1].id}"


# --------------------------------------------------------------------------------------------------- refused answers


@pytest.fixture
def learner() -> vb.Learner:
    """Decisions 1 and 3 are open, 2 is answered; the arms are 0, 1, 0."""
    learner = vb.SEWR(budget=2).learner(n_arms=2, horizon=10)
    _, second, _ = learner.ask_many(3)
    learner.tell(second, 1.0)
    return learner


@pytest.mark.parametrize(
    "reward",
    [math.nan, math.inf, -math.inf, -0.1, 1.1, math.nextafter(1, 2), -5e-324, 10**400, "x", "1", None, True, [1], 1j],
    ids=lambda reward: f"{reward!r:.20}",
)
def test_a_reward_that_cannot_be_meant_is_not_counted(learner: vb.Learner, reward: Any) -> None:
    before, (first, third) = learner.snapshot(), learner.open
    for refused in (lambda: learner.tell(first, reward), lambda: learner.tell_many([(third, 1.0), (first, reward)])):
        with pytest.raises(InvalidParameter, match=r"^reward: expected a number in \[0, 1\], got "):
            refused()
        assert learner.snapshot() == before
    learner.tell(first, 1.0)
    assert learner.open == (third,)


def forgeries(learner: vb.Learner) -> list[Any]:
    """Ids that are not of this learner."""
    genuine, other = str(learner.open[0]), vb.SEWR(budget=2).learner(n_arms=2, horizon=10)
    arm, nonce, seal = genuine.split("-")
    changed = f"{int(seal[0], 16) ^ 1:x}{seal[1:]}"
    made_up = [
        f"1-{nonce}-{seal}",
        f"{arm}-{nonce[::-1]}-{seal}",
        f"{arm}-{nonce}-{changed}",
        f"{genuine} ",
        genuine[1:],
    ]
    return [other.ask(), other.ask().id, *made_up, "", "-", "é", "\ud800", 4, 0, -1]


def test_an_id_of_another_learner_or_a_made_up_one_is_refused(learner: vb.Learner) -> None:
    before = learner.snapshot()
    for decision in forgeries(learner):
        for refused in (lambda d=decision: learner.tell(d, 1.0), lambda d=decision: learner.abandon(d)):
            with pytest.raises(DecisionError, match=r"^decision: expected an id of this learner, got|no longer known"):
                refused()
            assert learner.snapshot() == before


@pytest.mark.parametrize("decision", [1.0, True, None, (1, 0), [1]], ids=repr)
def test_what_is_no_decision_is_refused(learner: vb.Learner, decision: Any) -> None:
    for refused in (lambda: learner.tell(decision, 1.0), lambda: learner.abandon(decision)):
        with pytest.raises(InvalidParameter, match=r"^decision: expected a Decision or its id, got "):
            refused()


def test_numbers_of_numpy_are_numbers(learner: vb.Learner) -> None:
    first, third = learner.open
    learner.tell_many([(first, np.float32(0.5)), (third, np.int8(1))])  # type: ignore[list-item]
    assert learner.open == ()
    assert learner.snapshot()["state"]["arms"]["totals"] == [1.5, 1.0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_arms": 0}, "n_arms: expected a whole number"),
        ({"n_arms": 11}, "horizon: expected at least one round for each of the 11 arms, got 10"),
        ({"horizon": 0.5}, "horizon: expected a whole number"),
        ({"seed": -1}, "seed: expected a whole number from 0 up, got -1"),
        ({"arms": ["a", "b"]}, r"arms: expected arms=\[...\] or n_arms=, got both"),
        ({"n_arms": None}, r"arms: expected arms=\[...\] or n_arms=, got neither"),
        ({"n_arms": None, "arms": "ab"}, "arms: expected a sequence"),
        ({"n_arms": None, "arms": []}, "arms: expected at least one arm, got none"),
        ({"n_arms": None, "arms": ["a", "a"]}, "arms: expected each label once, got 'a' twice"),
        ({"n_arms": None, "arms": [1, "1"]}, "arms: expected each label once, got '1' twice"),
        ({"n_arms": None, "arms": ["a", " "]}, "arm: expected a name or a whole number from 0 up, got ' '"),
        ({"n_arms": None, "arms": ["a", True]}, "arm: expected a name or a whole number from 0 up, got True"),
        ({"expires_after": 0}, r"expires_after: expected a number in \(0, inf\], got 0"),
        ({"default_reward": 0.5}, "default_reward: expected expires_after too, got None"),
        ({"expires_after": 1, "default_reward": 2}, r"default_reward: expected a number in \[0, 1\], got 2"),
        (
            {"expires_after": 1, "default_reward": 0, "late": "count"},
            "late: expected late='record' with a default_reward",
        ),
        ({"late": "never"}, "unknown late 'never'"),
        (
            {"policy": vb.SE(), "horizon": None},
            "horizon: expected a number of decisions for se, got None; .* kl-ucb-wr",
        ),
        ({"policy": "ucb1"}, "policy: expected a vambrace.Policy, got 'ucb1'"),
        ({"policy": vb.UCB1}, "policy: expected a vambrace.Policy, got <class"),
    ],
    ids=repr,
)
def test_a_learner_of_nothing_is_refused(changed: dict[str, Any], message: str) -> None:
    parameters: dict[str, Any] = {"policy": vb.UCB1(), "n_arms": 2, "horizon": 10, **changed}
    with pytest.raises(VambraceError, match=f"^{message}"):
        vb.Learner(**parameters)


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy.randomized], ids=registry.spec_of)
def test_the_seed_is_what_makes_two_learners_differ(policy: vb.Policy) -> None:
    def asked(seed: int) -> list[tuple[int, float | None]]:
        learner = policy.learner(n_arms=3, horizon=50, seed=seed)
        found = []
        for t in range(50):
            decision = learner.ask()
            found.append((decision.index, decision.probability))
            learner.tell(decision, t % 2)
        return found

    assert asked(1) == asked(1)
    assert asked(1) != asked(2)


def test_nobody_can_foresee_the_random_numbers_of_a_learner_without_a_seed() -> None:
    learners = [vb.EXP3().learner(n_arms=10, horizon=100) for _ in range(2)]
    assert learners[0].seed != learners[1].seed
    # equal by chance once in 10^40
    assert [learners[0].ask().arm for _ in range(40)] != [learners[1].ask().arm for _ in range(40)]
    again = vb.EXP3().learner(n_arms=10, horizon=100, seed=learners[0].seed)
    restored = vb.Learner.restore(learners[0].snapshot())
    again.ask_many(40)
    assert restored.seed == learners[0].seed
    assert [each.arm for each in again.ask_many(20)] == [each.arm for each in restored.ask_many(20)]


DRAWS = 20_000


@pytest.mark.parametrize("policy", [each for each in POLICIES if each.randomized], ids=registry.spec_of)
def test_the_probability_of_a_decision_is_that_of_its_arm(policy: vb.Policy) -> None:
    """Hoeffding: wrong by more than the slack with chance 1e-6 for each policy and arm, so 5e-5 in all."""
    learner = policy.learner(n_arms=3, horizon=10**5, seed=4)
    for t in range(60):
        learner.tell(learner.ask(), float(t % 4 == 0))
    state, frozen, counts, claimed = learner._core.state, Round.prompt(61, 3), np.zeros(3), np.zeros(3)
    for _ in range(DRAWS):
        arm, probability, _ = policy.select(state, frozen, learner._core.stream)
        counts[arm] += 1
        claimed[arm] = probability
    slack = math.sqrt(math.log(2 / 1e-6) / (2 * DRAWS))
    agrees = bool((np.abs(counts / DRAWS - claimed)[counts > 0] <= slack).all())
    assert agrees == policy.knows_probability


def test_a_foreign_bandit_that_fails_keeps_its_decision_open() -> None:
    class Fragile:
        def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
            self.failures = 1

        def ask(self) -> int:
            return 1

        def tell(self, arm: int, reward: float) -> None:
            if self.failures:
                self.failures -= 1
                raise RuntimeError("no connection")

    learner = vb.Foreign(make=Fragile).learner(n_arms=2, horizon=10)
    decision = learner.ask()
    with pytest.raises(RuntimeError, match="no connection"):
        learner.tell(decision, 1.0)
    assert [*learner.open] == [decision.id]
    learner.tell(decision, 1.0)
    assert not learner.open
