"""Phase burst: PE-WR loses its best arm where the price of the cheapest phase is paid, and not below it."""

from math import ceil, inf, log, log2, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest

import vambrace as vb
from vambrace.protocols import Game, Round

MEANS = (0.9, 0.85)


class Phase(NamedTuple):
    price: float
    number: int
    pulls: int


def phases(horizon: int, radius: str, cap: str, means: tuple[float, float]) -> list[Phase]:
    """The feasible phases of a game of two arms that both stay in, and what dropping the best costs in each."""
    last = max(1, ceil(log2(horizon)) - 1)
    largest = sqrt(horizon) / 2 if cap == "paper" else sqrt(horizon / 2)
    found = []
    for h in range(last + 1):
        n, budget = 2**h, min(largest, 2.0 ** (last - h - 1))
        line = sqrt(n * log(last * horizon)) + budget
        if radius == "paper":
            line = 2 * (sqrt(n * log(2 * last * horizon)) + budget)
        if 2 * (2 ** (h + 1) - 1) <= horizon and n > line:
            found.append(Phase(n * (means[0] - means[1]) + line, h, n))
    return found


def drops(attack: vb.Adversary, horizon: int, radius: Any, cap: Any) -> float:
    """How often the best arm is lost."""
    options: dict[str, Any] = {"horizon": horizon, "replications": 40, "seed": 3, "checkpoints": 2, "realized": False}
    result = vb.simulate(vb.PEWR(radius=radius, cap=cap), vb.Bernoulli(MEANS), attack, **options)
    return float((result.pulls[:, 0] < horizon / 8).mean())


@pytest.mark.parametrize(
    ("horizon", "radius", "cap"),
    [
        (10**5, "paper", "paper"),
        (10**6, "paper", "paper"),
        (10**6, "tight", "repaired"),
        pytest.param(10**7, "paper", "repaired", marks=pytest.mark.slow),
    ],
)
def test_both_sides_of_the_price(horizon: int, radius: str, cap: str) -> None:
    """n_h gap + 2 sqrt(lambda n_h) + 2 C_h, give or take five deviations of the difference of the two sums."""
    price, _, n = min(phases(horizon, radius, cap, MEANS))
    margin = 5 * sqrt(n * sum(mean * (1 - mean) for mean in MEANS))
    assert drops(vb.PhaseBurst(budget=price + margin), horizon, radius, cap) == 1.0
    assert drops(vb.PhaseBurst(budget=price - margin), horizon, radius, cap) == 0.0
    assert 0.1 < drops(vb.PhaseBurst(budget=price), horizon, radius, cap) < 0.9
    # from the first round on, the same money is gone before it matters
    assert drops(vb.Conceal(budget=price + margin), horizon, radius, cap) == 0.0


def test_it_waits_for_the_cheapest_phase() -> None:
    """Not the first that will do; both arms are altered in it, and nothing before or after."""
    horizon = 10**6
    feasible = phases(horizon, "paper", "paper", MEANS)
    _, h, n = min(feasible)
    assert h > feasible[0].number
    starts = 2 * (2**h - 1)
    result = vb.simulate(
        vb.PEWR(),
        vb.Bernoulli(MEANS),
        vb.PhaseBurst(),
        horizon=horizon,
        seed=3,
        checkpoints=[starts, starts + 2 * n],
        realized=False,
    )
    before, after, end = result.cost[0]
    assert (before, after) == (0.0, end)
    assert 0.97 * n < end < 1.13 * n  # 0.9 + 0.15 a sweep, give or take five deviations


def test_it_tries_again_while_the_arm_is_active() -> None:
    _, h, _ = min(phases(10**6, "paper", "paper", MEANS))
    view = vb.PEWR().init(Game(2, 10**6))
    attack, state = vb.PhaseBurst(), vb.PhaseBurst().init(Game(2, 10**6, np.array(MEANS)))
    for phase, drop in ((h, False), (h + 1, False), (h + 2, True)):
        now = view._replace(phase=phase)
        view.arms.dropped[0] = drop
        state = attack.look(state, Round.prompt(2 * (2**phase - 1) + 1, 2), now)
        chances = [attack.respond(state, now, arm, 0.5) for arm in (0, 1)]
        assert chances == ([(0.0, 0.5), (0.0, 0.5)] if drop else [(1.0, 0.0), (1.0, 1.0)])


def test_a_budget_of_300_is_enough_for_five_arms() -> None:
    """With zeros for the best arm only, no phase that 300 can pay for is feasible (regret 4,400)."""
    env = vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5])
    result = vb.simulate(vb.PEWR(), env, vb.PhaseBurst(budget=300), horizon=10**5, replications=20, seed=0)
    assert result.pseudo_regret[:, -1].mean() > 13_000


def test_two_best_arms_must_both_fall() -> None:
    env = vb.Bernoulli([0.9, 0.9, 0.5, 0.5, 0.5])
    result = vb.simulate(vb.PEWR(), env, vb.PhaseBurst(budget=1_000), horizon=10**5, replications=20, seed=0)
    assert result.pseudo_regret[:, -1].min() > 39_000


def test_where_no_phase_is_feasible_nothing_is_spent() -> None:
    """At T = 100 a mean of 0 is above the line in every phase, even if another is 1."""
    assert phases(100, "paper", "paper", (0.5, 0.4)) == []
    result = vb.simulate(vb.PEWR(), vb.Bernoulli([0.5, 0.4]), vb.PhaseBurst(budget=inf), horizon=100, seed=1)
    assert result.cost[0, -1] == 0.0
