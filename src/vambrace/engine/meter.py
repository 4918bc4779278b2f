"""The budget meter: what an alteration costs, and where it is cut off.

The engine distrusts the adversary. Sums are rounded upwards, so that the cost it reports is never below the true one
and never above the budget, not by a single unit in the last place.
"""

import numpy as np

from vambrace.kernel import kernel, rare_kernel
from vambrace.protocols import Floats

STEPS = 4  # how often a cut alteration is shortened by one unit in the last place before it is given up


@kernel
def add_up(a: float, b: float) -> float:
    """The sum, rounded upwards: Knuth's error term tells whether rounding went down."""
    total = a + b
    other = total - a
    error = (a - (total - other)) + (b - other)
    return np.nextafter(total, np.inf) if error > 0.0 else total


@kernel
def distance(raw: float, altered: float) -> float:
    """|raw - altered|, rounded upwards."""
    return add_up(max(raw, altered), -min(raw, altered))


@kernel
def meter(raw: float, wanted: float, spent: float, budget: float) -> tuple[float, float]:
    """The reward that the learner sees and the total cost after it.

    An alteration that the budget does not cover is moved towards the raw reward until it does. Whatever rounding leaves
    of the budget then counts as spent: the attacker is done, and nobody waits for a last bit that cannot be paid out.
    """
    if spent >= budget:
        return raw, spent
    after = add_up(spent, distance(raw, wanted))
    if after <= budget:
        return wanted, after
    left = budget - spent
    unit = max(np.nextafter(raw, 2.0) - raw, np.nextafter(left, np.inf) - left)  # what rounding may have added
    for _ in range(STEPS):
        seen = raw - left if wanted < raw else raw + left
        after = add_up(spent, distance(raw, seen))
        if after <= budget:
            return seen, budget
        left -= unit
    return raw, budget


@rare_kernel
def meter_all(raw: Floats, wanted: Floats, spent: float, budget: float) -> float:
    """The same for a medium adversary, in place: the cost of a round is the largest change of any arm."""
    cost = 0.0
    for k in range(len(raw)):
        cost = max(cost, distance(raw[k], wanted[k]))
    after = add_up(spent, cost)
    if after <= budget:
        return after
    highest = spent
    for k in range(len(raw)):
        wanted[k], after = meter(raw[k], wanted[k], spent, budget)
        highest = max(highest, after)
    return highest
