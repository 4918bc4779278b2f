"""Get the best arm dropped: elimination rush for policies such as SE-WR, and phase burst for PE-WR.

Elimination rush:

Algorithm   Return 0 for the best arm and 1 for the runner-up until the best arm is dropped, then nothing.
Effect      After n sweeps the best arm falls if the two sums differ by more than line(n): 2 (sqrt(n L) + budget) for
            SE-WR. That takes line(n) + n gap, which grows with n, and a unit of cost moves the difference by one on
            either arm: the cheapest attack moves both as far as possible from the first round on. The difference then
            grows by one per sweep and reaches the line at the first n = line(n), at a cost of n (1 + gap) on average:
            for SE-WR a small multiple of its budget, 2 (1 + gap) if it is large and (1 + gap) with radius "tight".
Reading     Ties of means go to the lowest index.

Phase burst:

Algorithm   At the start of a phase h compute, for it and for every later phase that ends within the horizon, the price
            n_h gap + 2 sqrt(lambda n_h) + 2 C_h of getting the best arm dropped in it. If phase h is the cheapest of
            those in which this is possible, return 0 for the best arm throughout it; only once.
Effect      PE-WR judges by the means of one phase and assumes an attack of C_h = min(cap, 2^(H-h-1)) in it, so the
            best arm is dropped for good if the budget exceeds the price.
Reading     Zeros push a mean no lower than 0, so a phase is feasible if n_h times the runner-up's mean exceeds the
            line 2 sqrt(lambda n_h) + 2 C_h; sqrt(lambda' n_h) + C_h for radius "tight". n_h of later phases is computed
            with the arms that are active now.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np

from vambrace.adversaries.ranks import two_best
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Game, Round

WAITING, BURSTING, SPENT = 0, 1, 2
PAPER = 0  # the radius of the policy's rule; 1 is "tight"


class Rush(NamedTuple):
    """The arm to push down, and the one to push up; the same if there is only one arm."""

    best: int
    runner_up: int


@kernel
def respond_until_dropped(state: Rush, view: Any, arm: int, reward: float) -> tuple[float, float]:
    if view.arms.dropped[state.best]:
        return 0.0, reward
    if arm == state.best:
        return 1.0, 0.0
    return (1.0 if arm == state.runner_up else 0.0), 1.0


@dataclass(frozen=True, kw_only=True)
class EliminationRush(StationaryAdversary):
    """Get the best arm dropped as early as possible: return 0 for the best arm and 1 for the runner-up until then.

    The cheapest way to defeat `SEWR` and similar policies: if the policy's budget is large, about 2 (1 + gap) times
    that budget, 1 + gap with radius "tight". Strong and white box: it sees the active arms and knows the means.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.8])
    >>> for budget in (50, 1_000):  # within what the policy was told, and far beyond
    ...     attack = vb.EliminationRush(budget=budget)
    ...     result = vb.simulate(vb.SEWR(budget=50), env, attack, horizon=10**6, seed=1)
    ...     print(result.pulls[0].tolist(), result.cost[0, -1])
    [986746, 13254] 50.0
    [278, 999722] 303.0
    """

    name, reference = "elimination-rush", "after Algorithm 1"
    knowledge, aim = "white box", "drops the best arm"
    reads = ("arms",)
    respond = staticmethod(respond_until_dropped)

    def init(self, game: Game) -> Rush:
        return Rush(*two_best(game.means))


class Burst(NamedTuple):
    """The arm to get dropped, its lead, and the stage of the burst."""

    arm: int
    gap: float
    second_mean: float
    horizon: int
    phase: int  # the last one that was looked at
    stage: int


@kernel
def look(state: Burst, round: Round, view: Any) -> Burst:
    if view.phase == state.phase:
        return state
    stage = _stage(state, round.t, view)
    return Burst(state.arm, state.gap, state.second_mean, state.horizon, view.phase, stage)


@kernel
def respond_in_burst(state: Burst, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return (1.0 if state.stage == BURSTING and arm == state.arm else 0.0), 0.0


@rare_kernel
def _stage(state: Burst, t: int, view: Any) -> int:
    """BURSTING if the phase that starts in round t is feasible and no later one is cheaper; SPENT after that phase."""
    if state.stage != WAITING:
        return SPENT
    rule, n_active = view.rule, view.arms.n_active
    phase, played, first_price = view.phase, t - 1, np.inf
    while n_active > 1:
        length = view.n_arms * 2**phase
        pulls = max((length + n_active - 1) // n_active, int(ceil(length * view.truncation)))  # noqa: RUF046 - Numba's ceil
        played += pulls * n_active
        if played > state.horizon:
            break
        budget = min(view.cap, view.first_guess * 0.5**phase)
        if rule.radius == PAPER:
            line = 2.0 * (sqrt(rule.log_single * pulls) + budget)
        else:
            line = sqrt(rule.log_equal * pulls) + budget
        price = pulls * state.gap + line if pulls * state.second_mean > line else np.inf
        if phase == view.phase:
            first_price = price
        if first_price == np.inf or price < first_price:
            return WAITING
        phase += 1
    return BURSTING if first_price < np.inf else WAITING


@dataclass(frozen=True, kw_only=True)
class PhaseBurst(StationaryAdversary):
    """Hide the best arm in one phase of `PEWR`, the one in which this is cheapest.

    Strong and white box: it knows the means, and sees phase, radius and active arms of `PEWR` or
    `RobustPhasedElimination`.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.85]), vb.PhaseBurst(budget=5_000)
    >>> result = vb.simulate(vb.PEWR(), env, attack, horizon=200_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1])
    ([2047, 197953], 923.0)
    """

    name, reference = "phase-burst", "after Algorithm 2"
    knowledge, aim = "white box", "drops the best arm"
    reads = ("arms", "rule", "phase", "n_arms", "cap", "first_guess", "truncation")
    look, respond = staticmethod(look), staticmethod(respond_in_burst)

    def init(self, game: Game) -> Burst:
        best, second = two_best(game.means)
        best_mean, second_mean = (float(game.means[arm]) for arm in (best, second))
        return Burst(best, best_mean - second_mean, second_mean, game.required_horizon, -1, WAITING)
