"""The game loop against the naive game, hostile adversaries, and the three regrets."""

import dataclasses
import re
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import vambrace as vb
from effort import examples
from tables import TableEnvironment, TableState
from vambrace.errors import GameFault
from vambrace.kernels import kernel
from vambrace.protocols import Floats, Game, Round
from vambrace.sampling import uniform


class Script(NamedTuple):
    returns: Floats  # what the adversary returns in each round, whatever happened
    seen: Floats  # what the policy then saw, filled in by the spy


@kernel
def recite(state: Script, round: Round, arm: int, reward: float, view: Any, rng: Any) -> tuple[float, Script]:
    return state.returns[round.t - 1], state


@kernel
def recite_to_all(state: Script, round: Round, rewards: Floats, rng: Any) -> Script:
    for k in range(len(rewards)):
        rewards[k] = state.returns[(round.t + k) % len(state.returns)]
    return state


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Reciting(vb.Adversary):
    """Returns a list of numbers, finite or not."""

    name = "reciting"
    reference = "test"
    strength = "strong"
    knowledge = "black box"
    returns: Floats
    budget: float = float("inf")
    alter = staticmethod(recite)

    def init(self, game: Game) -> Script:
        return Script(self.returns, np.zeros(game.required_horizon))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class RecitingToAll(Reciting):
    strength = "medium"  # type: ignore[assignment]
    corrupt = staticmethod(recite_to_all)


rewards_wanted = st.one_of(
    st.floats(-3.0, 3.0), st.sampled_from([0.1, 0.2, 0.3, 0.7, 1e-17, 1 - 1e-16, 1e99, -1e99, 5e-324])
)


@examples(80)
@given(
    wanted=st.lists(rewards_wanted, min_size=30, max_size=30),
    budget=st.sampled_from([0.0, 1e-300, 0.1, 0.3, 1 / 3, 2.7, 10.0, 1e6]),
    bounded=st.booleans(),
    medium=st.booleans(),
    interpret=st.booleans(),
)
def test_no_adversary_overspends(
    wanted: list[float], budget: float, bounded: bool, medium: bool, interpret: bool
) -> None:
    attack = (RecitingToAll if medium else Reciting)(returns=np.array(wanted), budget=budget)
    for environment in (vb.Bernoulli([0.5, 0.5]), vb.Deterministic([0.3, 0.7])):
        result = vb.simulate(
            vb.UCB1(),
            environment,
            attack,
            horizon=30,
            seed=1,
            bounded=bounded,
            checkpoints=range(1, 31),
            interpret=interpret,
        )
        assert (result.cost <= budget).all()
        assert (np.diff(result.cost[0]) >= 0).all()
        slack = 1e-12 * max(1.0, result.cost[0, -1])
        assert (np.abs(result.observed_regret - result.realized_regret) <= 2 * result.cost + slack).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("kind", [Reciting, RecitingToAll])
@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("interpret", [True, False])
def test_a_reward_that_is_no_number_names_the_adversary(bad: float, kind: Any, bounded: bool, interpret: bool) -> None:
    returns = np.full(20, 0.5)
    returns[7] = bad
    attack = kind(returns=returns, budget=30.0)
    with pytest.raises(
        GameFault, match=rf"attack reciting: expected a finite reward, got {re.escape(str(bad))} for arm \d in round"
    ):
        vb.simulate(vb.UCB1(), vb.Bernoulli([0.5, 0.5]), attack, horizon=20, bounded=bounded, interpret=interpret)


@kernel
def wild_select(state: Any, round: Round, rng: Any) -> tuple[int, float, int]:
    return 2, 1.0, 0


@pytest.mark.parametrize("interpret", [True, False])
def test_an_arm_that_does_not_exist_names_the_policy(interpret: bool) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Wild(vb.UCB1):
        name = "wild"
        select = staticmethod(wild_select)

    with pytest.raises(GameFault, match=r"policy wild: expected an arm in \[0, 1\], got 2 in round 1"):
        vb.simulate(Wild(), vb.Bernoulli([0.5, 0.5]), horizon=20, interpret=interpret)


@kernel
def draw_wildly(state: Any, arm: int, rng: Any) -> float:
    return np.nan if arm == 0 else 7.0


@pytest.mark.parametrize("attack", [None, vb.Conceal(arm=1)])
def test_a_reward_outside_the_unit_interval_names_the_environment(attack: vb.Adversary | None) -> None:
    class Wild(vb.Beta):
        name = "wild"
        draw = staticmethod(draw_wildly)

    with pytest.raises(GameFault, match=r"environment wild: expected a reward in \[0, 1\], got nan in round 1"):
        vb.simulate(vb.UCB1(), Wild([0.5, 0.5]), attack, horizon=20, interpret=True)


