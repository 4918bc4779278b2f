"""Confidence limits of one arm after an attack on it is undone.

Everything is said from the winner's side: the *lower* limit of an arm with so many successes in so many events, when
an attacker spent `cost` on it. A rival's upper limit is one minus the lower limit of its failures, so a rival comes in
with the two exchanged, and no second set of formulas is needed.

threat     what is undone at cost c        successes, events
alter      rewards moved by c in total     k - c, n
inject     c successes were made up        k - c, n - c
suppress   c failures are missing          k, n + c

An arm without any event left may have any mean.

exact      The chance of so many successes or more is a binomial tail, I_q(k, n - k + 1). Its front factor is built from
           the saddle-point form of Loader (2000), which keeps all digits at ten million events, where differences of
           log-gamma keep eight.
otherwise  Chernoff's bound exp(-n kl(k / n, q)), which holds for all rewards in [0, 1].
"""

from math import exp, inf, lgamma, log, log1p, pi, sqrt
from typing import NamedTuple

from vambrace.kernels import kernel, rare_kernel
from vambrace.statistics import beta_fraction

THREATS = ("alter", "inject", "suppress")
INJECT, SUPPRESS = 1, 2
HALF_LOG_TWO_PI = 0.5 * log(2.0 * pi)
ROUNDING = 1e-10  # a level is smaller by this share, so that rounding certifies no tie


class Question(NamedTuple):
    """Which limits are asked for."""

    threat: int
    exact: bool
    log_level: float  # a tail below exp(log_level) / n^decay is not believed
    decay: float


class Arm(NamedTuple):
    """What is known of the winner, or of a rival with successes and failures exchanged."""

    successes: float
    events: float


def question(n_arms: int, delta: float, threat: str, design: str, *, exact: bool) -> Question:
    """Each side of each arm errs with chance delta / 2K; under an adaptive design over all counts n together."""
    log_level = log(delta) - log(2.0 * n_arms) - ROUNDING
    if design == "adaptive":
        return Question(THREATS.index(threat), exact, log_level + log(6.0 / pi**2), 2.0)
    return Question(THREATS.index(threat), exact, log_level, 0.0)


@kernel
def undone(asked: Question, arm: Arm, cost: float) -> Arm:
    """The arm as it was before the attack."""
    if asked.threat == SUPPRESS:
        return Arm(arm.successes, arm.events + cost)
    return Arm(max(arm.successes - cost, 0.0), arm.events - cost if asked.threat == INJECT else arm.events)


@kernel
def threshold(asked: Question, arm: Arm) -> float:
    """The logarithm of the smallest tail that is believed."""
    return asked.log_level - asked.decay * log(arm.events)


@rare_kernel
def deviance(observed: float, expected: float) -> float:
    """observed ln(observed / expected) + expected - observed, without cancellation when they are close."""
    if observed <= 0.0:
        return expected
    difference = observed - expected
    if abs(difference) > 0.1 * (observed + expected):
        return observed * log(observed / expected) - difference
    ratio = difference / (observed + expected)
    total, term = difference * ratio, 2.0 * observed * ratio
    for j in range(1, 100):
        term *= ratio * ratio
        longer = total + term / (2 * j + 1)
        if longer == total:
            break
        total = longer
    return total


@rare_kernel
def log_poisson(count: float, expected: float) -> float:
    """The logarithm of the Poisson chance of this count, which need not be whole."""
    if count < 16.0:
        return count * log(expected) - expected - lgamma(count + 1.0)
    square = count * count
    error = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / count
    return -error - deviance(count, expected) - HALF_LOG_TWO_PI - 0.5 * log(count)


