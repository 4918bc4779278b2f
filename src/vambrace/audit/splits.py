"""The cheapest attack under which a rival may be as good as the winner: the worst split of the budget between the two.

Spending a on the winner brings its lower limit down to q(a); b(a) is what it then takes to bring the rival's upper
limit up to q(a). We look for the least a + b(a). More spending never helps the winner, so b falls as a grows. For
injected events under an adaptive design, where fewer events also mean a larger level, the reason is: without one of
the k successes the tail at q grows at least by the factor k / (n q) and the level by (n / (n - 1))^2, and at levels of
at most 1.5 / (pi n)^2, which two arms or more have, q < k / n (1 - 1 / n)^2.

alter, suppress  The limits are such that {(a, q): q may be the mean at cost a} is convex: for Chernoff's bound because
                 n kl(k / n, q) is jointly convex in (k, q), and in (n, q) for q <= k / n; the exact tails follow it.
                 So a + b(a) is convex and bisection on its differences finds the least. For whole events b is real at
                 first: as a is an integer, the least of a + ceil(b) is the ceiling of the least of a + b, and a + b
                 has no plateaus, on which bisection would fail.
inject           Here the costs are concave: at one level of Chernoff's bound the successes that the winner may keep
                 grow with the log odds of q at the rate n (p - q) / ln(p / q), which itself grows; the exact tails and
                 the levels of an adaptive design follow. So the worst attack spends everything on one of the two.

Where the exact tails are only said to follow Chernoff's bound, the tests compare with every split.
"""

from math import ceil

from vambrace.audit.limits import INJECT, Arm, Criterion, least_cost, least_whole_cost, lower_limit
from vambrace.kernels import rare_kernel

GOLDEN = 0.6180339887498949


@rare_kernel
def cheapest_attack(criterion: Criterion, winner: Arm, rival: Arm, whole: bool) -> float:
    """The least cost at which the winner is not above the rival; 0: it is not even without attack."""
    ceiling = 1.0 - lower_limit(criterion, rival, 0.0)
    if lower_limit(criterion, winner, 0.0) <= ceiling:
        return 0.0
    if criterion.threat == INJECT:
        floor = 1.0 - lower_limit(criterion, winner, 0.0)
        return min(least_whole_cost(criterion, winner, ceiling), least_whole_cost(criterion, rival, floor))
    last = least_cost(criterion, winner, ceiling)
    if whole:
        return by_bisection(criterion, winner, rival, float(ceil(last)))
    return by_golden_section(criterion, winner, rival, last)


@rare_kernel
def price(criterion: Criterion, winner: Arm, rival: Arm, cost: float) -> float:
    """The total cost of an attack that spends `cost` on the winner."""
    return cost + least_cost(criterion, rival, 1.0 - lower_limit(criterion, winner, cost))


@rare_kernel
def by_bisection(criterion: Criterion, winner: Arm, rival: Arm, last: float) -> float:
    """The least ceiling of the prices of whole costs in [0, last], which are convex."""
    low, high = 0.0, last
    while low < high:
        middle = float((low + high) // 2.0)
        if price(criterion, winner, rival, middle) <= price(criterion, winner, rival, middle + 1.0):
            high = middle
        else:
            low = middle + 1.0
    return low + least_whole_cost(criterion, rival, 1.0 - lower_limit(criterion, winner, low))


@rare_kernel
def by_golden_section(criterion: Criterion, winner: Arm, rival: Arm, last: float) -> float:
    """The least price in [0, last], where they are convex."""
    low, high = 0.0, last
    best = min(last, price(criterion, winner, rival, 0.0))
    while high - low > 1e-13 * last:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = price(criterion, winner, rival, left), price(criterion, winner, rival, right)
        best = min(best, at_left, at_right)
        if at_left <= at_right:
            high = right
        else:
            low = left
    return best
