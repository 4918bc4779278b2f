"""What SE-WR, SE-WR-Stop, PE-WR and the bases of MS-SE-WR share: the table of arms and when arms are dropped.

The same code serves prompt and delayed feedback: ask the active arm with the fewest pulls, unanswered ones included,
and test for elimination when the smallest count has grown. With prompt feedback that is a sweep in index order with a
test at its end, and every test sees equal counts.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.policies.radii import PAPER, Rule, narrowest, quiet_sweeps, separated
from vambrace.protocols import Flags, Floats, Integers, Policy, Round

NEVER = 2**62


class EliminationPolicy(Policy):
    """A policy that drops arms by one of the three radii."""

    radius: str = "paper"

    @property
    def constants(self) -> dict[str, bool]:
        """The code of radius "kl" is compiled only where it is used."""
        return {"KL_RADIUS": self.radius == "kl"}


class Arms(NamedTuple):
    """Counts and totals of every arm, and which arms are active."""

    totals: Floats  # observed reward of each arm
    counts: Integers  # answered pulls of each arm
    active: Integers  # active arms in index order; the first n_active entries are valid
    dropped: Flags
    n_active: int
    floor: int  # smallest count of an active arm
    at_floor: int  # how many active arms have that count
    excess: int  # sum over the active arms of count - floor; zero exactly when all counts are equal


def make_arms(n_arms: int) -> Arms:
    """All arms active, none pulled."""
    totals, counts, dropped = np.zeros(n_arms), np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms, dtype=np.bool_)
    return Arms(totals, counts, np.arange(n_arms), dropped, n_arms, floor=0, at_floor=n_arms, excess=0)


@kernel
def next_in_sweep(arms: Arms, round: Round) -> int:
    """The active arm with the fewest pulls, ties to the lowest index.

    With no pending answers the position in the sweep is the number of arms that are one pull ahead, because these come
    first in index order. (This does not hold where counts were reset at unequal values: see PE-WR.)
    """
    if round.open == 0:
        return arms.active[arms.n_active - arms.at_floor]
    return fewest_pulled(arms.active, arms.n_active, arms.counts, round)


@rare_kernel
def fewest_pulled(active: Integers, n_active: int, counts: Integers, round: Round) -> int:
    """The same for any counts: compare all active arms."""
    best, fewest = 0, NEVER
    for i in range(n_active):
        arm = active[i]
        pulls = counts[arm] + round.open_per_arm[arm]
        if pulls < fewest:
            best, fewest = arm, pulls
    return best


@kernel
def first_at_floor(arms: Arms) -> int:
    """The same with no pending answers, wherever the arms are that are ahead."""
    counts, active, floor, i = arms.counts, arms.active, arms.floor, 0
    while counts[active[i]] > floor:
        i += 1
    return active[i]


@kernel
def cycle(state: Any) -> tuple[Integers, int]:
    """The arms of a sweep, for the leap engine; for any state that has `arms`."""
    return state.arms.active, state.arms.n_active


@kernel
def absorb_sweeps(arms: Arms, sweeps: int, totals: Floats) -> Arms:
    """Enter `sweeps` whole sweeps at once, starting and ending at equal counts; totals[arm] is the reward of an arm."""
    for i in range(arms.n_active):
        arm = arms.active[i]
        arms.totals[arm] += totals[arm]
        arms.counts[arm] += sweeps
    n_active, floor = arms.n_active, arms.floor + sweeps
    return Arms(arms.totals, arms.counts, arms.active, arms.dropped, n_active, floor, n_active, 0)


@kernel
def advance(arms: Arms, arm: int) -> Arms:
    """Follow the smallest count after an observation of `arm` was recorded; `floor` grows when a sweep is complete."""
    totals, counts, active, dropped, n_active, floor, at_floor, excess = arms
    if dropped[arm]:
        return arms
    excess += 1
    if counts[arm] == floor + 1:
        at_floor -= 1
        if at_floor == 0:
            floor, excess = floor + 1, excess - n_active
            at_floor = n_active if excess == 0 else _at_count(arms, floor)
    return Arms(totals, counts, active, dropped, n_active, floor, at_floor, excess)


@rare_kernel
def _at_count(arms: Arms, count: int) -> int:
    found = 0
    for i in range(arms.n_active):
        if arms.counts[arms.active[i]] == count:
            found += 1
    return found


@kernel
def advance_and_test(arms: Arms, arm: int, rule: Rule, next_test: int, last_test: int) -> tuple[Arms, int]:
    """`advance`, and the elimination test if a sweep is complete; also returns the next sweep whose test can matter.

    At equal counts no arm can fall before `next_test`, a bound that `quiet_sweeps` gave at the last test; at unequal
    counts every completed sweep is tested. SE-WR-Stop does not test after `last_test`.
    """
    grown = advance(arms, arm)
    return drop_if_due(grown, rule, next_test, last_test) if grown.floor > arms.floor else (grown, next_test)


@kernel
def drop_if_due(arms: Arms, rule: Rule, next_test: int, last_test: int) -> tuple[Arms, int]:
    """The elimination test at the end of a sweep; also returns the next sweep whose test can matter."""
    if arms.n_active > 1 and arms.floor <= last_test:
        if arms.excess > 0:
            return eliminate(arms, rule), 0
        if arms.floor >= next_test:
            fewer = eliminate(arms, rule)
            return fewer, _next_test(fewer, rule)
    return arms, next_test


@kernel
def _next_test(arms: Arms, rule: Rule) -> int:
    """The first sweep after which another arm can fall."""
    if arms.n_active == 1:
        return NEVER
    highest, lowest = arms.totals[_strongest(arms, rule)], arms.totals[_lowest(arms)]
    return arms.floor + 1 + quiet_sweeps(rule, highest, lowest, arms.floor)


@rare_kernel
def eliminate(arms: Arms, rule: Rule) -> Arms:
    """Drop every active arm that an active arm beats, in one pass: all arms are compared before any is dropped.

    The maximum runs over the active arms only (erratum E6): the old mean of a dropped arm could otherwise empty the set
    when the attacker overspends. At equal counts, and with radius "paper" at any counts, testing one rival is enough.
    """
    if arms.excess > 0 and _all_close(arms, rule):
        return arms
    one_rival = arms.excess == 0 or rule.radius == PAPER
    rival = _strongest(arms, rule)
    if arms.excess == 0 and not beats(arms, rule, rival, _lowest(arms)):
        return arms
    for i in range(arms.n_active):
        arm = arms.active[i]
        if one_rival:
            arms.dropped[arm] = rival != arm and beats(arms, rule, rival, arm)
        else:
            for j in range(arms.n_active):
                if i != j and beats(arms, rule, arms.active[j], arm):
                    arms.dropped[arm] = True
                    break
    return _gathered(arms)


@kernel
def _all_close(arms: Arms, rule: Rule) -> bool:
    """Whether the largest difference of means is too small for any two arms: a quick answer to most tests."""
    highest, lowest = -np.inf, np.inf
    most = second = max(arms.floor, 1)
    for i in range(arms.n_active):
        arm = arms.active[i]
        count = arms.counts[arm]
        mean = arms.totals[arm] / count
        highest, lowest = max(highest, mean), min(lowest, mean)
        most, second = max(most, count), max(second, min(most, count))
    return highest - lowest <= narrowest(rule, most, second)


@rare_kernel
def readmitted(arms: Arms, closed: Flags) -> Arms:
    """All open arms are active again.

    An arm was dropped because another one is better; when that one closes, the dropped arm may be the best open one.
    The evidence is in the totals and counts, so nothing is lost: the next test drops again what an open arm beats.
    """
    for arm in range(len(closed)):
        arms.dropped[arm] = closed[arm]
    return _gathered(arms)


@kernel
def _gathered(arms: Arms) -> Arms:
    """The arms that are not dropped are the active ones."""
    kept, floor, at_floor, total = 0, NEVER, 0, 0
    for arm in range(len(arms.dropped)):
        if not arms.dropped[arm]:
            arms.active[kept] = arm
            kept += 1
            count = arms.counts[arm]
            if count < floor:
                floor, at_floor = count, 0
            if count == floor:
                at_floor += 1
            total += count
    excess = total - kept * floor
    return Arms(arms.totals, arms.counts, arms.active, arms.dropped, kept, floor, at_floor, excess)


@kernel
def _strongest(arms: Arms, rule: Rule) -> int:
    """The active arm with the highest lower bound; at equal counts this is the highest total."""
    best, highest = arms.active[0], -np.inf
    for i in range(arms.n_active):
        arm = arms.active[i]
        height = arms.totals[arm]
        if arms.excess > 0:
            count = arms.counts[arm]
            height = (height - rule.budget) / count - sqrt(rule.log_single / count)
        if height > highest:
            best, highest = arm, height
    return best


@kernel
def _lowest(arms: Arms) -> int:
    """The active arm with the lowest total."""
    lowest = arms.active[0]
    for i in range(arms.n_active):
        if arms.totals[arms.active[i]] < arms.totals[lowest]:
            lowest = arms.active[i]
    return lowest


@kernel
def beats(arms: Arms, rule: Rule, rival: int, arm: int) -> bool:
    """Whether the rival is so far above the arm that no attack within the budget explains it. Ties are not dropped."""
    return separated(rule, arms.totals[rival], arms.counts[rival], arms.totals[arm], arms.counts[arm])
