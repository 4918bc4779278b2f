"""Exact binomial intervals, without SciPy, which takes seconds to import."""

from math import exp, inf, lgamma, log, log1p

from vambrace.kernels import rare_kernel

STEPS = 10_000  # of the continued fraction; it needs about sqrt(n)
TINY = 1e-300


def clopper_pearson(successes: int, trials: int, level: float) -> tuple[float, float]:
    """The exact interval of a chance: each side is wrong with probability at most (1 - level) / 2.

    >>> low, high = clopper_pearson(3, 100, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0062, 0.0852)
    """
    tail = (1.0 - level) / 2.0
    return lower_limit(successes, trials, tail), upper_limit(successes, trials, tail)


def lower_limit(successes: float, trials: float, tail: float) -> float:
    """The chance at which so many successes or more have probability `tail`."""
    return 0.0 if successes <= 0 else _solve(successes, trials - successes + 1, log(tail))


def upper_limit(successes: float, trials: float, tail: float) -> float:
    """The chance at which so many successes or fewer have probability `tail`."""
    return 1.0 if successes >= trials else 1.0 - _solve(trials - successes, successes + 1, log(tail))


def _solve(a: float, b: float, log_tail: float) -> float:
    """The x with I_x(a, b) = tail, by bisection to the last bit."""
    low, high = 0.0, 1.0
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return low
        if log_incomplete_beta(a, b, middle) < log_tail:
            low = middle
        else:
            high = middle


def log_incomplete_beta(a: float, b: float, x: float) -> float:
    """The logarithm of I_x(a, b), the chance of a or more successes in a + b - 1 trials of chance x (whole a, b)."""
    if x <= 0.0:
        return -inf
    if x >= 1.0:
        return 0.0
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    if x <= (a + 1.0) / (a + b + 2.0):
        return front + log(beta_fraction(a, b, x)) - log(a)
    rest = front + log(beta_fraction(b, a, 1.0 - x)) - log(b)
    return log1p(-exp(rest)) if rest < 0.0 else -inf


@rare_kernel
def beta_fraction(a: float, b: float, x: float) -> float:
    """Gauss's continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / _away(1.0 + numerator * d)
            c = _away(1.0 + numerator / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


@rare_kernel
def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY
