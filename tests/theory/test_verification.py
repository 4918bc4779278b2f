"""The verification passes, and a policy without its armour makes it fail."""

import dataclasses
import math

import numpy as np
import pytest

import vambrace as vb
from vambrace import registry, theory
from vambrace.errors import InvalidParameter
from vambrace.protocols import Game
from vambrace.theory import checks as checks_of
from vambrace.theory import price_checks, upper
from vambrace.theory import verification as lab
from vambrace.theory.checks import DELTA, Check

SMALL = ((0.9, 0.7, 0.5, 0.3), 50_000, 200.0)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One instance, the two attacks that leap, and no game of Theorem 1."""
    monkeypatch.setattr(lab, "INSTANCES", (SMALL,))
    attacks = [vb.Conceal(budget=200.0, stop_when_dropped=True), vb.EliminationRush(budget=200.0)]
    monkeypatch.setattr(lab, "_attacks", lambda budget: attacks)
    monkeypatch.setattr(lab, "_concealment_game", lambda replications, seed: iter(()))
    monkeypatch.setattr(price_checks, "games", lambda instances: [])
    monkeypatch.setattr(price_checks, "players", list)


@pytest.mark.usefixtures("short")
def test_the_bounds_hold() -> None:
    checks = lab.verify(replications=60)
    assert {check.promise for check in checks} >= {"SE-WR tight keeps the best arm", "SE-WR, gap-free, additive"}
    assert all(check.holds for check in checks)
    ratios = [check.largest_ratio for check in checks if check.largest_ratio is not None]
    assert all(0 < ratio < 1 for ratio in ratios)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("radius", ["paper", "tight", "kl"])
def test_without_the_budget_term_it_fails(radius: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy is told zero where the bounds reckon with 200."""
    monkeypatch.setattr(lab, "RADII", (radius,))
    monkeypatch.setattr(lab, "armoured", lambda budget, radius: vb.SEWR(budget=0.0, delta=DELTA, radius=radius))
    violated = [check for check in lab.verify(replications=60) if not check.holds]
    assert {check.promise for check in violated} >= {f"SE-WR {radius} keeps the best arm"}
    if radius != "kl":
        assert any(check.largest_ratio is not None and check.largest_ratio > 1 for check in violated)


@pytest.mark.usefixtures("short")
def test_a_delta_that_no_count_of_failures_shows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "armoured", lambda budget, radius: vb.SEWR(budget=budget, delta=0.999999, radius=radius))
    violated = {check.promise for check in lab.verify(replications=60) if not check.holds}
    wanted = {f"SE-WR {radius} asks for the evidence that its delta demands" for radius in ("paper", "tight", "kl")}
    assert violated == wanted


@pytest.mark.usefixtures("short")
def test_with_half_the_tight_radius_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of sqrt(L'/n) + C/n."""
    monkeypatch.setattr(lab, "RADII", ("tight",))

    class Halved(vb.SEWR):
        def init(self, game: Game) -> object:  # type: ignore[override]
            state = super().init(game)
            rule = state.rule._replace(log_equal=state.rule.log_equal / 4, budget=state.rule.budget / 2)
            return state._replace(rule=rule)

    monkeypatch.setattr(lab, "armoured", lambda budget, radius: Halved(budget=budget, delta=DELTA, radius=radius))
    checks = lab.verify(replications=60)
    assert not all(check.holds for check in checks)


def test_theorem_one_holds_for_every_policy_and_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(lab._concealment_game(3, 1))
    assert len(found) == len(registry.known("policy"))
    assert all(row["failures"] == 0 for row in found)
    assert all(row["largest_ratio"] <= 1 for row in found)
    true = theory.concealment(8, horizon=48, budget=12)
    monkeypatch.setattr(theory, "concealment", lambda *_, **__: dataclasses.replace(true, value=1.3 * true.value))
    assert any(row["failures"] > 0 for row in lab._concealment_game(3, 1))


def test_a_check_is_judged_by_its_lower_limit() -> None:
    def check(at_least: float, spent: float | None = None) -> Check:
        return Check(
            promise="p",
            instance="i",
            attack="a",
            replications=10,
            spent=spent,
            largest_ratio=None,
            failures=1,
            allowed=0.05,
            at_least=at_least,
        )

    assert check(0.05).holds
    assert not check(0.051).holds
    assert check(0.0, spent=0.5).holds
    assert not check(0.0, spent=0.49).holds, "an idle attack proves nothing"
    assert lab.worst([check(0.01), check(0.06), check(0.02)]) == [check(0.06)]
    assert [row["holds"] for row in lab.summary([check(0.01), check(0.06)])] == [True, False]


@pytest.mark.usefixtures("short")
def test_so_few_replications_that_nothing_could_fail_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="replications: expected a whole number in"):
        lab.verify(replications=2)


@pytest.mark.usefixtures("short")
def test_an_idle_attack_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "_attacks", lambda budget: [vb.RandomFlips(budget=200.0, rate=1e-4)])
    checks = lab.verify(replications=20)
    assert not any(check.holds for check in checks if check.spent is not None)


@pytest.mark.usefixtures("short")
def test_a_bound_that_is_no_number_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = dataclasses.replace(theory.se_wr([0.1], horizon=100, budget=0), value=math.nan)
    monkeypatch.setattr(upper, "se_wr", lambda *_, **__: broken)
    failed = {check.promise for check in lab.verify(replications=20) if not check.holds}
    assert failed == {"SE-WR, gap-dependent"}


@pytest.mark.usefixtures("short")
def test_each_promise_is_held_against_its_own_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ratio is that of the largest regret to this very bound; limits are at a share of the false alarm."""
    levels: list[float] = []

    def watched(failures: int, trials: int, level: float) -> float:
        levels.append(level)
        return 1.0

    monkeypatch.setattr(checks_of, "lower_limit", watched)
    checks = lab.verify(replications=20)
    assert set(levels[1:]) == {lab.FALSE_ALARM / len(checks)}
    means, horizon, budget = SMALL
    for radius in ("paper", "tight"):
        attack = vb.EliminationRush(budget=budget)
        policy = vb.SEWR(budget=budget, delta=DELTA, radius=radius)
        result = vb.simulate(
            policy, vb.Bernoulli(means), attack, horizon=horizon, replications=20, seed=2026, checkpoints=1
        )
        bound = theory.se_wr([0.2, 0.4, 0.6], horizon=horizon, budget=budget, delta=DELTA, radius=radius)
        (found,) = (c for c in checks if c.promise == bound.name and c.attack.startswith("elimination"))
        assert found.largest_ratio == pytest.approx(result.pseudo_regret[:, -1].max() / bound.value)
        assert found.allowed == (2 if radius == "tight" else 1) * DELTA


def test_an_arm_is_kept_if_at_most_one_sweep_behind() -> None:
    plain = vb.simulate(vb.SE(), vb.Bernoulli([0.9, 0.1]), horizon=100, replications=3, interpret=True)
    result = dataclasses.replace(plain, pulls=np.array([[49, 51], [50, 51], [51, 49]]))
    assert lab._kept(result, 0).tolist() == [False, True, True]
