"""The two masters of MS-SE-WR: CORRAL and EXP3.P, each choosing among M bases over R rounds of its own.

CORRAL      log-barrier mirror descent with growing learning rates; Agarwal et al. 2017, used by Pacchiano et al. 2020
EXP3.P      exponential weights with a bonus, in the tuning that gives T^(2/3): p0 = R^(-1/3), gamma = min(1/2, M p0),
            eta = gamma / ((1 + beta) M), beta = sqrt(ln(M R) / (M R))
"""

from math import exp, log, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.policies.exponential import step_exp3p
from vambrace.protocols import Floats

CORRAL, EXP3P = 0, 1
MasterName = Literal["corral", "exp3p"]
MASTERS: tuple[MasterName, ...] = get_args(MasterName)


class Master(NamedTuple):
    """Probabilities over bases and what each master needs to update them."""

    kind: int
    mixed: Floats  # the probabilities that bases are drawn with
    inverse: Floats  # CORRAL: 1 / p of the unmixed probabilities
    rates: Floats  # CORRAL: a learning rate for each base
    thresholds: Floats  # CORRAL: raise a base's rate when 1 / mixed passes this
    gains: Floats  # EXP3.P: estimated gain of each base
    rate: float  # EXP3.P: eta
    bonus: float  # EXP3.P: beta
    growth: float  # CORRAL: beta, the factor by which a rate is raised
    exploration: float  # gamma


def make_master(kind: str, n_bases: int, rounds: int) -> Master:
    """Uniform over the bases."""
    bonus = sqrt(log(n_bases * rounds) / (n_bases * rounds))
    exploration = 1.0 / rounds if kind == "corral" else min(0.5, n_bases * rounds ** (-1.0 / 3.0))
    return Master(
        kind=MASTERS.index(kind),
        mixed=np.full(n_bases, 1.0 / n_bases),
        inverse=np.full(n_bases, float(n_bases)),
        rates=np.full(n_bases, sqrt(n_bases / rounds)),
        thresholds=np.full(n_bases, 2.0 * n_bases),
        gains=np.zeros(n_bases),
        rate=exploration / ((1.0 + bonus) * n_bases),
        bonus=bonus,
        growth=exp(1.0 / log(rounds)) if rounds > 1 else 1.0,
        exploration=exploration,
    )


@kernel
def likeliest_base(master: Master) -> int:
    """The base with the largest probability, ties to the lowest index."""
    best = 0
    for i in range(len(master.mixed)):
        if master.mixed[i] > master.mixed[best]:
            best = i
    return best


@kernel
def learn(master: Master, base: int, reward: float, probability: float) -> None:
    """Update the probabilities after base `base`, drawn with `probability`, earned `reward`."""
    reward = min(max(reward, 0.0), 1.0)
    if master.kind == CORRAL:
        _learn_corral(master, base, 2.0 * (1.0 - reward) / probability)
    else:
        step_exp3p(master.gains, master.mixed, master.rate, master.bonus, master.exploration, base, reward, probability)


@rare_kernel
def _learn_corral(master: Master, base: int, loss: float) -> None:
    n_bases, shift, total = len(master.mixed), _normaliser(master, base, loss), 0.0
    for i in range(n_bases):
        own = loss if i == base else 0.0
        master.inverse[i] += master.rates[i] * (own - shift)
        total += 1.0 / master.inverse[i]
    for i in range(n_bases):
        master.inverse[i] *= total  # corrects rounding errors
        mixed = (1.0 - master.exploration) / master.inverse[i] + master.exploration / n_bases
        master.mixed[i] = mixed
        if master.thresholds[i] * mixed < 1.0:
            master.thresholds[i] = 2.0 / mixed
            master.rates[i] *= master.growth


@kernel
def _normaliser(master: Master, base: int, loss: float) -> float:
    """The x at which the probabilities 1 / (1/p_i + eta_i (loss_i - x)) sum to one.

    The sum is increasing and convex in x, at most one at x = 0 and at least one at the loss. Newton's first step from
    zero may go too far, even past the pole where a probability becomes infinite; bisection replaces such steps.
    """
    if loss == 0.0:
        return 0.0
    low, high, x = 0.0, loss, 0.0
    for i in range(len(master.mixed)):
        pole = master.inverse[i] / master.rates[i] + (loss if i == base else 0.0)
        high = min(high, pole)
    for _ in range(200):
        total, slope = -1.0, 0.0
        for i in range(len(master.mixed)):
            own = loss if i == base else 0.0
            p = 1.0 / (master.inverse[i] + master.rates[i] * (own - x))
            total += p
            slope += master.rates[i] * p * p
        if total > 0.0:
            high = x
        else:
            low = x
        step = total / slope
        closer = x - step
        if not low < closer < high:
            closer = 0.5 * (low + high)
        if abs(step) <= 4e-16 * loss or closer == x:
            return x
        x = closer
    return x
