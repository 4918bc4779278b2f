"""When arms are open: the checks of `arms_open`, and the regret against the best open arm."""

from typing import Any

import numpy as np
import pytest

import vambrace as vb
from tables import TableAttack, TableState
from vambrace.engine.openings import Openings
from vambrace.engine.setup import Setup
from vambrace.errors import GameFault, InvalidParameter, NotApplicable

MEANS = (0.9, 0.4, 0.6)
WINDOWS: dict[int, list[tuple[int, int | None]]] = {0: [(11, 30), (50, None)], 2: [(1, 20), (25, 61)]}


def test_regret_is_against_the_best_open_arm() -> None:
    """Counted round by round, from the windows themselves."""
    rounds = 100
    state = TableState(np.full((rounds, 3), 0.5), np.full(rounds, -1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    options: dict[str, Any] = {"horizon": rounds, "checkpoints": [5, 24, 70], "interpret": True}
    result = vb.simulate(
        vb.EpsilonGreedy(), vb.Bernoulli(MEANS), TableAttack(state=state), arms_open=WINDOWS, **options
    )
    total, expected = 0.0, []
    for t in range(1, rounds + 1):
        is_open = [11 <= t < 30 or t >= 50, True, t < 20 or 25 <= t < 61]
        arm = int(state.arms[t - 1])
        assert is_open[arm]
        total += max(mean for mean, free in zip(MEANS, is_open, strict=True) if free) - MEANS[arm]
        expected.append(total)
    np.testing.assert_allclose(result.pseudo_regret[0], [expected[t - 1] for t in (5, 24, 70, 100)], atol=1e-9)
    assert result.arms_open == (((11, 30), (50, 101)), ((1, 101),), ((1, 20), (25, 61)))


def test_an_arm_that_comes_late_is_found_and_costs_nothing_before() -> None:
    late = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), horizon=2_000, arms_open={0: [(1_001, None)]})
    assert late.pseudo_regret[0, late.checkpoints <= 1_000].max() == 0.0
    assert late.pulls[0, 0] > 800
    assert str(late).startswith("ucb1 without attack (arms open and close): regret")


def test_a_window_after_the_horizon_is_not_reached() -> None:
    openings = Openings.check({0: [(10, 20), (200, None)], 1: [(500, 600)]}, 3, 100)
    assert openings.windows == (((10, 20),), (), ((1, 101),))
    result = vb.simulate(vb.UCB1(), vb.Bernoulli(MEANS), horizon=100, arms_open={1: [(500, 600)]})
    assert result.pulls[0, 1] == 0


def test_openings_come_before_closings() -> None:
    changes = Openings.check({0: [(1, 50)], 1: [(50, None)]}, 2, 100).changes()
    assert list(zip(*(each.tolist() for each in changes), strict=True)) == [
        (1, 1, False),
        (50, 1, True),
        (50, 0, False),
    ]


BAD: dict[str, tuple[Any, str]] = {
    "no mapping": ([(1, 5)], r"arms_open: expected windows such as \{2:"),
    "no such arm": ({3: [(1, 5)]}, r"arms_open: arm: expected a whole number in \[0, 2\], got 3"),
    "no window": ({1: []}, r"arms_open\[1\]: expected windows"),
    "no pair": ({1: [5]}, "got 5"),
    "empty": ({1: [(5, 5)]}, r"arms_open\[1\]: end: expected a whole number in \[6"),
    "first round": ({1: [(0, 5)]}, "first round: expected a whole number in"),
    "overlap": ({1: [(1, 5), (5, 9)]}, "expected a later first round than 5, got 5"),
    "nobody": (
        {0: [(1, 9)], 1: [(1, 12)], 2: [(20, None)]},
        "expected an open arm in every round, got none in round 12",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_windows_are_refused(name: str) -> None:
    windows, message = BAD[name]
    with pytest.raises(InvalidParameter, match=message):
        vb.simulate(vb.UCB1(), vb.Bernoulli(MEANS), horizon=100, arms_open=windows)


def test_what_has_no_meaning_is_refused() -> None:
    game: dict[str, Any] = {"horizon": 100, "arms_open": WINDOWS}
    with pytest.raises(NotApplicable, match="realized: expected false or none with arms_open, got true"):
        vb.simulate(vb.UCB1(), vb.Bernoulli(MEANS), realized=True, **game)
    with pytest.raises(NotApplicable, match="engine leap: expected prompt answers and arms that are always open"):
        vb.simulate(vb.SE(), vb.Bernoulli(MEANS), engine="leap", **game)
    assert vb.simulate(vb.SE(), vb.Bernoulli(MEANS), **game).engine == "rounds"


def test_a_closed_arm_must_not_be_played() -> None:
    class Stubborn(vb.UCB1):
        select = staticmethod(lambda state, round, rng: (0, 1.0, 0))

    with pytest.raises(GameFault, match="policy ucb1: expected an open arm, got 0 in round 1"):
        vb.simulate(Stubborn(), vb.Bernoulli(MEANS), horizon=100, arms_open=WINDOWS)


def test_ordinary_games_are_not_compiled_anew() -> None:
    """The constants are off, and the record has no queue and no changes: one program as before."""
    setup = Setup.check(vb.UCB1(), vb.Bernoulli(MEANS), None, horizon=10, bounded=True, realized=None)
    assert {name: setup.slots()[name] for name in ("ARMS_CHANGE", "LATE")} == {"ARMS_CHANGE": False, "LATE": False}
