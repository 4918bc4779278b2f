"""How an arm stands with a policy that has a confidence interval: for the explanation of a live learner.

The intervals are those that the policy itself works with. Each includes the budget: what an attacker may have added to
the arm, or taken from it.
"""

from collections.abc import Callable
from math import sqrt

from vambrace.policies.radii import KL, PAPER, Rule, kl_upper
from vambrace.signatures import Standing

MOST = 2**50  # more answers than any game has


def clipped(low: float, high: float) -> tuple[float, float]:
    """The part of an interval that rewards in [0, 1] can have."""
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def unknown(dropped: bool) -> Standing:
    """Of an arm without answers."""
    return Standing(0.0, 1.0, dropped, None)


def radius_interval(rule: Rule, total: float, count: int) -> tuple[float, float]:
    """The interval of one arm for the elimination tests of SE-WR."""
    if rule.radius == KL:
        return kl_interval(total, count, rule.budget, rule.log_single)
    width = sqrt(rule.log_single / (count if rule.radius == PAPER else 2 * count)) + rule.budget / count
    return clipped(total / count - width, total / count + width)


def kl_interval(total: float, count: int, budget: float, level: float) -> tuple[float, float]:
    """All means q with count * kl(mean, q) <= level for a mean that the budget can have moved."""
    high = min((total + budget) / count, 1.0)
    missing = min((count - total + budget) / count, 1.0)
    return clipped(1.0 - kl_upper(max(missing, 0.0), level / count), kl_upper(max(high, 0.0), level / count))


def answers_needed(count: int, is_enough: Callable[[int], bool]) -> int | None:
    """How many more answers than `count` are enough; None: no number is."""
    if is_enough(max(count, 1)):
        return 0
    below, enough = max(count, 1), 2 * max(count, 1)
    while not is_enough(enough):
        below, enough = enough, 2 * enough
        if enough > MOST:
            return None
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if is_enough(middle) else (middle, enough)
    return enough - count
