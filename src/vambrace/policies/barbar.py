"""BARBAR: estimate every gap in epochs, and never drop an arm.

Setting     K arms, rewards in [0, 1], horizon T; corruption (chosen before the arm is drawn) of unknown size.
Algorithm   D_i = 1. Epoch m = 1, 2, ... plans n_i = lambda / D_i^2 pulls of arm i and lasts N = sum n_i rounds, in each
            of which arm i is drawn with probability n_i / N. Then r_i = S_i / n_i with the epoch's reward S_i,
            r* = max_i (r_i - D_i / 16), D_i = max(2^-m, r* - r_i).   Gupta, Koren, Talwar 2019
Reading     n_i stays real, N is rounded up. The lambda of the theory draws almost uniformly for 10^6 rounds of ten
            arms; `scale` replaces it. delta = K / T by default. A delayed answer counts in the epoch of its arrival.
"""

from dataclasses import dataclass
from math import ceil, log, log2
from typing import Annotated, NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Chance, Range
from vambrace.protocols import Answer, Floats, Game, Policy, Round
from vambrace.sampling import Stream, uniform

LARGEST = 1e50  # the largest gap: its square must not overflow; only rewards far outside of [0, 1] come near it
LONGEST = 2.0**62  # the most rounds of an epoch


class State(NamedTuple):
    """The plan of the present epoch and the rewards of each arm in it."""

    gaps: Floats  # D
    planned: Floats  # n
    chances: Floats  # n / sum n
    cumulated: Floats
    totals: Floats  # S
    epoch: int  # m
    rounds_left: int
    scale: float  # lambda


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    u = uniform(rng)
    arm, last = 0, len(state.cumulated) - 1
    while arm < last and u >= state.cumulated[arm]:
        arm += 1
    return arm, state.chances[arm], 0


@kernel
def update(state: State, answer: Answer) -> State:
    state.totals[answer.arm] += answer.reward
    epoch, rounds_left = state.epoch, state.rounds_left - 1
    if rounds_left <= 0:
        _estimate(state)
        epoch += 1
        rounds_left = plan(state)
    gaps, planned, chances, cumulated, totals, _, _, scale = state
    return State(gaps, planned, chances, cumulated, totals, epoch, rounds_left, scale)


@rare_kernel
def _estimate(state: State) -> None:
    """The gaps after an epoch."""
    best = -np.inf
    for k in range(len(state.gaps)):
        best = max(best, state.totals[k] / state.planned[k] - state.gaps[k] / 16.0)
    for k in range(len(state.gaps)):
        state.gaps[k] = min(max(0.5**state.epoch, best - state.totals[k] / state.planned[k]), LARGEST)


@rare_kernel
def plan(state: State) -> int:
    """Set the probabilities from the gaps; returns the number of rounds of the epoch."""
    total, cumulative = 0.0, 0.0
    for k in range(len(state.gaps)):
        state.planned[k] = state.scale / (state.gaps[k] * state.gaps[k])
        total += state.planned[k]
    for k in range(len(state.gaps)):
        state.totals[k] = 0.0
        state.chances[k] = state.planned[k] / total
        cumulative += state.chances[k]
        state.cumulated[k] = cumulative
    return max(1, int(ceil(min(total, LONGEST))))  # noqa: RUF046 - Numba's ceil is a float


@dataclass(frozen=True, kw_only=True)
class BARBAR(Policy):
    """Estimates every gap in epochs and never drops an arm: survives *corruption* of any size, chosen before the draw.

    No protection against an attacker who sees the arm: it pays only for the pulls of the best arm.

    Args:
        scale: lambda, the pulls of an arm of gap one per epoch; None: 1024 ln((8 K / delta) log2 T), as in the theory,
            which draws almost uniformly for the first million rounds. A value near 100 learns from the start.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O(K C + sum over arms of ln(T) ln(K ln(T) / delta) / gap) under corruption of size C.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Invert(budget=50)
    >>> print(vb.simulate(vb.BARBAR(scale=100), env, attack, horizon=10_000, seed=1))
    barbar:scale=100 against invert:budget=50: regret 713.6 after 10,000 rounds, cost 50.0
    """

    name, reference = "barbar", "Gupta et al. 2019"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)

    scale: Annotated[float, Range(1e-9, 1e12)] | None = None
    delta: Chance | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        theory = 1024.0 * (log(8.0) + log(n_arms) - log(delta) + log(max(1.0, log2(horizon))))
        scale = theory if self.scale is None else float(self.scale)
        planned, chances, cumulated, totals = np.zeros((4, n_arms))
        fresh = State(np.ones(n_arms), planned, chances, cumulated, totals, epoch=1, rounds_left=0, scale=scale)
        return fresh._replace(rounds_left=plan(fresh))
