"""The checks of the price of armour hold, and a policy with half of its armour makes them fail."""

import math

import pytest

import vambrace as vb
from vambrace import theory
from vambrace.policies.kl_ucb_wr import State
from vambrace.protocols import Game, Round, Stream
from vambrace.theory import price_checks
from vambrace.theory.checks import DELTA, Check, judged

SMALL = ((0.9, 0.7, 0.5, 0.3), 20_000, 100.0)
LEVEL = 1e-5


def bounded(attack: vb.Adversary | None) -> list[Check]:
    return [judged(found, LEVEL) for found in price_checks.upper_bound(SMALL, attack, 60, 1, False)]


def optimistic(attack: vb.Adversary) -> Check:
    (found,) = price_checks.optimism(SMALL, attack, 60, 1, False)
    return judged(found, LEVEL)


@pytest.mark.parametrize("attack", price_checks.attacks(100.0)[::4], ids=str)
def test_the_bound_holds(attack: vb.Adversary) -> None:
    bound, free = bounded(attack)
    assert bound.holds
    assert 0.2 < (bound.largest_ratio or 0) < 1
    assert (free.largest_ratio or 1) < (bound.largest_ratio or 0)


def test_the_event_holds() -> None:
    found = optimistic(vb.Mimic(budget=100.0, depth=1.2))
    assert found.holds
    assert found.failures == 0


@pytest.mark.parametrize("attack", [vb.Conceal(budget=100.0), vb.Mimic(budget=100.0, depth=1.2)], ids=str)
def test_half_the_budget_in_the_index_is_caught(attack: vb.Adversary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event of the proof fails in most games."""

    class Halved(vb.KLUCBWR):
        def init(self, game: Game) -> State:
            state = super().init(game)
            return state._replace(limits=state.limits._replace(budget=state.limits.budget / 2))

    monkeypatch.setattr(
        price_checks, "armoured", lambda budget, commit: Halved(budget=budget, delta=DELTA, commit=commit)
    )
    found = optimistic(attack)
    assert not found.holds
    assert found.failures > 30
    if isinstance(attack, vb.Conceal):
        assert found.failures > 55
        assert not bounded(attack)[0].holds


def test_the_index_is_watched_in_every_round() -> None:
    """Also when the attack has nothing left: the engine would not ask it any more."""
    indices: list[float] = []

    def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
        indices.append(float(state.indices[0]))
        return vb.KLUCBWR.select(state, round, rng)

    class Told(vb.KLUCBWR):
        pass

    Told.select = staticmethod(select)
    watching = price_checks.Watching(attack=vb.Conceal(budget=1))
    result = vb.simulate(Told(budget=0, commit=0.0), vb.Bernoulli([0.6, 0.4]), watching, horizon=500, seed=1)
    assert result.cost[0, -1] == 1
    assert indices.index(min(indices)) > 250
    assert min(indices) == watching.lowest[-1][0]


@pytest.mark.parametrize("policy", [vb.KLUCBWR(budget=price_checks.BUDGET), vb.KLUCB()], ids=str)
def test_theorem_b_holds_for_who_pays_and_who_does_not(policy: vb.Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without armour the arm is pulled rarely in both games, and the other game is lost."""
    monkeypatch.setattr(price_checks, "HORIZON", 5_000)
    found = list(price_checks.lower_bound(policy, 60, 1))
    assert all(judged(row, LEVEL).holds for row in found)
    for row in found:
        if isinstance(policy, vb.KLUCBWR):
            assert row["failures"] == 0
        else:
            assert row["failures"] > 50
            assert row["elsewhere"] > 45


def test_theorem_b_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the attack the two games do not look the same: KL-UCB finds the raised arm."""
    monkeypatch.setattr(price_checks, "HORIZON", 5_000)
    monkeypatch.setattr(price_checks, "Mimic", lambda **_: None)
    assert not all(judged(row, LEVEL).holds for row in price_checks.lower_bound(vb.KLUCB(), 60, 1))


def test_failures_that_happen_elsewhere_are_taken_off() -> None:
    row = {"promise": "p", "instance": "i", "attack": "a", "spent": None, "largest_ratio": None, "allowed": 0.01}
    assert judged(row | {"replications": 400, "failures": 400, "elsewhere": 400}, LEVEL).at_least == 0
    assert judged(row | {"replications": 400, "failures": 400, "elsewhere": 0}, LEVEL).at_least > 0.9
    assert judged(row | {"replications": 400, "failures": 400}, LEVEL).at_least > 0.95


def test_the_bounds_are_in_the_catalogue() -> None:
    found = theory.bounds("kl-ucb-wr", gaps=[0.1, 0.2], horizon=10**6, budget=100)
    assert [bound.name for bound in found if bound.kind == "upper"] == [
        "KL-UCB-WR, gap-dependent",
        "KL-UCB-WR, gap-free",
    ]
    assert found[-1].value == 200  # the price of armour
    assert [b.kind for b in theory.bounds("kl-ucb-wr:budget=5", gaps=[0.1], horizon=10**6, budget=6)] == ["lower"] * 3
    default = theory.bounds("kl-ucb-wr", gaps=[0.1], horizon=10**6)
    assert math.isclose(default[0].value, theory.kl_ucb_wr([0.1], horizon=10**6, budget=500_000**0.5).value)
