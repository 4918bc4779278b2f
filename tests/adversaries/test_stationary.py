"""`alter` as it follows from `respond`: certain, impossible and by the toss of a coin."""

from typing import Any

import numpy as np

from vambrace.adversaries.stationary import alter
from vambrace.kernels import interpreted, kernel
from vambrace.protocols import Round
from vambrace.sampling import stream


@kernel
def respond(state: float, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return state, 0.25


def test_chances() -> None:
    act = interpreted(alter, {"respond": respond, "LOOK": False})
    rng = stream(3)
    before = rng.copy()
    assert act(1.0, Round.prompt(1, 1), 0, 1.0, None, rng) == (0.25, 1.0)
    assert act(0.0, Round.prompt(1, 1), 0, 1.0, None, rng) == (1.0, 0.0)
    assert np.array_equal(rng, before), "a certain response tosses no coin"
    hits = sum(act(0.3, Round.prompt(1, 1), 0, 1.0, None, rng)[0] == 0.25 for _ in range(4_000))
    assert abs(hits - 1_200) < 5 * np.sqrt(4_000 * 0.3 * 0.7)  # false alarm below one in a million


@kernel
def look(state: float, round: Round, view: Any) -> float:
    return 1.0 if round.t >= view else state


def test_an_attack_that_looks_makes_up_its_mind_before_it_responds() -> None:
    act = interpreted(alter, {"respond": respond, "look": look, "LOOK": True})
    assert act(0.0, Round.prompt(4, 1), 0, 1.0, 5, stream(3)) == (1.0, 0.0)
    assert act(0.0, Round.prompt(5, 1), 0, 1.0, 5, stream(3)) == (0.25, 1.0)
