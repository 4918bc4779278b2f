"""The game, round by round: the only loop. With LEAP it skips the stretches in which nothing can happen.

The names in capitals and the functions `select`, `update`, `draw`, `draw_total`, `alter`, `corrupt` and `witness` are
slots: `simulate` binds them to the kernels of one policy, one adversary and one environment, and to the options of one
run (see `vambrace.kernels`). A branch on a bound constant costs nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from vambrace.engine.leap import leap
from vambrace.engine.meter import Sum, add_at, meter, meter_all, upper
from vambrace.kernels import Slot, kernel, rare_kernel
from vambrace.protocols import Floats, Integers, Pending
from vambrace.sampling import Stream

FINISHED, STOPPED, BAD_ARM, BAD_REWARD, BAD_DRAW = 0, 1, 2, 3, 4
LARGEST = 1e100  # an altered reward beyond it would overflow the sums
CHUNK = 2**22  # steps (rounds or leaps) between two looks at the stop flag


class Setting(NamedTuple):
    """What stays the same in every replication."""

    gaps: Floats
    budget: float
    checkpoints: Integers


class Streams(NamedTuple):
    """One independent stream for each role, so that clean and attacked runs are paired."""

    policy: Stream
    environment: Stream
    adversary: Stream
    unpulled: Stream


class Totals(NamedTuple):
    """Sums for each arm, for the realised and the observed regret; the first two without rounding (see `Sum`)."""

    pulled: Floats  # raw rewards of its pulls, two rows
    altered: Floats  # observed minus raw rewards of its pulls, two rows
    unpulled: Floats  # raw rewards of the rounds in which it was not pulled
    counted: Integers  # in how many rounds the last of these has been drawn


class Record(NamedTuple):
    """What one replication fills in, and its scratch paper: kernels create no arrays."""

    pseudo: Floats
    realized: Floats
    observed: Floats
    cost: Floats
    pulls: Integers
    progress: Integers  # rounds played so far, for whoever watches
    stop: Integers  # non-zero: give up
    totals: Totals
    raw_rewards: Floats
    seen_rewards: Floats
    pending: Integers  # zeros


select, update = Slot("select"), Slot("update")
draw, draw_total = Slot("draw"), Slot("draw_total")
alter, corrupt, witness = Slot("alter"), Slot("corrupt"), Slot("witness")
STRONG: Any = Slot("STRONG")
MEDIUM: Any = Slot("MEDIUM")
WITNESS: Any = Slot("WITNESS")
BOUNDED: Any = Slot("BOUNDED")
REALIZED: Any = Slot("REALIZED")
WHOLE: Any = Slot("WHOLE")  # every raw reward is 0 or 1
CLOSED_FORM: Any = Slot("CLOSED_FORM")
LEAP: Any = Slot("LEAP")


@kernel
def play(
    policy: Any, adversary: Any, environment: Any, setting: Setting, streams: Streams, record: Record
) -> tuple[int, int, int, float]:
    """Play to the last checkpoint. Returns how it ended: a code, and the round, arm and value where it broke."""
    n_arms = len(setting.gaps)
    pending, totals = Pending(0, record.pending), record.totals
    raw_rewards, seen_rewards = record.raw_rewards, record.seen_rewards
    spent, t = Sum(0.0, 0.0), 0
    for i in range(len(setting.checkpoints)):
        while t < setting.checkpoints[i]:
            for _ in range(min(setting.checkpoints[i] - t, CHUNK)):
                if LEAP:
                    policy, adversary, spent, leapt = leap(
                        policy,
                        adversary,
                        environment,
                        streams,
                        record,
                        spent,
                        setting.budget,
                        t,
                        setting.checkpoints[i] - t,
                    )
                    t += leapt
                    if t == setting.checkpoints[i]:
                        break
                    if leapt > 0:
                        continue
                t += 1
                if MEDIUM:
                    for k in range(n_arms):
                        raw_rewards[k] = seen_rewards[k] = draw(environment, k, streams.environment)
                        if not 0.0 <= raw_rewards[k] <= 1.0:
                            return BAD_DRAW, t, k, raw_rewards[k]
                    adversary = corrupt(adversary, t, seen_rewards, streams.adversary)
                    for k in range(n_arms):
                        if not abs(seen_rewards[k]) <= LARGEST:
                            return BAD_REWARD, t, k, seen_rewards[k]
                        if BOUNDED:
                            seen_rewards[k] = min(max(seen_rewards[k], 0.0), 1.0)
                    spent = meter_all(raw_rewards, seen_rewards, spent, setting.budget)

                arm, probability, tag = select(policy, pending, streams.policy)
                if not 0 <= arm < n_arms:
                    return BAD_ARM, t, arm, 0.0

                if MEDIUM:
                    raw, seen = raw_rewards[arm], seen_rewards[arm]
                else:
                    raw = seen = draw(environment, arm, streams.environment)
                if not 0.0 <= raw <= 1.0:
                    return BAD_DRAW, t, arm, raw
                if STRONG:
                    seen, adversary = alter(adversary, t, arm, raw, policy, streams.adversary)
                    if seen != raw:
                        if not abs(seen) <= LARGEST:
                            return BAD_REWARD, t, arm, seen
                        if BOUNDED:
                            seen = min(max(seen, 0.0), 1.0)
                        seen, spent = meter(raw, seen, spent, setting.budget)
                    if WITNESS:
                        adversary = witness(adversary, arm, raw, seen)

                policy = update(policy, arm, seen, probability, tag)
                record.pulls[arm] += 1
                if REALIZED:
                    if WHOLE:
                        totals.pulled[0, arm] += raw  # exact
                    else:
                        add_at(totals.pulled, arm, raw)
                    if seen != raw:
                        add_at(totals.altered, arm, seen - raw)
                    if not CLOSED_FORM:
                        for k in range(n_arms):
                            if k != arm:
                                if MEDIUM:
                                    totals.unpulled[k] += raw_rewards[k]
                                else:
                                    totals.unpulled[k] += draw(environment, k, streams.unpulled)
            record.progress[0] = t
            if record.stop[0] != 0:
                return STOPPED, t, 0, 0.0
        if REALIZED and CLOSED_FORM:
            # Nobody sees the rewards of arms that were not pulled, so they influence nothing and may be drawn late,
            # each arm's sum since the last checkpoint in one draw: exact in law.
            for k in range(n_arms):
                unpulled = t - record.pulls[k]
                totals.unpulled[k] += draw_total(environment, k, unpulled - totals.counted[k], streams.unpulled)
                totals.counted[k] = unpulled
        settle(totals, setting.gaps, upper(spent), record, i)
    return FINISHED, t, 0, 0.0


@rare_kernel
def settle(totals: Totals, gaps: Floats, spent: float, record: Record, i: int) -> None:
    """Enter the regrets of checkpoint i.

    The observed regret is the realised one plus a shift that is computed from small numbers, so that rounding in large
    sums cannot break |observed - realised| <= 2 cost.
    """
    pseudo, best, earned, shifted_most, altered = 0.0, -np.inf, 0.0, -np.inf, 0.0
    for k in range(len(gaps)):
        pseudo += gaps[k] * record.pulls[k]
        best = max(best, totals.pulled[0, k] + totals.unpulled[k])
        earned += totals.pulled[0, k]
        altered += totals.altered[0, k]
    for k in range(len(gaps)):
        behind = (totals.pulled[0, k] + totals.unpulled[k]) - best
        shifted_most = max(shifted_most, behind + totals.altered[0, k])
    record.pseudo[i] = pseudo
    record.cost[i] = spent
    record.realized[i] = best - earned
    record.observed[i] = (best - earned) + (shifted_most - altered)
