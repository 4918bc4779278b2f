"""Binomial chances, exact limits and the distributions of tests, without SciPy, which takes seconds to import.

Binomial chances are kernels in the saddle-point form of Loader (2000), which is accurate at 10^15 trials, where
differences of log-gamma lose all digits. What tests need are plain functions.
"""

from collections.abc import Callable
from functools import cache
from math import erf, erfc, exp, factorial, floor, gamma, inf, lgamma, log, log1p, pi, sqrt

import numpy as np

from vambrace.kernels import kernel, rare_kernel

STEPS = 10_000  # of the continued fraction; it needs about sqrt(n)
TINY = 1e-300
STIRLING_ERRORS = np.array(
    [0.0] + [log(factorial(x)) - (0.5 * log(2.0 * pi * x) + x * log(x) - x) for x in range(1, 16)]
)


@kernel
def stirling_error(x: float) -> float:
    """ln x! minus Stirling's formula for it, to the last digits (Loader 2000)."""
    if x < 16.0:
        if x == floor(x):
            return STIRLING_ERRORS[int(x)]
        return lgamma(x + 1.0) - (0.5 * log(2.0 * pi * x) + x * log(x) - x)
    inverse = 1.0 / (x * x)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680) * inverse) * inverse) * inverse) / x


@kernel
def deviance(x: float, mean: float) -> float:
    """x ln(x / mean) + mean - x, without cancellation where x is near the mean (Loader 2000)."""
    if x <= 0.0:
        return mean
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total = (x - mean) * v
    term = 2.0 * x * v
    v *= v
    for j in range(1, 1000):
        term *= v
        longer = total + term / (2 * j + 1)
        if longer == total:
            break
        total = longer
    return total


@rare_kernel
def log_binomial_mass(k: float, n: float, p: float) -> float:
    """ln P(Binomial(n, p) = k), with an error near rounding even if n is 10^15; k need not be an integer."""
    if k == 0.0:
        return n * log1p(-p)
    if k == n:
        return n * log(p)
    return (
        (stirling_error(n) - stirling_error(k) - stirling_error(n - k))
        - deviance(k, n * p)
        - deviance(n - k, n * (1.0 - p))
        + 0.5 * log(n / (2.0 * pi * k * (n - k)))
    )


@rare_kernel
def log_tail(k: float, n: float, p: float, exact: bool) -> tuple[float, float]:
    """ln P(Binomial(n, p) >= k), and its slope in ln p; unless `exact`, Chernoff's bound exp(-n kl(k / n, p)) for it.

    The exact tail is the incomplete beta function I_p(k, n - k + 1). Near the mean and above it, where it exceeds 1 / e
    and is of no use for a confidence limit, both numbers are 0.
    """
    if k <= (n + 1.0) * p if exact else k <= n * p:
        return 0.0, 0.0
    if not exact:
        return -deviance(k, n * p) - deviance(n - k, n * (1.0 - p)), (k - n * p) / (1.0 - p)
    fraction = _beta_fraction(k, n - k + 1.0, p)
    return log_binomial_mass(k, n, p) + log1p(-p) + log(fraction), k / ((1.0 - p) * fraction)


@rare_kernel
def _beta_fraction(a: float, b: float, x: float) -> float:
    """Gauss's continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / _nonzero(1.0 + numerator * d)
            c = _nonzero(1.0 + numerator / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


@rare_kernel
def _nonzero(value: float) -> float:
    return value if abs(value) > TINY else TINY


@rare_kernel
def least_chance(k: float, n: float, log_level: float, exact: bool) -> float:
    """The chance at which k successes or more of n have probability exp(log_level), at most 1 / e; see `log_tail`.

    Newton's method in ln p, in which the logarithm of the tail is concave: every step but the first stays below the
    root. The start is the largest of three bounds from below on the Chernoff limit, which is below the exact one.
    """
    if k <= 0.0:
        return 0.0
    mean, share = k / n, -log_level / n
    p = max(mean - sqrt(0.5 * share), mean - sqrt(2.0 * mean * share), mean * exp(log_level / k - 1.0))
    if p < 1e-290:  # the limit of a small part of one reward: return zero before it underflows
        return 0.0
    for _ in range(100):
        tail, slope = log_tail(k, n, p, exact)
        if tail >= log_level:  # also when rounding has put the start on the mean
            break
        larger = p * exp((log_level - tail) / slope)
        if larger <= p * (1.0 + 1e-16):
            break
        p = larger
    return p


def lower_limit(successes: int, trials: int, tail: float) -> float:
    """The exact lower confidence limit of a chance (Clopper and Pearson 1934), which is wrong with probability `tail`.

    >>> round(lower_limit(3, 100, 0.025), 4)
    0.0062
    """
    return least_chance(float(successes), float(trials), log(tail), exact=True)


def student_tail(t: float, freedom: int) -> float:
    """P(|T| >= |t|) for Student's distribution with this many degrees of freedom.

    >>> round(student_tail(2.093, 19), 4)
    0.05
    """
    a, square = 0.5 * freedom, t * t
    if square == 0.0 or square == inf:
        return float(square == 0.0)
    x, rest = freedom / (freedom + square), square / (freedom + square)  # which add up to 1
    scale = exp(lgamma(a + 0.5) - lgamma(a) - lgamma(0.5) - a * log1p(square / freedom) + 0.5 * log(rest))
    if x < (a + 1.0) / (a + 2.5):  # where the continued fraction is short
        return scale * _beta_fraction(a, 0.5, x) / a
    return 1.0 - 2.0 * scale * _beta_fraction(0.5, a, rest)


@cache
def student_limit(tail: float, freedom: int) -> float:
    """The t with P(|T| >= t) = tail.

    >>> round(student_limit(0.05, 19), 4)
    2.093
    """
    return _root(lambda t: student_tail(t, freedom) - tail)


def chi_square_tail(x: float, freedom: int) -> float:
    """P(X >= x) for the chi-square distribution: a finite sum, since the degrees of freedom are whole.

    >>> round(chi_square_tail(3.8415, 1), 4)
    0.05
    """
    half = 0.5 * x
    if freedom % 2 == 0:
        return exp(-half) * sum(half**k / factorial(k) for k in range(freedom // 2))
    return erfc(sqrt(half)) + exp(-half) * sum(half ** (k - 0.5) / gamma(k + 0.5) for k in range(1, freedom // 2 + 1))


@cache
def range_limit(tail: float, count: int) -> float:
    """The length that the range of this many independent standard normal numbers exceeds with probability `tail`.

    >>> round(range_limit(0.05, 3), 4)
    3.3145
    """
    z = np.linspace(-9.0, 9.0, 361)  # the sum converges exponentially
    density = np.exp(-0.5 * z * z) / sqrt(2.0 * pi)

    def excess(length: float) -> float:
        between = np.array([0.5 * (erf(each / sqrt(2.0)) - erf((each - length) / sqrt(2.0))) for each in z])
        return 1.0 - count * float((density * between ** (count - 1)).sum()) * float(z[1] - z[0]) - tail

    return _root(excess)


def _root(falling: Callable[[float], float]) -> float:
    """Where a falling function on [0, inf) is zero, by halving."""
    low, high = 0.0, 1.0
    while falling(high) > 0.0:
        low, high = high, 2.0 * high
        if high == inf:
            return inf
    while (middle := 0.5 * (low + high)) not in (low, high):
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
    return high
