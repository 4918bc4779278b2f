"""The leap engine has the law of the round engine: exactly on deterministic arms, in two-sample tests else."""

import dataclasses
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

import vambrace as vb
from effort import repeated
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.engine import leap as leap_module
from vambrace.errors import GameFault, NotApplicable
from vambrace.kernels import kernel
from vambrace.protocols import Game, Integers

MEASURES = ("pseudo_regret", "realized_regret", "observed_regret", "cost", "pulls")
BUDGET = 60.0
POLICIES = [
    vb.SE(radius="tight"),
    vb.SEWR(budget=BUDGET, radius="paper"),
    vb.SEWR(budget=BUDGET, radius="tight"),
    vb.SEWR(budget=BUDGET, radius="kl"),
    vb.SEWRStop(budget=BUDGET, stop="additive", radius="tight"),
    vb.SEWRStop(budget=BUDGET, stop="multiplicative", radius="tight"),
    vb.PEWR(),
    vb.PEWR(cap="repaired", radius="tight"),
    vb.RobustPhasedElimination(),
]
ATTACKS: list[vb.Adversary | None] = [
    None,
    vb.Conceal(budget=BUDGET),
    vb.Conceal(budget=BUDGET, stop_when_dropped=True),
    vb.Conceal(budget=float("inf"), stop_when_dropped=True),
    vb.Swap(budget=BUDGET, target=1, margin=0.13),
    vb.Swap(margin=0.25),
    vb.RandomFlips(budget=BUDGET, rate=0.25),
    vb.RandomFlips(rate=0.25),
]
WHITE_BOX: list[tuple[vb.Policy, vb.Adversary | None]] = [
    (vb.PEWR(), vb.PhaseBurst(budget=400.0)),
    (vb.RobustPhasedElimination(), vb.PhaseBurst(budget=400.0)),
    (vb.PEWR(radius="tight"), vb.EliminationRush(budget=BUDGET)),
    (vb.SEWR(budget=BUDGET, radius="tight"), vb.EliminationRush(budget=3 * BUDGET)),
]
BLACK_BOX: list[tuple[vb.Policy, vb.Adversary | None]] = [
    (vb.KLUCBWR(budget=BUDGET), None),
    (vb.KLUCBWR(budget=BUDGET), vb.Conceal(budget=BUDGET)),
    (vb.KLUCBWR(budget=BUDGET, commit=0.2), vb.Swap(budget=3 * BUDGET, target=1, margin=0.13)),
    (vb.KLUCBWR(budget=BUDGET), vb.Mimic(budget=2 * BUDGET, depth=1.5)),
    (vb.KLUCBWR(budget=BUDGET), vb.Boost(budget=BUDGET)),
    (vb.PEWR(radius="tight"), vb.Mimic(budget=BUDGET)),
]
PAIRS: list[tuple[vb.Policy, vb.Adversary | None]] = [*itertools.product(POLICIES, ATTACKS), *WHITE_BOX, *BLACK_BOX]
COINS = (vb.Boost, vb.Mimic, vb.RandomFlips)
COINLESS = [(policy, attack) for policy, attack in PAIRS if not isinstance(attack, COINS)]


def both(policy: vb.Policy, env: vb.Environment, attack: vb.Adversary | None, **options: Any) -> tuple[vb.Result, ...]:
    results = tuple(vb.simulate(policy, env, attack, engine=engine, **options) for engine in ("rounds", "leap"))
    assert [result.engine for result in results] == ["rounds", "leap"]
    return results


