"""The index policies pull the same arms as their oracles: compiled, interpreted, live, and with late answers."""

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples, repeated
from tables import Table, pulls_of_engine, pulls_of_learner, tables
from vambrace.errors import InvalidParameter
from vambrace.live.knowledge import LIVE
from vambrace.policies.indices import make_ranking, with_index
from vambrace.sampling import stream, uniform
from vambrace.testing import check_policy

Pair = tuple[vb.Policy, Callable[[int, int], Any]]


def both(name: str, **options: Any) -> Pair:
    return getattr(vb, name)(**options), lambda k, t: getattr(naive, name)(k, t, **options)


PAIRS: dict[str, list[Pair]] = {
    "ucb1": [both("UCB1", alpha=alpha) for alpha in (0.1, 2.0)],
    "kl-ucb": [both("KLUCB", c=c) for c in (0.0, 0.5, 3.0)],
    "moss": [both("MOSS")],
    "ucb-wr": [both("UCBWR", budget=budget, delta=delta) for budget in (0, 0.5, 30) for delta in (None, 0.3)],
    "cw-oful": [both("CWOFUL", budget=budget, delta=delta) for budget in (None, 0, 2, 30) for delta in (None, 0.3)],
    "median-of-means-ucb": [
        both("MedianOfMeansUCB", groups=groups, variance=variance)
        for groups in (None, 1, 4, 7)
        for variance in (0.25, 0.0003)
    ],
    "trimmed-mean-ucb": [both("TrimmedMeanUCB", fraction=fraction) for fraction in (0.0, 0.1, 0.3, 0.45)],
}


@pytest.mark.parametrize("name", PAIRS)
@examples(40)
@given(data=st.data(), table=tables())
def test_same_arms_as_the_oracle(name: str, data: st.DataObject, table: Table) -> None:
    policy, make_oracle = data.draw(st.sampled_from(PAIRS[name]))
    rounds, n_arms = table.shape
    expected = naive.play(make_oracle(n_arms, rounds), table.tolist())
    assert pulls_of_engine(policy, table, interpret=False) == expected
    assert pulls_of_engine(policy, table, interpret=True) == expected
    assert pulls_of_learner(policy, table) == expected


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("kind", ["coins", "floats", "alike", "wild"])
def test_same_arms_over_many_rounds(name: str, kind: str) -> None:
    """Long enough for leads that last, for arms that tie all the way, and for rewards outside [0, 1]."""
    rng = np.random.default_rng(11)
    rounds, means = repeated(2001, quick=1201), np.array([0.85, 0.9, 0.5, 0.1])
    table = (rng.random((rounds, 4)) < means).astype(float)
    if kind == "floats":
        table = np.clip(rng.normal(means, 0.3, (rounds, 4)), 0.0, 1.0)
    elif kind == "alike":
        table[:] = 0.3
    elif kind == "wild":
        table[rng.integers(0, rounds, 300), rng.integers(0, 4, 300)] = rng.normal(0, 5, 300)
    for policy, make_oracle in PAIRS[name][:2]:
        expected = naive.play(make_oracle(4, rounds), table.tolist())
        assert pulls_of_engine(policy, table, interpret=False) == expected


@pytest.mark.parametrize("name", PAIRS)
def test_late_answers(name: str) -> None:
    """Unanswered pulls count in t and N but not in the estimate; now and then everything is answered."""
    rng = np.random.default_rng(12)
    for policy, make_oracle in PAIRS[name]:
        learner, oracle = policy.learner(n_arms=4, horizon=300, seed=0), make_oracle(4, 300)
        waiting: list[vb.Decision] = []
        for t in range(300):
            waiting.append(learner.ask())
            assert waiting[-1].arm == oracle.ask()
            patience = 0.1 if t % 50 < 25 else 1.0
            rng.shuffle(waiting)
            while waiting and rng.random() < patience:
                decision = waiting.pop()
                reward = float(rng.random() < [0.3, 0.9, 0.8, 0.5][decision.arm])
                learner.tell(decision, reward)
                oracle.tell(decision.arm, reward)


def uniforms(*key: int) -> Iterator[float]:
    rng = stream(*key)
    while True:
        yield uniform(rng)


@pytest.mark.parametrize("scale", [0.0, 0.2, 1.0, 50.0])
@pytest.mark.parametrize(("n_arms", "rounds"), [(1, 1), (1, 9), (3, 3), (4, 1500)])
def test_epsilon_greedy_on_the_same_uniforms(scale: float, n_arms: int, rounds: int) -> None:
    table = (np.random.default_rng(3).random((rounds, n_arms)) < np.linspace(0.7, 0.3, n_arms)).astype(float)
    policy = vb.EpsilonGreedy(scale=scale)
    oracle = naive.EpsilonGreedy(n_arms, rounds, scale=scale, uniforms=uniforms(7, LIVE))
    learner = policy.learner(n_arms=n_arms, horizon=rounds, seed=7)
    for row in table:
        decision, law = learner.ask(), oracle.probabilities
        assert decision.arm == oracle.ask()
        assert decision.probability == pytest.approx(law[decision.arm], rel=1e-12)
        learner.tell(decision, row[decision.arm])
        oracle.tell(decision.arm, row[decision.arm])
    engine = naive.EpsilonGreedy(n_arms, rounds, scale=scale, uniforms=uniforms(0, 0, 0))
    assert pulls_of_engine(policy, table, interpret=False) == naive.play(engine, table.tolist())


