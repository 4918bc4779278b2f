"""Robust phased elimination: the linear bandit of Bogunovic et al. on K unit vectors, for an unknown budget.

Setting     K arms, rewards in [0, 1], horizon T; attacks of unknown size by an attacker who sees the arm.
Algorithm   The phases of PE-WR: phase h pulls each active arm n_h = ceil(K 2^h max(1 / |S_h|, nu)) times and drops each
            arm whose mean of this phase lies more than 2 (sqrt(lambda / n_h) + C_h / n_h) below the best, with
            C_h = min(sqrt(T) / (K log2 T), K^(3/2) 2^(log2 T - h)).   Bogunovic et al. 2021
Reading     Reconstruction: the uniform design is the optimal one on unit vectors, its length l_0 is K, and lambda is
            PE-WR's. The truncation nu of the design is 1 / K by default, which changes nothing; a larger nu pulls
            small active sets more often than the length of the phase requires.
"""

from dataclasses import dataclass
from math import log2, sqrt
from typing import Annotated

from vambrace.parameters import Chance, Range
from vambrace.policies.pe_wr import PhasedPolicy, State
from vambrace.protocols import Game


@dataclass(frozen=True, kw_only=True)
class RobustPhasedElimination(PhasedPolicy):
    """The predecessor of `PEWR`, for an attack of unknown size: phases of doubling length, each with its own budget.

    Args:
        truncation: Nu: each active arm gets at least this share of the length of a phase; None: 1 / K, no truncation.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O~(sqrt(K T)) plus a polynomial in K times C^2 under an attack of any size C up to sqrt(T) / (K log2 T).

    >>> import vambrace as vb
    >>> policy, env = vb.RobustPhasedElimination(), vb.Bernoulli([0.9, 0.5])
    >>> print(vb.simulate(policy, env, vb.Conceal(budget=10), horizon=50_000, seed=1))
    robust-phased-elimination against conceal:budget=10: regret 409.2 after 50,000 rounds, cost 10.0
    """

    name, reference = "robust-phased-elimination", "Bogunovic et al. 2021"

    truncation: Annotated[float, Range(0.0, 1.0, open_low=True)] | None = None
    delta: Chance | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        cap = sqrt(horizon) / (n_arms * max(1.0, log2(horizon)))
        first_guess = n_arms * sqrt(n_arms) * horizon
        return self.start(n_arms, horizon, cap, first_guess, self.truncation or 0.0)