@pytest.mark.parametrize("shortest", [1, leap_module.SHORTEST])
@pytest.mark.parametrize(("policy", "attack"), COINLESS, ids=str)
def test_exactly_equal_on_deterministic_arms(
    policy: vb.Policy, attack: vb.Adversary | None, shortest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number agrees to the last bit, at checkpoints anywhere, although none of the rewards is a binary fraction.

    The shortest leap that is taken makes no difference. Interpreted, which gives the same numbers and spares the
    compiler some fifty programs.
    """
    monkeypatch.setattr(leap_module, "SHORTEST", shortest)
    environment = vb.Deterministic([0.77, 0.5 + 1e-9, 0.33, 0.1])
    for horizon in (4, 7, 3_001) if shortest == 1 else (12_345,):
        points = np.unique(np.linspace(1, horizon, 37).astype(int))
        rounds, leap = both(policy, environment, attack, horizon=horizon, checkpoints=points.tolist(), interpret=True)
        for measure in MEASURES:
            assert np.array_equal(getattr(rounds, measure), getattr(leap, measure)), measure


@pytest.mark.parametrize(
    "policy", [vb.SEWR(budget=9.7), pytest.param(vb.KLUCBWR(budget=9.7), marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize(
    "attack",
    [
        *(pytest.param(each, marks=pytest.mark.slow) for each in (None, vb.Conceal(budget=9.7))),
        vb.Swap(budget=1234.5, margin=0.07),
    ],
    ids=str,
)  # 2 s each
def test_exactly_equal_over_a_million_rounds(policy: vb.Policy, attack: vb.Adversary | None) -> None:
    """Where plain sums of a million rewards would be off by ten thousand units in the last place. Compiled."""
    environment = vb.Deterministic([0.9, 0.7, 0.3])
    rounds, leap = both(policy, environment, attack, horizon=10**6)
    for measure in MEASURES:
        assert np.array_equal(getattr(rounds, measure), getattr(leap, measure)), measure


def drop_rounds(pulls: Integers) -> Integers:
    """The round in which each arm was pulled last, had all been swept together: when it was dropped."""
    return np.minimum(pulls[:, :, None], pulls[:, None, :]).sum(axis=2)


FALSE_ALARM = 1e-4
REPLICATIONS = repeated(2_000, quick=800)
HORIZON = 20_000
ENV = vb.Bernoulli([0.8, 0.65, 0.4, 0.1])
TESTS = len(PAIRS) * (3 + 1 + 4 + 4)  # three regrets, the cost, pulls and drop rounds of four arms


def one_of_each_program() -> list[Any]:
    """Every pair; slow are those whose policy was seen."""
    seen, found = Counter[Any](), []
    for policy, attack in PAIRS:
        one, other = (policy.update, *policy.constants.items()), (attack and attack.respond, attack and attack.look)
        known = seen[one] >= 1
        found.append(pytest.param(policy, attack, marks=[pytest.mark.slow] if known else []))  # 3 s each
        seen.update([one, other])
    return found


@pytest.mark.parametrize(("policy", "attack"), one_of_each_program(), ids=str)
def test_the_same_law_on_bernoulli_arms(policy: vb.Policy, attack: vb.Adversary | None) -> None:
    """Kolmogorov-Smirnov on every measure of many replications.

    Bonferroni over all tests of all pairs: the chance that any of them fails although the laws agree is at most 10^-4.
    """
    options: dict[str, Any] = {"horizon": HORIZON, "replications": REPLICATIONS, "checkpoints": [HORIZON // 3]}
    rounds = vb.simulate(policy, ENV, attack, engine="rounds", seed=1, **options)
    leap = vb.simulate(policy, ENV, attack, engine="leap", seed=2, **options)
    assert (leap.cost <= (attack.budget if attack else 0.0)).all()
    samples = {
        name: (getattr(rounds, name)[:, -1], getattr(leap, name)[:, -1])
        for name in ("pseudo_regret", "realized_regret", "observed_regret", "cost")
    }
    for arm in range(4):
        samples[f"pulls of arm {arm}"] = (rounds.pulls[:, arm], leap.pulls[:, arm])
        samples[f"drop round of arm {arm}"] = (drop_rounds(rounds.pulls)[:, arm], drop_rounds(leap.pulls)[:, arm])
    for name, (one, other) in samples.items():
        if np.ptp(one) == 0 and np.ptp(other) == 0:
            assert one[0] == other[0], name
        else:
            assert ks_2samp(one, other, method="asymp").pvalue > FALSE_ALARM / TESTS, name


def test_the_two_sample_test_can_fail() -> None:
    """A gap that is off by a hundredth is seen."""
    options: dict[str, Any] = {"horizon": HORIZON, "replications": REPLICATIONS, "checkpoints": 1}
    rounds = vb.simulate(POLICIES[2], ENV, ATTACKS[1], engine="rounds", seed=1, **options)
    other = vb.simulate(POLICIES[2], vb.Bernoulli([0.8, 0.64, 0.4, 0.1]), ATTACKS[1], engine="leap", seed=2, **options)
    assert ks_2samp(rounds.pulls[:, 1], other.pulls[:, 1]).pvalue < FALSE_ALARM / TESTS


def test_compiled_and_interpreted_leaps_are_the_same() -> None:
    one, other = (
        vb.simulate(POLICIES[2], ENV, vb.RandomFlips(budget=BUDGET), horizon=10**9, seed=5, interpret=interpret)
        for interpret in (False, True)
    )
    assert one.engine == other.engine == "leap"
    for measure in MEASURES:
        assert np.array_equal(getattr(one, measure), getattr(other, measure))


def test_checkpoints_are_met_exactly_and_pulls_add_up() -> None:
    points = [1, 2, 3, 10, 999, 123_456_789, 10**12 - 1]
    for policy in (vb.SEWR(budget=100), vb.PEWR()):
        result = vb.simulate(policy, ENV, vb.Conceal(budget=100), horizon=10**12, checkpoints=points, replications=3)
        assert result.checkpoints.tolist() == [*points, 10**12]
        assert (result.pulls.sum(axis=1) == 10**12).all()
        assert (np.diff(result.pseudo_regret, axis=1) >= 0).all()
        assert (result.cost[:, -1] == 100.0).all()


def test_ten_to_the_fifteen_rounds() -> None:
    """The last digit still counts: pulls are whole, sums of 0/1 rewards too, and nothing overflows."""
    elimination = (vb.SEWR(budget=1000), vb.SEWR(budget=1000, radius="kl"), vb.SEWRStop(budget=1000), vb.PEWR())
    for policy in (*elimination, vb.KLUCBWR(budget=1000)):
        result = vb.simulate(policy, ENV, vb.Conceal(budget=1000), horizon=10**15, replications=2)
        assert (result.pulls.sum(axis=1) == 10**15).all()
        assert (result.pulls.argmax(axis=1) == 0).all()
        assert np.isfinite(result.realized_regret).all()
        assert (np.abs(result.observed_regret - result.realized_regret) <= 2 * result.cost + 1.0).all()


@pytest.mark.parametrize(
    ("policy", "environment", "attack", "bounded", "why"),
    [
        (vb.UCB1(), ENV, None, True, "a policy with quiet stretches, got ucb1, which may change its mind"),
        (vb.MSSEWR(), ENV, None, True, "got ms-se-wr"),
        (vb.SE(), vb.Beta([0.5, 0.4]), None, True, "arms with two rewards, whose sums are binomial, got beta"),
        (vb.SE(), ENV, vb.Invert(), True, "a strong attack, got invert"),
        (vb.SE(), ENV, vb.Swap(), False, r"rewards in \[0, 1\], got swap with bounded=False"),
    ],
)
def test_leaping_where_it_is_not_exact_is_refused_and_auto_falls_back(
    policy: vb.Policy, environment: vb.Environment, attack: vb.Adversary | None, bounded: bool, why: str
) -> None:
    options: dict[str, Any] = {"horizon": 100, "bounded": bounded}
    with pytest.raises(NotApplicable, match=f"engine leap: .*{why}"):
        vb.simulate(policy, environment, attack, engine="leap", **options)
    assert vb.simulate(policy, environment, attack, engine="auto", **options).engine == "rounds"


@kernel
def respond_with_one(state: float, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return 1.0, state


@dataclasses.dataclass(frozen=True, kw_only=True)
class Promote(StationaryAdversary):
    """Returns the same whatever was drawn, so that the losses are what costs."""

    name = "promote"
    reference = "test"
    knowledge = "black box"
    budget: float = float("inf")
    value: Any = 1.0  # a number, or not
    respond = staticmethod(respond_with_one)

    def init(self, game: Game) -> float:
        return self.value


@pytest.mark.parametrize("budget", [0.1, 7.3, 500.0, 12345.678])
def test_no_leap_overspends_and_the_last_bit_is_not_waited_for(budget: float) -> None:
    """At T = 10^11 a game that waited round by round for a bit that cannot be paid out would take an hour."""
    for attack in (Promote(budget=budget), vb.Swap(budget=budget, margin=0.3), vb.Conceal(budget=budget)):
        result = vb.simulate(vb.SEWR(budget=20_000), ENV, attack, engine="leap", horizon=10**11, replications=5)
        assert (result.cost <= budget).all()
        assert (result.cost[:, -1] == budget).all()


def test_a_large_budget_near_its_end_is_not_overspent() -> None:
    """Rounding is relative to what was spent, not to what is left."""
    means = [0.8495235838638263, 0.9553386617268631, 0.5096394459634144, 0.7203462702968297, 0.5505138564812213]
    for step in range(40):
        attack = vb.Swap(budget=2e14 + step / 32, margin=0.2450863271890905)
        result = vb.simulate(vb.SEWR(budget=1e15), vb.Deterministic(means), attack, horizon=10**15, interpret=True)
        assert (result.cost <= attack.budget).all()


def test_a_response_that_is_no_number_is_found_in_a_leap_too() -> None:
    with pytest.raises(GameFault, match="attack promote: expected a finite reward, got nan"):
        vb.simulate(vb.SE(), ENV, Promote(value=float("nan")), engine="leap", horizon=1_000, interpret=True)


def test_the_last_test_of_se_wr_stop_is_never_leapt_over() -> None:
    policy = vb.SEWRStop(budget=3, stop="multiplicative")
    state = policy.init(Game(2, 100))
    last = state.last_test
    assert policy.quiet(state._replace(next_test=last)) == last
    assert policy.quiet(state._replace(next_test=last + 1)) > 10**15


def test_an_environment_without_sums_leaps_only_without_realised_regret() -> None:
    class Unsummed(vb.Bernoulli):
        draw_total = None  # type: ignore[assignment]

    environment = Unsummed([0.9, 0.5])
    assert vb.simulate(vb.SE(), environment, horizon=100, interpret=True).engine == "leap"
    assert vb.simulate(vb.SE(), environment, horizon=100, interpret=True, realized=True).engine == "rounds"


def test_auto_leaps_where_it_can() -> None:
    assert vb.simulate(vb.SE(), ENV, vb.Conceal(budget=3), horizon=100).engine == "leap"
    assert vb.simulate(vb.PEWR(), ENV, vb.Conceal(budget=3), horizon=100, bounded=False).engine == "leap"
