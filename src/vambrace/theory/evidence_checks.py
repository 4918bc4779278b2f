"""Does a policy ask for as much evidence as its delta demands?

Radii are wide: a union over all arms and rounds makes SE-WR fail far more rarely than delta, even if delta were
0.999999 where 0.05 was asked for, so counting failures cannot tell the two apart. But games without noise can: there
the number of pulls after which an arm is given up follows from delta, and is computed here from the definition.
"""

from collections.abc import Callable, Iterator
from math import ceil, log, sqrt
from typing import Any

from vambrace.engine.simulation import simulate
from vambrace.environments import Deterministic
from vambrace.policies.radii import RADII
from vambrace.protocols import Policy
from vambrace.theory.checks import DELTA, counted

N_ARMS, HORIZON, BUDGET = 2, 3_000, 20.0
MEANS = (0.9, 0.3)  # of the game of KL-UCB-WR
PIECES = 16  # into which the radius "kl" cuts its budget
CLOSE = 1e-6  # indices that differ by less may be equal


def known_budget(armoured: Callable[[float, Any], Policy]) -> Iterator[dict[str, Any]]:
    """Play SE-WR with each radius where one arm always pays and the other never does: when is the other dropped?"""
    for radius in RADII:
        pulls = 1
        while not separated(radius, pulls):
            pulls += 1
        found = _play(armoured(BUDGET, radius), (1.0, 0.0))
        yield _row(f"SE-WR {radius} asks for the evidence that its delta demands", found[1] != pulls)


def separated(radius: str, pulls: int) -> bool:
    """Whether SE-WR may drop an arm that paid nothing in so many pulls, while the other paid in all of them.

    >>> [next(n for n in range(1, 999) if separated(radius, n)) for radius in ("paper", "tight", "kl")]
    [116, 43, 58]
    """
    single, difference = log(2 * N_ARMS * HORIZON / DELTA), log(N_ARMS * HORIZON / DELTA)
    if radius == "paper":
        return 2.0 * (sqrt(single / pulls) + BUDGET / pulls) < 1.0
    if radius == "tight":
        return sqrt(difference / pulls) + BUDGET / pulls < 1.0
    splits = [((k + 1) / PIECES * BUDGET, (PIECES - k) / PIECES * BUDGET) for k in range(PIECES)]
    return all(_upper(high, pulls, single) + _upper(low, pulls, single) < 1.0 for high, low in splits)


def own_budget(armoured: Callable[[float, float], Policy]) -> Iterator[dict[str, Any]]:
    """Play KL-UCB-WR where both arms always pay the same: are the pulls those of its index?

    The last pull of each arm was made while its index was the larger one, and an index falls with every pull.
    """
    best, other = _play(armoured(BUDGET, 0.0), MEANS)
    level = _level()

    def index(arm: int, pulls: int) -> float:
        mean = MEANS[arm] + BUDGET / pulls
        return 1.0 + mean if mean >= 1.0 else _upper(mean * pulls, pulls, level)

    failed = index(1, other) > index(0, best - 1) + CLOSE or index(1, other - 1) < index(0, best) - CLOSE
    yield _row("KL-UCB-WR asks for the evidence that its delta demands", failed)


def _level() -> float:
    """The f of KL-UCB-WR: the least number with e ceil(f ln T) exp(-f) <= delta, found by iteration."""
    level = 1.0
    for _ in range(100):
        level = 1.0 + log(ceil(level * log(HORIZON)) / DELTA)
    return level


def _upper(total: float, pulls: int, level: float) -> float:
    """The largest q with pulls * kl(mean, q) <= level."""
    mean = min(total / pulls, 1.0)
    low, high = mean, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if pulls * _kl(mean, middle) <= level:
            low = middle
        else:
            high = middle
    return high


def _kl(p: float, q: float) -> float:
    ends = (p * log(p / q) if p > 0.0 else 0.0), ((1.0 - p) * log((1.0 - p) / (1.0 - q)) if 1.0 - p > 0.0 else 0.0)
    return sum(ends) if q < 1.0 or p == 1.0 else float("inf")


def _play(policy: Policy, pays: tuple[float, float]) -> tuple[int, int]:
    result = simulate(policy, Deterministic(pays), horizon=HORIZON, checkpoints=1, interpret=True, progress=False)
    best, other = result.pulls[0].tolist()
    return best, other


def _row(promise: str, failed: bool) -> dict[str, Any]:
    about = {"instance": f"K = {N_ARMS}, T = {HORIZON:,}, B = {BUDGET:g}, no noise", "attack": "none"}
    return counted(promise, None, [failed], 0.0) | about | {"replications": 1, "spent": None}
