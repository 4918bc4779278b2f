"""What a bound is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A bound on the regret: an exact limit, or an order that can only be compared with other orders.

    Attributes:
        name: What the bound is called.
        kind: "upper": a policy guarantees it; "lower": no policy can beat it.
        value: The number.
        explicit: True: the number holds for a finite game; False: an order, with unknown constants.
        formula: The bound as a formula of K, T, C, the gaps and delta.
        holds: The conditions under which it holds.
        source: The theorem and the errata.

    >>> from vambrace import theory
    >>> bound = theory.concealment(n_arms=10, horizon=10_000, budget=100)
    >>> bound.value, bound.explicit
    (400.0, True)
    """

    name: str
    kind: Literal["upper", "lower"]
    value: float
    explicit: bool
    formula: str
    holds: str
    source: str
