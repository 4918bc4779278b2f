"""SE-WR-Stop: SE-WR that stops eliminating arms at a fixed sweep.

Setting     As SE-WR: the budget is known.
Algorithm   Before each sweep check n <= cap; once that fails the active set is frozen and swept to the end.
            multiplicative: cap = T / K;  additive: cap = T / K + budget sqrt(T / (K ln(KT/delta))).   Algorithm 4
Reading     The check is before the sweep, so the last test is at n = floor(cap) + 1. "Uniformly pull" is round-robin:
            a random order would not hinder an adversary that sees the arm. The observed reward is what Algorithm 4
            calls X (E17). Plain SE-WR already has both bounds (E16).
"""

from dataclasses import dataclass
from math import floor, sqrt
from typing import Literal

from vambrace.parameters import Budget, Chance
from vambrace.policies.elimination import NEVER
from vambrace.policies.radii import Radius, Rule
from vambrace.policies.se_wr import SweepingPolicy


@dataclass(frozen=True, kw_only=True)
class SEWRStop(SweepingPolicy):
    """SE-WR that stops eliminating at a fixed sweep, which bounds the regret for gaps of any size (Algorithm 4).

    For a known budget if gaps may be too small to be found. `SEWR` has the same two bounds, up to constants, and is the
    simpler choice; this policy exists because the paper's other algorithms are built on it.

    Args:
        budget: What the attacker may spend in total: at worst, this many fake events.
        stop: "additive": regret O(sqrt(K T ln(K T / delta)) + K budget), for small budgets; "multiplicative": O(sqrt(K
            T (ln(K T / delta) + budget))), for large ones.
        delta: The chance that the guarantee fails; None: K / T.
        radius: "paper", "tight" or "kl", as in `SEWR`.

    Guarantee: the bound of its `stop` with probability 1 - delta, under any attack within the budget (Theorem 7).

    >>> import vambrace as vb
    >>> policy = vb.SEWRStop(budget=50, stop="multiplicative")
    >>> print(vb.simulate(policy, vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50), horizon=20_000, seed=1))
    se-wr-stop:budget=50,stop=multiplicative against conceal:budget=50: regret 464.0 after 20,000 rounds, cost 50.0
    """

    name, reference = "se-wr-stop", "Algorithm 4, Theorem 7"

    budget: Budget
    stop: Literal["additive", "multiplicative"] = "additive"
    delta: Chance | None = None
    radius: Radius = "paper"

    def _last_test(self, n_arms: int, horizon: int, rule: Rule) -> int:
        cap = horizon / n_arms
        if self.stop == "additive":
            # at T = 1 the logarithm is zero and the cap infinite: the tests never stop, and there is no arm to drop
            cap += self.budget * sqrt(cap / rule.log_equal) if rule.log_equal > 0.0 else NEVER
        return floor(min(cap, float(NEVER))) + 1