@rare_kernel
def log_tail(asked: Question, arm: Arm, chance: float) -> tuple[float, float]:
    """The logarithm of the chance of so many successes or more, and its slope in ln(chance).

    Where the chance is too large to be a lower limit at any level (at the mean the tail exceeds 1 / e) it says (0, 0).
    """
    successes, failures = arm.successes, arm.events - arm.successes
    hits, misses = arm.events * chance, arm.events * (1.0 - chance)
    if not asked.exact:
        if successes <= hits:
            return 0.0, 0.0
        return -deviance(successes, hits) - deviance(failures, misses), (successes - hits) / (1.0 - chance)
    if successes <= hits + chance:
        return 0.0, 0.0
    front = log_poisson(successes, hits) + log_poisson(failures, misses) - log_poisson(arm.events, arm.events)
    fraction = beta_fraction(successes, failures + 1.0, chance)
    return front + log1p(-chance) + log(fraction), successes / ((1.0 - chance) * fraction)


@rare_kernel
def excess(asked: Question, arm: Arm, cost: float, chance: float) -> float:
    """Zero or more when `chance` may be the arm's mean, if the attacker spent `cost` on it; increasing in both."""
    arm = undone(asked, arm, cost)
    if arm.events <= 0.0:
        return inf
    level = threshold(asked, arm)
    return -level if arm.successes <= 0.0 else log_tail(asked, arm, chance)[0] - level


@rare_kernel
def lower_limit(asked: Question, arm: Arm, cost: float) -> float:
    """The least mean that the arm may have if the attacker spent `cost` on it.

    Newton's method in ln(chance), in which the logarithm of the tail is concave: every step but the first stays below
    the root. The start is the largest of three bounds from below on the Chernoff limit, which is below the exact one.
    """
    arm = undone(asked, arm, cost)
    if arm.successes <= 0.0 or arm.events <= 0.0:
        return 0.0
    level = threshold(asked, arm)
    mean, share = arm.successes / arm.events, -level / arm.events
    chance = max(mean - sqrt(0.5 * share), mean - sqrt(2.0 * mean * share), mean * exp(level / arm.successes - 1.0))
    if chance < 1e-290:  # the limit of a small part of one reward: zero, before it underflows
        return 0.0
    for _ in range(100):
        tail, slope = log_tail(asked, arm, chance)
        if tail >= level:  # also when rounding has put the start on the mean
            break
        larger = chance * exp((level - tail) / slope)
        if larger <= chance * (1.0 + 1e-16):
            break
        chance = larger
    return chance


@rare_kernel
def least_cost(asked: Question, arm: Arm, chance: float) -> float:
    """What the attacker must have spent on the arm if `chance` is its mean; not for injected events.

    Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, else bisection.
    """
    low, at_low = 0.0, excess(asked, arm, 0.0, chance)
    if at_low >= 0.0:
        return 0.0
    high = arm.successes / chance - arm.events if asked.threat == SUPPRESS else arm.successes - arm.events * chance
    at_high = excess(asked, arm, high, chance)
    newest, at_newest, other, at_other, share = high, at_high, low, at_low, 0.5
    for _ in range(200):
        trial = newest + share * (other - newest)
        at_trial = excess(asked, arm, trial, chance)
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
            share = at_newest / (at_other - at_newest) * at_third / (at_other - at_third) + (third - newest) / (
                other - newest
            ) * at_newest / (at_third - at_newest) * at_other / (at_third - at_other)
            share = min(max(share, smallest), 1.0 - smallest)
        else:
            share = 0.5
    return newest if at_newest >= 0.0 else other


@rare_kernel
def least_whole_cost(asked: Question, arm: Arm, chance: float) -> float:
    """The same in whole events, by bisection, for every threat."""
    if excess(asked, arm, 0.0, chance) >= 0.0:
        return 0.0
    below, enough = 0.0, 1.0
    while excess(asked, arm, enough, chance) < 0.0:
        below, enough = enough, 2.0 * enough
    while enough - below > 1.0:
        middle = float((below + enough) // 2.0)
        if excess(asked, arm, middle, chance) >= 0.0:
            enough = middle
        else:
            below = middle
    return enough
