import json
import math

import pytest

import vambrace as vb
from vambrace import registry
from vambrace.live.explanation import explanation_of

POLICIES = list(registry.specimens("policy", budget=3.0).values())


@pytest.mark.parametrize("policy", POLICIES, ids=registry.spec_of)
def test_every_policy_is_explained(policy: vb.Policy) -> None:
    learner = policy.learner(arms=["old", "new"], horizon=500, seed=1)
    assert "old" in str(learner.explain())
    for t in range(200):
        learner.tell(learner.ask(), t % 3 / 2)
    learner.ask()
    found = learner.explain()
    sent = json.loads(json.dumps(found.to_dict() | {"more": 1}))
    assert sent["decisions"] == 201
    assert explanation_of(sent) == found
    assert sum(arm.answers for arm in found.arms) == 200
    assert sum(arm.waiting for arm in found.arms) == 1
    assert sum(arm.share for arm in found.arms) == pytest.approx(1.0)
    for arm in found.arms:
        assert arm.plain is not None
        assert arm.rate is not None
        assert 0.0 <= arm.plain[0] <= arm.rate <= arm.plain[1] <= 1.0
        if arm.armoured is not None:
            assert 0.0 <= arm.armoured[0] <= arm.plain[0]
            assert arm.plain[1] <= arm.armoured[1] <= 1.0
    assert len(str(found).splitlines()) == 4


@pytest.mark.parametrize(
    "policy",
    [vb.SEWR(budget=4, radius="tight"), vb.SEWR(budget=4, radius="kl"), vb.SEWR(budget=4), vb.SE()],
    ids=registry.spec_of,
)
def test_an_arm_is_dropped_when_it_was_said(policy: vb.Policy) -> None:
    """With rewards that keep the rates as they are, the number of answers that are missing is right."""
    learner = policy.learner(arms=["good", "bad"], horizon=100_000)
    pays = {"good": 0.75, "bad": 0.25}
    for _ in range(40):
        learner.tell_many([(decision, pays[decision.arm]) for decision in learner.ask_many(2)])
    _, bad = learner.explain().arms
    assert bad.needed is not None
    for _ in range(bad.needed):
        assert learner.explain().arms[1].status == "open"
        learner.tell_many([(decision, pays[decision.arm]) for decision in learner.ask_many(2)])
    _, bad = learner.explain().arms
    assert (bad.status, bad.needed) == ("dropped", None)


def test_the_armoured_interval_of_se_wr_is_its_radius() -> None:
    learner = vb.SEWR(budget=4, delta=0.1).learner(arms=["a", "b"], horizon=1_000)
    learner.warm_start({"a": (100, 50), "b": (100, 40)})
    width = math.sqrt(math.log(2 * 2 * 1_000 / 0.1) / 100) + 4 / 100
    assert learner.explain().arms[0].armoured == pytest.approx((0.5 - width, 0.5 + width))


def test_the_armoured_interval_of_kl_ucb_wr_ends_at_its_index() -> None:
    learner = vb.KLUCBWR(budget=4).learner(arms=["a", "b"], horizon=1_000)
    learner.warm_start({"a": (100, 50), "b": (100, 10)})
    a, b = learner.explain().arms
    assert a.armoured is not None
    assert b.armoured is not None
    assert [a.armoured[1], b.armoured[1]] == pytest.approx(learner._core.state.indices.tolist())
    assert a.armoured[0] == pytest.approx(1.0 - a.armoured[1])
    assert (a.needed, b.needed == 0) == (None, b.armoured[1] < 0.5)


def test_the_plain_interval_is_exact_for_clicks_and_wider_for_other_rewards() -> None:
    learner = vb.UCB1().learner(arms=["a", "b"])
    learner.warm_start({"a": (100, 3)})
    assert learner.explain().arms[0].plain == pytest.approx((0.006229972, 0.08517605), rel=1e-5)  # Clopper and Pearson
    assert learner.explain().arms[1].plain is None
    for _ in range(2):
        learner.tell(learner.ask(), 0.5)
    low, high = learner.explain().arms[1].plain or (1, 0)
    assert 0.0 <= low < 0.1
    assert 0.9 < high <= 1.0


def test_a_retired_arm_is_shown_as_retired() -> None:
    learner = vb.KLUCBWR(budget=4).learner(arms=["a", "b"])
    learner.retire_arm("a")
    assert [arm.status for arm in learner.explain().arms] == ["retired", "open"]
    assert "retired" in str(learner.explain())
