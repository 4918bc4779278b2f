"""The leap: many sweeps in one step, exact in law.

For long stretches a policy plays the same cycle of arms for any rewards, and an attack that follows one rule does the
same thing to each pull. The pulls of an arm in such a stretch are therefore independent and identically distributed,
and only their totals matter: one binomial draw for the rewards, one for the random choices of the attack. docs/leap.md
has the proof. The names from `engine.slots` are bound as in `vambrace.engine.rounds`.
"""

from math import isfinite
from typing import Any

from vambrace.engine.meter import Sum, add_times, add_times_at, distance, upper
from vambrace.engine.slots import LOOK, STRONG, absorb, cycle, look, outcomes, respond
from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Round
from vambrace.sampling import binomial

SHORTEST = 8  # sweeps; below it, playing round by round is quicker than drawing binomials
MARGIN = 1e-9  # relative; keeps a leap's cost below the budget in spite of rounding


@rare_kernel
def leap(
    policy: Any,
    attack: Any,
    environment: Any,
    setting: Any,
    streams: Any,
    record: Any,
    spent: Sum,
    until: int,
    rounds: int,
    sweeps: int,
) -> tuple[Any, Any, Sum, int]:
    """Leap over at most `sweeps` sweeps; `rounds` are left up to round `until`.

    Returns the policy, the attack, the cost, and how many rounds were played. The number of the last round is
    `until - rounds` and no argument: a game begins with the constant 0, for which Numba would compile a second leap.
    """
    arms, count = cycle(policy)
    sweeps, t = min(sweeps, rounds // count), until - rounds
    if sweeps < SHORTEST:
        return policy, attack, spent, 0
    attacked = STRONG and spent.high < setting.budget
    if attacked:
        if LOOK:
            attack = look(attack, Round(t + 1, 0, record.open_per_arm, record.available), policy)
        sweep_cost = 0.0
        for i in range(count):
            dearest, valid = _dearest(policy, attack, environment, setting.bounded, arms[i])
            if not valid:
                return policy, attack, spent, 0  # played round by round, the fault is found and reported
            sweep_cost += dearest
        left = (setting.budget - upper(spent)) * (1.0 - MARGIN)
        if sweep_cost * sweeps > left:
            sweeps = int(max(left, 0.0) / sweep_cost)
        if sweeps < SHORTEST:
            return policy, attack, spent, 0
    totals, seen_totals = record.totals, record.seen_rewards
    for k in range(len(seen_totals)):
        seen_totals[k] = 0.0
    for i in range(count):
        arm = arms[i]
        high, low, chance = outcomes(environment, arm)
        wins = binomial(sweeps, chance, streams.environment)
        record.pulls[arm] += sweeps
        add_times_at(totals.pulled, arm, wins, high)
        add_times_at(totals.pulled, arm, sweeps - wins, low)
        if attacked:
            after = 0.0
            for reward, pulls in ((high, wins), (low, sweeps - wins)):
                total, spent = _attacked(policy, attack, setting, streams, totals, arm, reward, pulls, spent)
                after += total
            seen_totals[arm] += after
        else:
            seen_totals[arm] += wins * high + (sweeps - wins) * low
    return absorb(policy, sweeps, seen_totals), attack, spent, sweeps * count


@kernel
def _seen(policy: Any, attack: Any, bounded: bool, arm: int, reward: float) -> tuple[float, float]:
    """The chance that this reward is altered, and to what."""
    chance, altered = respond(attack, policy, arm, reward)
    if bounded and isfinite(altered):
        altered = min(max(altered, 0.0), 1.0)
    return chance, altered


@kernel
def _dearest(policy: Any, attack: Any, environment: Any, bounded: bool, arm: int) -> tuple[float, bool]:
    """The most that the attack may pay for one pull of an arm, and whether what it returns lies in [0, 1]."""
    high, low, likely = outcomes(environment, arm)
    cost, valid = 0.0, True
    for reward, share in ((high, likely), (low, 1.0 - likely)):
        if share > 0.0:
            chance, altered = _seen(policy, attack, bounded, arm, reward)
            valid = valid and 0.0 <= chance <= 1.0
            if chance > 0.0:
                valid = valid and 0.0 <= altered <= 1.0
                cost = max(cost, distance(reward, altered))
    return cost, valid


@kernel
def _attacked(
    policy: Any, attack: Any, setting: Any, streams: Any, totals: Any, arm: int, reward: float, pulls: int, spent: Sum
) -> tuple[float, Sum]:
    """The observed total of pulls that all paid `reward`, and the cost after them."""
    chance, altered = _seen(policy, attack, setting.bounded, arm, reward)
    hits = binomial(pulls, chance, streams.adversary)
    if hits == 0:
        return pulls * reward, spent
    add_times_at(totals.altered, arm, hits, altered - reward)
    return hits * altered + (pulls - hits) * reward, add_times(spent, hits, distance(reward, altered))
