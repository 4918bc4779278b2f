"""Is the winner better than one rival? The test of a pair whose rewards are 0 or 1, after an attack on it is undone.

Notation   s successes and f failures, n = s + f events of the winner; s', f', n' of the rival; m = s + s', M = f + f',
           N = n + n'. The null hypothesis is that the winner's rate is at most the rival's. It is rejected only if
           s / n > s' / n', and if
fixed      Fisher's exact test does: P(H >= s) <= level, H being the number of successes among n of N events drawn
           without replacement, m of them successes. It holds for sample sizes set in advance and one look.
adaptive   the e-process does: E >= 1 / level. Each arm's likelihood, averaged over rates from Beta(1/2, 1/2) and
           divided by its value at the true rate, is a martingale that starts at 1, however the arms and the moments of
           looking are chosen. So is the product for two arms. Under the null hypothesis it is at least E, its value
           where both rates are m / N (the product is least on the diagonal, and there at m / N). By Ville's inequality
           the probability that E ever reaches 1 / level is at most the level.
Threats    What an attacker did to the winner (a events) and to the rival (b events) is undone:
           alter     successes of the winner become failures, failures of the rival become successes,
           inject    successes of the winner and failures of the rival are removed,
           suppress  failures of the winner and successes of the rival are added.

If an undone log is rejected, so is each log with a smaller a or b. The search for the worst split uses only this. Why:

Means      Undoing lowers the winner's mean and raises the rival's, so they stay apart if less is undone.
Fisher     P(H >= s) grows with each step, because H moves up by less than s, or not at all where s moves down:
           alter: with one success less of m, H falls by at most 1, as s does; with one more, H does not fall.
           inject: given that the removed success is in the sample, H is 1 + H', H' being H in the smaller urn; given
           that it is not, H is at most 1 + H'; so P(H' >= s - 1) >= P(H >= s). Without one failure H does not fall.
           suppress: given that the new failure is in the sample, the new H is the old one; given that it is not, it is
           larger. With one success more in the urn H does not fall.
E          For a step on the winner; a step on the rival is the same with the arms and also success and failure
           exchanged, which leaves E as it is. All counts are those after the step; s f' - s' f > 0, so s, f' >= 1.
           Going back one step multiplies E by, with an integral that the midpoint rule bounds,
           alter     (s + 1/2) / (f - 1/2) exp(-int ln(x / (N - x)) dx) over [m, m + 1]
                     >= (s + 1/2) (M - 1/2) / ((m + 1/2) (f - 1/2)) exp(-e), e <= 1 / (24 M (M - 1)).
                     The ratio is 1 + x; from s' < s f' / f follows x >= f' / (2 M f) >= 1 / (2 M (M - 1)), and
                     ln(1 + x) > e.
           suppress  n / (f - 1/2) exp(-int ln((m + y) / y) dy) over [M - 1, M]
                     >= n (M - 1/2) / ((N - 1/2) (f - 1/2)) exp(-e). The ratio is 1 + x; from n' < n f' / f follows
                     x >= f' / (2 f M) as before.
           inject    (s + 1/2) / (n + 1) exp(int ln((x + M) / x) dx) over [m, m + 1]
                     >= (s + 1/2) (N + 1/2) / ((n + 1) (m + 1/2)), as the integrand is convex. If that is below 1, then
                     D = s f' - s' f < (s + s' - f') / 2 + 1/4 < m / 2, and s < s' (f + 1/2) / (f' - 1/2). Then
                     ln E <= D^2 N / (n n' m M) - ln 4, because relative entropy is at most chi squared, and because the
                     average likelihood of an arm is at most half of its maximum. With D < m / 2 the first term is below
                     D / (2 M n) + D / (2 M n'); D <= n f' and D < s' M / (2 f' - 1) make each at most 1/2. So E < 1: a
                     rejected log, with E >= 1 / level, only gets a larger E.
           The maximum: s >= f events have at most half of their maximal likelihood on average, since the share falls as
           s grows, is 1/2 at (1, 0), and at (f, f) it is the mean of (4 p (1 - p))^f, at most that of 4 p (1 - p).
"""

from math import exp, factorial, floor, lgamma, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.statistics import deviance, log_binomial_mass, stirling_error

ALTER, INJECT, SUPPRESS = 0, 1, 2  # the places of the threats
CERTAIN = 50.0  # exp of it exceeds the number of terms of every tail
HALF_ERRORS = np.array(
    [-0.5 * log(2.0)]
    + [log(sqrt(pi) * factorial(2 * x) / (4**x * factorial(x)) / sqrt(2.0 * pi)) - x * log(x) + x for x in range(1, 16)]
)


