"""The leap: many sweeps in one step, exact in law.

Between two moments at which a policy can change its mind it plays the same cycle of arms whatever happens, and an
attack that follows one rule does the same thing to each pull. The pulls of an arm in such a stretch are therefore
independent and alike, and only their totals matter: one binomial draw for the rewards, one for the attacker's coins.
docs/leap.md has the proof.

The names below are slots, as in `vambrace.engine.rounds`.
"""

from math import isfinite
from typing import Any

from vambrace.engine.meter import Sum, add_times, add_times_at, distance, upper
from vambrace.kernels import Slot, kernel, rare_kernel
from vambrace.sampling import binomial

cycle, quiet, absorb = Slot("cycle"), Slot("quiet"), Slot("absorb")
respond, look, outcomes = Slot("respond"), Slot("look"), Slot("outcomes")
LOOK: Any = Slot("LOOK")
STRONG: Any = Slot("STRONG")
BOUNDED: Any = Slot("BOUNDED")

SHORTEST = 8  # sweeps; below it, playing round by round is quicker than drawing binomials
MARGIN = 1e-9  # relative; keeps a leap's cost below the budget whatever rounding does


@rare_kernel
def leap(
    policy: Any,
    adversary: Any,
    environment: Any,
    streams: Any,
    record: Any,
    spent: Sum,
    budget: float,
    t: int,
    rounds: int,
) -> tuple[Any, Any, Sum, int]:
    """Leap from after round t as far as possible but not past so many rounds.

    Returns the policy, the adversary, the cost, and how many rounds that was (or none).
    """
    sweeps = quiet(policy)
    if sweeps == 0:
        return policy, adversary, spent, 0
    arms, count = cycle(policy)
    sweeps = min(sweeps, rounds // count)
    attacked = STRONG and spent.high < budget
    if attacked:
        if LOOK:
            adversary = look(adversary, t + 1, policy)
        sweep_cost = 0.0
        for i in range(count):
            dearest, sane = _dearest(policy, adversary, environment, arms[i])
            if not sane:
                return policy, adversary, spent, 0  # round by round, the engine finds out what is wrong and says so
            sweep_cost += dearest
        left = (budget - upper(spent)) * (1.0 - MARGIN)
        if sweep_cost * sweeps > left:
            sweeps = int(max(left, 0.0) / sweep_cost)
    if sweeps < SHORTEST:
        return policy, adversary, spent, 0
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
            after_high, spent = _attack(policy, adversary, totals, arm, high, wins, streams.adversary, spent)
            after_low, spent = _attack(policy, adversary, totals, arm, low, sweeps - wins, streams.adversary, spent)
            seen_totals[arm] += after_high + after_low
        else:
            seen_totals[arm] += wins * high + (sweeps - wins) * low
    return absorb(policy, sweeps, seen_totals), adversary, spent, sweeps * count


@kernel
def _seen(policy: Any, adversary: Any, arm: int, reward: float) -> tuple[float, float]:
    """The chance that this reward is altered, and to what."""
    chance, altered = respond(adversary, policy, arm, reward)
    if BOUNDED:
        altered = min(max(altered, 0.0), 1.0) if isfinite(altered) else altered
    return chance, altered


@kernel
def _dearest(policy: Any, adversary: Any, environment: Any, arm: int) -> tuple[float, bool]:
    """What the attack may pay for one pull of an arm at most, and whether what it returns lies in [0, 1]."""
    high, low, likely = outcomes(environment, arm)
    cost, sane = 0.0, True
    for side in range(2):
        reward = high if side == 0 else low
        if (likely > 0.0) if side == 0 else (likely < 1.0):
            chance, altered = _seen(policy, adversary, arm, reward)
            sane = sane and 0.0 <= chance <= 1.0
            if chance > 0.0:
                sane = sane and 0.0 <= altered <= 1.0
                cost = max(cost, distance(reward, altered))
    return cost, sane


@kernel
def _attack(
    policy: Any, adversary: Any, totals: Any, arm: int, reward: float, pulls: int, rng: Any, spent: Sum
) -> tuple[float, Sum]:
    """The observed total of so many pulls that all paid `reward`, and the cost after them."""
    chance, altered = _seen(policy, adversary, arm, reward)
    hits = binomial(pulls, chance, rng)
    if hits == 0:
        return pulls * reward, spent
    add_times_at(totals.altered, arm, hits, altered - reward)
    return hits * altered + (pulls - hits) * reward, add_times(spent, hits, distance(reward, altered))
