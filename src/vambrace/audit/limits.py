"""Confidence limits of one arm after an attack on it is undone.

Everything is written from the winner's side: the *lower* limit of an arm with its successes and events, if an attacker
spent `cost` on it. A rival's upper limit is one minus the lower limit of its failures, so for a rival successes and
failures are exchanged, and no second set of formulas is needed.

threat     what is undone at cost c        successes, events
alter      rewards moved by c in total     k - c, n
inject     c successes were invented       k - c, n - c
suppress   c failures are missing          k, n + c

An arm with no events left may have any mean. The limits themselves are those of `vambrace.statistics`: the exact
binomial tail, or Chernoff's bound, which holds for all rewards in [0, 1].
"""

from math import inf, log, pi
from typing import Literal, NamedTuple, get_args

from vambrace.kernels import kernel, rare_kernel
from vambrace.statistics import least_chance, log_tail

Threat = Literal["alter", "inject", "suppress"]
Design = Literal["adaptive", "fixed"]
THREATS: tuple[Threat, ...] = get_args(Threat)
DESIGNS: tuple[Design, ...] = get_args(Design)
INJECT, SUPPRESS = 1, 2
ROUNDING = 1e-10  # a level is smaller by this share, so that rounding does not certify a tie


class Criterion(NamedTuple):
    """An arm may have a mean if the observed total, or a larger one, is likely enough under it."""

    threat: int
    exact: bool
    log_level: float  # a tail below exp(log_level) / n^decay is too unlikely
    decay: float


class Arm(NamedTuple):
    """What is known of the winner, or of a rival with successes and failures exchanged."""

    successes: float
    events: float


def make_criterion(n_arms: int, delta: float, threat: Threat, design: Design, *, exact: bool) -> Criterion:
    """Each side of each arm fails with probability delta / 2K; in an adaptive design over all counts n together."""
    log_level = log(delta) - log(2.0 * n_arms) - ROUNDING
    spread, decay = (log(6.0 / pi**2), 2.0) if design == "adaptive" else (0.0, 0.0)
    return Criterion(THREATS.index(threat), exact, log_level + spread, decay)


@kernel
def undone(criterion: Criterion, arm: Arm, cost: float) -> Arm:
    """The arm as it was before the attack."""
    if criterion.threat == SUPPRESS:
        return Arm(arm.successes, arm.events + cost)
    return Arm(max(arm.successes - cost, 0.0), arm.events - cost if criterion.threat == INJECT else arm.events)


@kernel
def level(criterion: Criterion, arm: Arm) -> float:
    """The logarithm of the smallest tail that is likely enough."""
    return criterion.log_level - criterion.decay * log(arm.events)


@rare_kernel
def excess(criterion: Criterion, arm: Arm, cost: float, chance: float) -> float:
    """Zero or more if `chance` may be the arm's mean after the attacker spent `cost` on it; increasing in both."""
    arm = undone(criterion, arm, cost)
    if arm.events <= 0.0:
        return inf
    tail = 0.0 if arm.successes <= 0.0 else log_tail(arm.successes, arm.events, chance, criterion.exact)[0]
    return tail - level(criterion, arm)


@rare_kernel
def lower_limit(criterion: Criterion, arm: Arm, cost: float) -> float:
    """The least mean that the arm may have if the attacker spent `cost` on it."""
    arm = undone(criterion, arm, cost)
    if arm.events <= 0.0:
        return 0.0
    return least_chance(arm.successes, arm.events, level(criterion, arm), criterion.exact)


@rare_kernel
def least_cost(criterion: Criterion, arm: Arm, chance: float) -> float:
    """What the attacker must have spent on the arm if `chance` is its mean; not for injected events.

    Chandrupatla's method (1997): inverse quadratic interpolation if it is safe, otherwise bisection.
    """
    low, at_low = 0.0, excess(criterion, arm, 0.0, chance)
    if at_low >= 0.0:
        return 0.0
    high = arm.successes / chance - arm.events if criterion.threat == SUPPRESS else arm.successes - arm.events * chance
    at_high = excess(criterion, arm, high, chance)
    newest, at_newest, other, at_other, share = high, at_high, low, at_low, 0.5
    for _ in range(200):
        trial = newest + share * (other - newest)
        at_trial = excess(criterion, arm, trial, chance)
        if (at_trial >= 0.0) == (at_newest >= 0.0):
            third, at_third = newest, at_newest
        else:
            third, at_third, other, at_other = other, at_other, newest, at_newest
        newest, at_newest = trial, at_trial
        if at_newest == 0.0:
            break
        width = abs(other - newest)
        smallest = 4e-16 * max(abs(newest), abs(other)) / width if width > 0.0 else 1.0
        if smallest >= 0.5:
            break
        position = (newest - other) / (third - other)
        value = (at_newest - at_other) / (at_third - at_other)
        if value * value < position and (1.0 - value) * (1.0 - value) < 1.0 - position:
            share = at_newest / (at_other - at_newest) * at_third / (at_other - at_third)
            ratio = (third - newest) / (other - newest)
            share += ratio * at_newest / (at_third - at_newest) * at_other / (at_third - at_other)
            share = min(max(share, smallest), 1.0 - smallest)
        else:
            share = 0.5
    return newest if at_newest >= 0.0 else other


@rare_kernel
def least_whole_cost(criterion: Criterion, arm: Arm, chance: float) -> float:
    """The least sufficient number of events, by bisection; for every threat."""
    if excess(criterion, arm, 0.0, chance) >= 0.0:
        return 0.0
    below, enough = 0.0, 1.0
    while excess(criterion, arm, enough, chance) < 0.0:
        below, enough = enough, 2.0 * enough
    while enough - below > 1.0:
        middle = float((below + enough) // 2.0)
        if excess(criterion, arm, middle, chance) >= 0.0:
            enough = middle
        else:
            below = middle
    return enough
