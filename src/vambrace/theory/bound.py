"""What a bound is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A bound on the regret, as a number that is either to be believed or only compared.

    >>> from vambrace import theory
    >>> bound = theory.concealment(n_arms=10, horizon=10_000, budget=100)
    >>> bound.value, bound.explicit
    (400.0, True)
    """

    name: str
    kind: Literal["upper", "lower"]
    value: float
    explicit: bool  # True: the regret of a finite game obeys this number; False: an order, constants unknown
    formula: str
    holds: str  # when
    source: str  # theorem and errata
