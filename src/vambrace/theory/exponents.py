"""Exponents: with C = T^beta each bound for an unknown budget is T^gamma(beta) up to logarithms (the paper's Figure 2).

Additive (PE-WR): max(1/2, 2 beta). CORRAL: 1/2 + beta. EXP3.P: 2/3 + beta/2. All capped at 1, where regret is linear.
The remark beside the figure prints C sqrt(K) T^(2/3) and C^2 K sqrt(T), but its thresholds and the figure belong to
sqrt(K C) T^(2/3) and K C sqrt(T), which are used here (E11; E2 says which master has which).
"""

from fractions import Fraction
from itertools import product

from vambrace import validation
from vambrace.errors import InvalidParameter

# Each exponent is the maximum of a few lines: (value at zero, slope).
LINES: dict[str, tuple[tuple[Fraction, Fraction], ...]] = {
    "additive": ((Fraction(1, 2), Fraction(0)), (Fraction(0), Fraction(2))),
    "corral": ((Fraction(1, 2), Fraction(1)),),
    "exp3p": ((Fraction(2, 3), Fraction(1, 2)),),
}


def exponent(kind: str, beta: float) -> float:
    """gamma(beta): the bound is T^gamma when the attack spends T^beta.

    Args:
        kind: "additive" (PE-WR), "corral" or "exp3p" (MS-SE-WR).
        beta: The power of T that the attack spends, from 0 to 1.

    >>> from vambrace import theory
    >>> theory.exponent("additive", 0.25), theory.exponent("corral", 0.25), round(theory.exponent("exp3p", 0.25), 3)
    (0.5, 0.75, 0.792)
    """
    validation.choice("kind", kind, [*LINES])
    validation.number("beta", beta, low=0.0, high=1.0)
    return float(min(1.0, max(start + slope * beta for start, slope in LINES[kind])))


def crossing(one: str, other: str) -> tuple[Fraction, Fraction]:
    """The beta > 0 at which two bounds have the same exponent, and that exponent, exactly.

    Args:
        one: The kind of the first bound, as in `exponent`.
        other: The kind of the second one.

    >>> from vambrace import theory
    >>> theory.crossing("corral", "exp3p")
    (Fraction(1, 3), Fraction(5, 6))
    >>> theory.crossing("additive", "exp3p")
    (Fraction(4, 9), Fraction(8, 9))
    """
    for kind in (one, other):
        validation.choice("kind", kind, [*LINES])
    if one == other:
        raise InvalidParameter(f"crossing: expected two different kinds, got {one!r} twice")
    for (start, slope), (other_start, other_slope) in product(LINES[one], LINES[other]):
        if slope != other_slope:
            beta = (other_start - start) / (slope - other_slope)
            height = start + slope * beta
            both_highest = all(s + g * beta <= height for s, g in LINES[one] + LINES[other])
            if beta > 0 and height <= 1 and both_highest:
                return beta, height
    raise InvalidParameter(f"crossing: expected two lines that cross, got {one!r} and {other!r}")