def test_a_bounded_medium_attack_is_clipped_before_it_is_metered() -> None:
    attack = RecitingToAll(returns=np.full(20, 5.0))
    result = vb.simulate(vb.UCB1(), vb.Deterministic([0.5, 0.25]), attack, horizon=20, interpret=True)
    assert result.cost[0, -1] == 20 * 0.75


def test_a_chance_that_is_no_probability_names_the_adversary() -> None:
    @kernel
    def respond(state: Any, view: Any, arm: int, reward: float) -> tuple[float, float]:
        return np.nan, 0.0

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Unsure(vb.Conceal):
        @property
        def respond(self) -> Any:  # type: ignore[override]
            return respond

    for engine in ("rounds", "leap"):
        with pytest.raises(GameFault, match="attack conceal: expected a finite reward, got nan"):
            vb.simulate(vb.SE(), vb.Bernoulli([0.9, 0.5]), Unsure(), horizon=1000, engine=engine, interpret=True)


POLICIES = [
    (vb.SEWR(budget=4, delta=0.5), lambda: naive.SEWR(3, 600, budget=4, delta=0.5)),
    (vb.PEWR(delta=0.5), lambda: naive.PEWR(3, 600, delta=0.5)),
    (vb.UCB1(), lambda: naive.UCB1(3, 600)),
]


@pytest.mark.parametrize(("policy", "make_oracle"), POLICIES, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize("attack_name", ["conceal", "swap"])
@pytest.mark.parametrize("budget", [0.0, 0.35, 9.3, 1e6])
@pytest.mark.parametrize("bounded", [True, False])
def test_the_whole_game_equals_the_naive_one(
    policy: vb.Policy, make_oracle: Any, attack_name: str, budget: float, bounded: bool
) -> None:
    table = (np.random.default_rng(8).random((600, 3)) < [0.9, 0.6, 0.3]).astype(float)
    state = TableState(table, np.full(600, -1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    environment = TableEnvironment(state)
    means = environment.arm_means().tolist()
    attack: vb.Adversary
    twin: Any
    if attack_name == "conceal":
        attack, twin = vb.Conceal(budget=budget), naive.Conceal(means)
    else:
        attack, twin = vb.Swap(budget=budget, margin=0.2), naive.Swap(means, int(np.argmin(means)), 0.2)
    result = vb.simulate(policy, environment, attack, horizon=600, checkpoints=1, bounded=bounded)
    record = naive.game(make_oracle(), lambda t, arm: float(table[t, arm]), twin, budget, bounded, 600)
    assert state.arms.tolist() == record.arms
    assert result.pulls[0].tolist() == np.bincount(record.arms, minlength=3).tolist()
    assert Fraction(result.cost[0, -1]) >= record.cost
    assert result.cost[0, -1] == pytest.approx(float(record.cost), rel=1e-12, abs=1e-12)
    assert result.pseudo_regret[0, -1] == pytest.approx(naive.pseudo_regret(means, record.arms), rel=1e-12, abs=1e-9)


def test_regrets_equal_the_naive_ones_on_a_full_table() -> None:
    """With realized=True every arm is drawn each round; the naive regrets see the same table."""
    rounds, means = 400, (0.8, 0.6, 0.2)
    environment, attack = vb.Beta(means, concentration=3), vb.Swap(budget=20, margin=0.3)
    result = vb.simulate(
        vb.UCB1(), environment, attack, horizon=rounds, seed=5, realized=True, checkpoints=1, interpret=True
    )
    # replay the streams of replication 0: the pulled arm from stream 1, the others, in order, from stream 3
    from vambrace.sampling import stream

    drawn, unpulled, state = stream(5, 0, 1), stream(5, 0, 3), environment.init()
    oracle, table, observed, arms, spent = naive.UCB1(3, rounds), [], [], [], 0.0
    shifts = attack.init(Game(len(environment.arm_means()), rounds, environment.arm_means()))
    for _ in range(rounds):
        arm = oracle.ask()
        row = [0.0] * 3
        row[arm] = environment.draw(state, arm, drawn)
        for k in range(3):
            if k != arm:
                row[k] = environment.draw(state, k, unpulled)
        seen = max(row[arm] - shifts[arm], 0.0)
        seen = max(seen, row[arm] - (20.0 - spent))
        spent += row[arm] - seen
        oracle.tell(arm, seen)
        table.append(row)
        observed.append(seen)
        arms.append(arm)
    assert result.pulls[0].tolist() == np.bincount(arms, minlength=3).tolist()
    assert result.realized_regret[0, -1] == pytest.approx(naive.realised_regret(table, arms), rel=1e-9)
    assert result.observed_regret[0, -1] == pytest.approx(naive.observed_regret(table, arms, observed), rel=1e-9)


def test_lazily_drawn_regret_has_the_law_of_the_full_table() -> None:
    """Two samples of 3,000 final realised regrets: a Kolmogorov-Smirnov test, false alarm one in a million."""
    from scipy.stats import ks_2samp

    options: dict[str, Any] = {"horizon": 300, "replications": 3000, "checkpoints": 5}
    lazy = vb.simulate(vb.UCB1(), vb.Bernoulli([0.7, 0.5, 0.5]), seed=1, **options)
    full = vb.simulate(vb.UCB1(), Unsummed([0.7, 0.5, 0.5]), seed=2, realized=True, **options)
    for column in range(5):
        assert ks_2samp(lazy.realized_regret[:, column], full.realized_regret[:, column]).pvalue > 1e-6


@kernel
def draw_coin(state: Any, arm: int, rng: Any) -> float:
    return 1.0 if uniform(rng) < state.means[arm] else 0.0


class Unsummed(vb.Bernoulli):
    """Bernoulli arms that pretend to have no closed form for sums."""

    draw_total = None  # type: ignore[assignment]
    draw = staticmethod(draw_coin)


def test_pseudo_regret_does_not_depend_on_whether_the_realised_one_is_asked_for() -> None:
    environment = vb.Beta([0.7, 0.4], concentration=2)
    with_it, without = (
        vb.simulate(vb.UCB1(), environment, vb.Conceal(budget=5), horizon=500, seed=3, realized=realized)
        for realized in (True, False)
    )
    assert np.array_equal(with_it.pseudo_regret, without.pseudo_regret)
    assert np.array_equal(with_it.cost, without.cost)


def test_a_medium_adversary_acts_before_the_arm_is_known_and_pays_one_a_round() -> None:
    result = vb.simulate(
        vb.UCB1(), vb.Bernoulli([1.0, 0.0]), vb.Invert(budget=50), horizon=200, checkpoints=range(1, 201), seed=1
    )
    assert np.array_equal(result.cost[0], np.minimum(np.arange(1, 201), 50.0))
    first = vb.simulate(vb.UCB1(), vb.Bernoulli([1.0, 0.0]), vb.Invert(budget=50), horizon=50, seed=1)
    assert first.pulls[0, 1] > first.pulls[0, 0], "while inverted, the worse arm looks better"


def test_log_spaced_checkpoints_end_at_the_horizon() -> None:
    result = vb.simulate(vb.UCB1(), vb.Bernoulli([0.5, 0.4]), horizon=12345, checkpoints=20)
    points = result.checkpoints
    assert points[0] == 1
    assert points[-1] == 12345
    assert (np.diff(points) > 0).all()
    ratios = points[8:] / points[7:-1]
    assert ratios.max() / ratios.min() < 1.2
    chosen = vb.simulate(vb.UCB1(), vb.Bernoulli([0.5, 0.4]), horizon=12345, checkpoints=points.tolist())
    assert np.array_equal(chosen.pseudo_regret, result.pseudo_regret)


def test_checkpoints_do_not_change_the_game() -> None:
    few, many = (
        vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.1]), vb.Conceal(budget=5), horizon=5000, checkpoints=c)
        for c in (1, 500)
    )
    assert np.array_equal(few.pulls, many.pulls)
    assert few.cost[0, -1] == many.cost[0, -1]


@pytest.mark.parametrize("interpret", [True, False])
@pytest.mark.parametrize(("wanted", "change"), [(7.0, 0.5), (-3.0, 0.5), (0.75, 0.25)])
@pytest.mark.parametrize("kind", [Reciting, RecitingToAll])
def test_altered_rewards_are_clipped_to_the_unit_interval(
    kind: Any, wanted: float, change: float, interpret: bool
) -> None:
    """Arms pay 0.5, so that the cost of a round shows what was delivered."""
    arms, attack = vb.Deterministic([0.5, 0.5]), kind(returns=np.full(20, wanted))
    clipped = vb.simulate(vb.UCB1(), arms, attack, horizon=20, interpret=interpret)
    assert clipped.cost[0, -1] == 20 * change
    free = vb.simulate(vb.UCB1(), arms, attack, horizon=20, interpret=interpret, bounded=False)
    assert free.cost[0, -1] == 20 * abs(wanted - 0.5)