def test_epsilon_greedy_counts_what_is_asked() -> None:
    """Unanswered arms are not asked first again, and the chance to explore falls with what was asked."""
    learner = vb.EpsilonGreedy().learner(n_arms=3, horizon=1000, seed=1)
    assert [learner.ask().arm for _ in range(3)] == [0, 1, 2]
    decisions = [learner.ask() for _ in range(997)]
    for t, decision in enumerate(decisions, start=4):
        epsilon = min(1.0, 3 / t)
        assert decision.probability == pytest.approx(epsilon / 3 + (1 - epsilon if decision.arm == 0 else 0))
    assert {decision.arm for decision in decisions} == {0, 1, 2}


@given(moves=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=40))
def test_a_ranking_is_an_argmax(moves: list[tuple[int, float]]) -> None:
    ranking, plain = make_ranking(4), [inf] * 4
    for arm, index in moves:
        ranking = with_index(ranking, arm, index)
        plain[arm] = index
        assert ranking.leader == plain.index(max(plain))
        assert ranking.second == max(plain[: ranking.leader] + plain[ranking.leader + 1 :])


@pytest.mark.slow  # 1 s each
@pytest.mark.parametrize(
    "policy",
    [
        vb.KLUCB(c=3),
        vb.UCBWR(budget=0, delta=0.5),
        vb.CWOFUL(budget=0, delta=0.5),
        vb.CWOFUL(budget=1e12),
        vb.MedianOfMeansUCB(groups=4, variance=0.01),
        vb.TrimmedMeanUCB(fraction=0.45),
        vb.EpsilonGreedy(scale=0),
    ],
    ids=repr,
)
def test_other_parameters_conform(policy: vb.Policy) -> None:
    check_policy(policy)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("KLUCB", {"c": -1}),
        ("UCBWR", {"budget": inf}),
        ("UCBWR", {"budget": 1, "delta": 1.0}),
        ("CWOFUL", {"budget": -1}),
        ("CWOFUL", {"delta": 0}),
        ("MedianOfMeansUCB", {"groups": 0}),
        ("MedianOfMeansUCB", {"variance": 0}),
        ("TrimmedMeanUCB", {"fraction": 0.5}),
        ("EpsilonGreedy", {"scale": -0.1}),
    ],
)
def test_bad_parameters(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="expected"):
        getattr(vb, name)(**options)


def test_a_fraction_of_zero_is_ucb1() -> None:
    table = (np.random.default_rng(8).random((2000, 4)) < [0.5, 0.6, 0.2, 0.9]).astype(float)
    trimmed, plain = (
        pulls_of_engine(each, table, interpret=False) for each in (vb.TrimmedMeanUCB(fraction=0), vb.UCB1())
    )
    assert trimmed == plain


@pytest.mark.parametrize("fraction", [0.1, 0.2])
def test_trimming_hides_a_fraction_of_wild_rewards(fraction: float) -> None:
    """What it is for: 8 % of the samples of *every* arm are ones or zeros that mean nothing."""
    rng = np.random.default_rng(9)
    table = np.clip(rng.normal([0.5, 0.55], 0.02, (4000, 2)), 0, 1)
    wild = rng.random((4000, 2)) < 0.08
    table[wild] = np.broadcast_to([1.0, 0.0], (4000, 2))[wild]  # in favour of the worse arm
    assert table[:, 0].mean() > table[:, 1].mean()
    state = vb.TrimmedMeanUCB(fraction=fraction).learner(n_arms=2, horizon=8000)
    for row in table:
        for _ in range(2):
            decision = state.ask()
            state.tell(decision, row[decision.arm])
    estimates = state._core.state.ranking.estimates
    assert estimates[1] - estimates[0] > 0.02


ENV, HORIZON, BUDGET = vb.Bernoulli([0.9, 0.6, 0.6, 0.6]), 200_000, 200


def share_of_linear(policy: vb.Policy, attack: vb.Adversary | None) -> Table:
    """The regret of ten games, in units of that of never playing the best arm."""
    result = vb.simulate(policy, ENV, attack, horizon=HORIZON, replications=10, seed=1, checkpoints=1)
    return result.pseudo_regret[:, -1] / (0.3 * HORIZON)


@pytest.mark.parametrize(
    "policy",
    [vb.TrimmedMeanUCB(), vb.TrimmedMeanUCB(fraction=0.2), vb.MedianOfMeansUCB(variance=0.01)],
    ids=repr,
)
def test_robust_means_are_no_armour(policy: vb.Policy) -> None:
    """200 fake events among 200,000, one in a thousand, all of them on the best arm while it is young.

    They learn quickly without attack. With it each of ten games is lost nearly whole; SE-WR, told of the budget, loses
    a twentieth. (Median of means with its default variance does not lose, because it hardly ever stops exploring.)
    """
    assert share_of_linear(policy, None).max() < 0.02
    assert share_of_linear(policy, vb.Conceal(budget=BUDGET)).min() > 0.9
    assert share_of_linear(vb.SEWR(budget=BUDGET, radius="tight"), vb.Conceal(budget=BUDGET)).max() < 0.05


@pytest.mark.parametrize("policy", [vb.UCBWR(budget=BUDGET), vb.CWOFUL(budget=BUDGET)], ids=repr)
def test_optimism_that_knows_the_budget_survives(policy: vb.Policy) -> None:
    """No best arm lost in ten games each, where UCB1 loses it in every one."""
    assert share_of_linear(policy, vb.Conceal(budget=BUDGET)).max() < 0.25
    assert share_of_linear(vb.UCB1(), vb.Conceal(budget=BUDGET)).min() > 0.9
