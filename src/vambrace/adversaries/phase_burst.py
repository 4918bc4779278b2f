"""Phase burst: spend everything on the best arm inside one phase of PE-WR.

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


class State(NamedTuple):
    """The arm to get dropped, its lead, and the stage of the burst."""

    arm: int
    gap: float
    second_mean: float
    horizon: int
    phase: int  # the last one that was looked at
    stage: int


@kernel
def look(state: State, round: Round, view: Any) -> State:
    if view.phase == state.phase:
        return state
    stage = _stage(state, round.t, view)
    return State(state.arm, state.gap, state.second_mean, state.horizon, view.phase, stage)


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return (1.0 if state.stage == BURSTING and arm == state.arm else 0.0), 0.0


@rare_kernel
def _stage(state: State, t: int, view: Any) -> int:
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
    look, respond = staticmethod(look), staticmethod(respond)

    def init(self, game: Game) -> State:
        best, second = two_best(game.means)
        best_mean, second_mean = (float(game.means[arm]) for arm in (best, second))
        return State(best, best_mean - second_mean, second_mean, game.required_horizon, -1, WAITING)