class CoinPair(NamedTuple):
    """A winner and a rival as logged, and the question that is asked."""

    threat: int
    adaptive: bool
    log_level: float
    successes: float
    events: float
    rival_successes: float
    rival_events: float


@rare_kernel
def rejects(pair: CoinPair, on_winner: float, on_rival: float) -> bool:
    """Whether the winner is better than the rival if this many events of each were attacked."""
    s, n, s2, n2 = pair.successes, pair.events, pair.rival_successes, pair.rival_events
    if pair.threat == SUPPRESS:
        n += on_winner
        s2 += on_rival
        n2 += on_rival
    else:
        s -= on_winner
        if pair.threat == INJECT:
            n -= on_winner
            n2 -= on_rival
        else:
            s2 += on_rival
    if s <= 0.0 or s2 >= n2 or s * n2 <= s2 * n:
        return False
    if pair.adaptive:
        return log_evidence(s, n, s2, n2) >= -pair.log_level
    return is_rare(s, n, s2, n2, pair.log_level)


@kernel
def grown(pair: CoinPair, factor: float) -> CoinPair:
    """The pair with more events at about the same rates."""
    n, n2 = floor(factor * pair.events + 0.5), floor(factor * pair.rival_events + 0.5)
    s, s2 = floor(factor * pair.successes + 0.5), floor(factor * pair.rival_successes + 0.5)
    return CoinPair(pair.threat, pair.adaptive, pair.log_level, float(s), float(n), float(s2), float(n2))


@rare_kernel
def is_rare(s: float, n: float, s2: float, n2: float, log_level: float) -> bool:
    """Whether Fisher's test finds at least s of the s + s2 successes in the first arm too rarely for chance."""
    rate = (s + s2) / (n + n2)
    mass = log_binomial_mass(s, n, rate) + log_binomial_mass(s2, n2, rate)
    mass -= log_binomial_mass(s + s2, n + n2, rate)
    if mass > log_level:
        return False
    if log_level - mass > CERTAIN:
        return True
    allowed, total, term, k = exp(log_level - mass), 1.0, 1.0, 0.0
    f, f2 = n - s, n2 - s2
    while True:  # the next term is a smaller share of the last one each time, and finally zero
        share = (s2 - k) * (f - k) / ((s + k + 1.0) * (f2 + k + 1.0))
        if total + term * share / (1.0 - share) <= allowed:  # were it always this share
            return True
        term *= share
        total += term
        if total > allowed:
            return False
        k += 1.0


@rare_kernel
def log_evidence(s: float, n: float, s2: float, n2: float) -> float:
    """ln E of two arms."""
    rate = (s + s2) / (n + n2)
    return log_mixture(s, n, rate) + log_mixture(s2, n2, rate)


@rare_kernel
def log_mixture(s: float, n: float, rate: float) -> float:
    """The logarithm of an arm's average likelihood over Beta(1/2, 1/2), divided by that at one rate."""
    return average_likelihood(s, n) + deviance(s, n * rate) + deviance(n - s, n * (1.0 - rate))


@rare_kernel
def average_likelihood(s: float, n: float) -> float:
    """The logarithm of an arm's average likelihood over Beta(1/2, 1/2), divided by its maximum."""
    return half_error(s) + half_error(n - s) - stirling_error(n) + 0.5 * log(2.0 / (pi * n))


@kernel
def half_error(x: float) -> float:
    """The logarithm of Gamma(x + 1/2) minus (x ln x - x + ln(2 pi) / 2), without cancellation."""
    if x < 16.0:
        if x == floor(x):
            return HALF_ERRORS[int(x)]
        return lgamma(x + 0.5) - (x * log(x) - x + 0.5 * log(2.0 * pi))
    inverse = 1.0 / (x * x)
    return -(1 / 24 - (7 / 2880 - (31 / 40320 - (127 / 430080) * inverse) * inverse) * inverse) / x


@rare_kernel
def least_rate(s: float, n: float, log_level: float) -> float:
    """The least rate that the mixture does not reject: a lower limit, valid at every look."""
    low, high = 0.0, s / n
    if s <= 0.0:
        return low
    for _ in range(60):
        middle = 0.5 * (low + high)
        if log_mixture(s, n, middle) < -log_level:
            high = middle
        else:
            low = middle
    return low
