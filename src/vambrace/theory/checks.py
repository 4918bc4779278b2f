"""What a check of a guarantee is: how often it failed, and how often it may."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vambrace.protocols import Floats
from vambrace.statistics import lower_limit

DELTA = 0.05  # of every policy that is checked; the default K / T is too small to measure
LEAST_SPENT = 0.5  # share of its budget that an attack must spend to prove something


@dataclass(frozen=True, kw_only=True)
class Check:
    """One guarantee, on one instance, under one attack."""

    promise: str
    instance: str
    attack: str
    replications: int
    spent: float | None  # share of the budget that the attack spent, on average; None without attack
    largest_ratio: float | None  # regret over bound, or bound over regret for a lower bound; None for coverage
    failures: int
    allowed: float  # how often it may fail
    at_least: float  # lower confidence limit of how often it fails

    @property
    def holds(self) -> bool:
        """Whether the failures may be chance, and the attack spent enough."""
        return self.at_least <= self.allowed and (self.spent is None or self.spent >= LEAST_SPENT)


def counted(promise: str, ratios: Floats | None, failed: Any, allowed: float) -> dict[str, Any]:
    """The fields of a check that follow from its games."""
    largest = None if ratios is None else float(np.max(ratios))
    return {"promise": promise, "largest_ratio": largest, "failures": int(np.sum(failed)), "allowed": allowed}


def judged(found: dict[str, Any], level: float) -> Check:
    """The check, with a confidence limit that is too high with probability `level`.

    Failures that happen as often in another game, of which there are `elsewhere`, are allowed and taken off: half of
    the probability is for each of the two limits.
    """
    found = dict(found)
    elsewhere, count = found.pop("elsewhere", None), found["replications"]
    if elsewhere is None:
        return Check(**found, at_least=lower_limit(found["failures"], count, level))
    others = 1.0 - lower_limit(count - elsewhere, count, level / 2)
    return Check(**found, at_least=max(lower_limit(found["failures"], count, level / 2) - others, 0.0))
