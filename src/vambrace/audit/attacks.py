"""The cheapest attack after which a winner may not be better than a rival: the worst split of the cost between the two.

`rejects(pair, a, b)` says whether the winner is still better if an attacker spent a on the winner and b on the rival.
All that is used of it: if it holds, it also holds for every smaller a or b (`coins` and `means` prove it).

A good split is guessed first, as if the cost were convex in the split. Then a proof: let C be one event less than the
guess. If the test rejects at (r, C - l), it does so at every split (a, C - a) with l <= a <= r, since a <= r and
C - a <= C - l. So the range of a is covered from left to right by intervals as wide as possible: twice as wide after a
success, half as wide after a failure. If the split at a single a is not rejected, it is a cheaper attack and takes the
place of the guess; what was covered before stays covered, because the new C is smaller. Nothing is taken for convex.

If the cost is not a whole number of events, or a very large one, splits are counted in larger steps, and the winner's
part is rounded up to the end of its step. The budget is then too small by less than two steps, never too large.
"""

from math import ceil, inf
from typing import Any, NamedTuple

from vambrace.kernels import Slot, rare_kernel

rejects: Any = Slot("rejects")
grown: Any = Slot("grown")


class Scale(NamedTuple):
    """How costs are counted: in multiples of `finest`, and in no more than about `most` steps."""

    finest: float
    whole: bool  # whether every cost is such a multiple
    most: float


EVENTS = Scale(1.0, True, 2.0**17)
PARTS = Scale(2.0**-30, False, 2.0**12)


class Cheapest(NamedTuple):
    """The largest cost at which the winner stands, the split of the next one, and the costs on only one of the two.

    The budget is negative if the winner is not better than the rival without an attack.
    """

    budget: float
    on_winner: float
    on_rival: float
    only_winner: float
    only_rival: float


@rare_kernel
def cheapest_attack(pair: Any, scale: Scale) -> Cheapest:
    """The cheapest attack on a pair; compiled with the test of the pair in the slot `rejects`."""
    if not rejects(pair, 0.0, 0.0):
        return Cheapest(-1.0, 0.0, 0.0, 0.0, 0.0)
    only_winner = scale.finest * least_steps(pair, 0.0, scale.finest, 0.0)
    only_rival = scale.finest * least_steps(pair, 0.0, 0.0, scale.finest)
    step = scale.finest * ceil(min(only_winner, only_rival) / (scale.finest * scale.most))
    extra = step - scale.finest if scale.whole else step
    best, least = good_split(pair, step, extra, only_winner)
    if scale.whole and step > 1.0:  # both arms together may cost much less than one of them, and need smaller steps
        step = max(float(ceil(min(least * step, only_winner, only_rival) / scale.most)), 1.0)
        extra = step - 1.0
        best, least = good_split(pair, step, extra, only_winner)
    left, width = 0.0, 0.0
    while left < least:  # the proof
        right = min(left + width, least - 1.0)
        if rejects(pair, right * step + extra, (least - 1.0 - left) * step):
            left, width = right + 1.0, 2.0 * width + 1.0
        elif right > left:
            width = float((right - left) // 2.0)
        else:
            best, least = left, left + least_steps(pair, left * step + extra, 0.0, step)
    budget, on_winner, on_rival = (least - 1.0) * step, best * step + extra, (least - best) * step
    if only_winner <= on_winner + on_rival:  # simpler to say
        on_winner, on_rival = only_winner, 0.0
    elif only_rival <= on_winner + on_rival:
        on_winner, on_rival = 0.0, only_rival
    return Cheapest(budget, on_winner, on_rival, only_winner, only_rival)


@rare_kernel
def good_split(pair: Any, step: float, extra: float, only_winner: float) -> tuple[float, float]:
    """The guess: the steps on the winner, and on both; right if the cost is convex in the split."""
    best, least = 0.0, least_steps(pair, extra, 0.0, step)
    low, high = 0.0, float(ceil(only_winner / step))
    while low < high:
        middle = float((low + high) // 2.0)
        here = middle + least_steps(pair, middle * step + extra, 0.0, step)
        there = middle + 1.0 + least_steps(pair, (middle + 1.0) * step + extra, 0.0, step)
        if min(here, there) < least:
            best, least = (middle, here) if here <= there else (middle + 1.0, there)
        if here <= there:
            high = middle
        else:
            low = middle + 1.0
    return best, least


@rare_kernel
def least_steps(pair: Any, start: float, on_winner: float, on_rival: float) -> float:
    """How many steps in a direction, after `start` on the winner, it takes until the test does not reject."""
    if not rejects(pair, start, 0.0):
        return 0.0
    below, enough = 0.0, 1.0
    while rejects(pair, start + enough * on_winner, enough * on_rival):
        below, enough = enough, 2.0 * enough
    while enough - below > 1.0:
        middle = float((below + enough) // 2.0)
        if rejects(pair, start + middle * on_winner, middle * on_rival):
            below = middle
        else:
            enough = middle
    return enough


@rare_kernel
def least_growth(pair: Any, known: float, most: float) -> float:
    """The factor, `known` or more, by which all counts must grow until the test rejects; infinite beyond `most`."""
    if rejects(grown(pair, known), 0.0, 0.0):
        return known
    below, enough = known, 2.0 * known
    while not rejects(grown(pair, enough), 0.0, 0.0):
        if enough > most:
            return inf
        below, enough = enough, 2.0 * enough
    for _ in range(10):
        middle = 0.5 * (below + enough)
        if rejects(grown(pair, middle), 0.0, 0.0):
            enough = middle
        else:
            below = middle
    return enough
