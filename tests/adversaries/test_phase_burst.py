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
        if 2 * (2 ** (h + 1) - 1) <= horizon and n * means[1] > line:
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


@pytest.mark.parametrize("horizon", [10**6, 10**7])
def test_it_waits_for_the_cheapest_phase(horizon: int) -> None:
    """Neither the first that will do nor, at T = 10^7, the one with the lowest line: the gap counts too."""
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
    assert 0.85 * n < end < 0.95 * n


def test_it_bursts_once() -> None:
    """Also where the next phase, were it the first, would be worth it."""
    _, h, _ = min(phases(10**6, "paper", "paper", MEANS))
    view = vb.PEWR().init(Game(2, 10**6))
    for seen_before in (True, False):
        attack, state = vb.PhaseBurst(), vb.PhaseBurst().init(Game(2, 10**6, np.array(MEANS)))
        if seen_before:
            now = view._replace(phase=h)
            state = attack.look(state, Round.prompt(2 * (2**h - 1) + 1, 2), now)
            assert attack.respond(state, now, 0, 1.0) == (1.0, 0.0)
            assert attack.respond(state, now, 1, 1.0)[0] == 0.0
        later = view._replace(phase=h + 1)
        state = attack.look(state, Round.prompt(2 * (2 ** (h + 1) - 1) + 1, 2), later)
        assert attack.respond(state, later, 0, 1.0)[0] == (0.0 if seen_before else 1.0)


def test_where_no_phase_is_feasible_nothing_is_spent() -> None:
    """At T = 1,000 zeros cannot pull an arm of mean 0.5 below the line in any phase."""
    assert phases(1_000, "paper", "paper", (0.5, 0.4)) == []
    result = vb.simulate(vb.PEWR(), vb.Bernoulli([0.5, 0.4]), vb.PhaseBurst(budget=inf), horizon=1_000, seed=1)
    assert result.cost[0, -1] == 0.0
