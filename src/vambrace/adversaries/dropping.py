"""Get the best arm dropped: elimination rush for policies such as SE-WR, and phase burst for PE-WR.

Elimination rush:

Algorithm   Return 0 for the best arm and 1 for the runner-up.
Effect      After n sweeps of SE-WR the best arm falls if the two sums differ by more than line(n), 2 (sqrt(n L) +
            budget). That takes line(n) + n gap, which grows with n, and a unit of cost moves the difference by one on
            either arm: the cheapest attack moves both as far as possible from the first round on. The difference then
            grows by one per sweep and reaches the line at the first n = line(n), at a cost of n (1 + gap) on average:
            for SE-WR a small multiple of its budget, 2 (1 + gap) if it is large and (1 + gap) with radius "tight".
Reading     Nothing here needs a look into the policy, so the attack applies to every policy. With ``stop_when_dropped``
            it stops once the best arms are dropped (white box); without, it goes on raising the runner-up, which costs
            more and changes little. Arms as good as the best fall with it; of equal runners-up the first is raised.

Phase burst:

Algorithm   At the start of a phase h compute, for it and for every later phase that ends within the horizon, the price
            n_h gap + 2 sqrt(lambda n_h) + 2 C_h of getting the best arm dropped in it. If phase h is the cheapest of
            those in which this is possible, return 0 for the best arm and 1 for the runner-up throughout it. If the
            best arm is still active after it, do the same again.
Effect      PE-WR judges by the means of one phase and assumes an attack of C_h = min(cap, 2^(H-h-1)) in it, so the
            best arm is dropped for good if the budget exceeds the price.
Reading     Zeros and ones part two means by 1 at most, so a phase is feasible if n_h exceeds the line
            2 sqrt(lambda n_h) + 2 C_h; sqrt(lambda' n_h) + C_h for radius "tight". n_h of later phases is computed
            with the arms that are active now. Every arm as good as the best must fall: raising the runner-up by
            n_h (1 - mean) counts against all of them, and what is missing then is paid for each.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.adversaries.conceal import Conceal, State
from vambrace.adversaries.ranks import best_arms, best_of_the_others
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Arm
from vambrace.protocols import Flags, Game, Round

PAPER = 0  # the radius of the policy's rule; 1 is "tight"


@kernel
def hide_and_raise(state: Any, view: Any, arm: int, reward: float) -> tuple[float, float]:
    if state.hidden[arm]:
        return 1.0, 0.0
    return (1.0 if arm == state.raised else 0.0), 1.0


@dataclass(frozen=True, kw_only=True)
class EliminationRush(Conceal):
    """Get the best arm dropped as early as possible: return 0 for the best arm and 1 for the runner-up.

    The cheapest way to defeat `SEWR` and similar policies: if the policy's budget is large, about 2 (1 + gap) times
    that budget, 1 + gap with radius "tight". Other policies starve the best arm. Strong: it sees the pulled arm. It
    knows the means. It is a `Script` with the sign - for the best arms and + for the runner-up.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        arm: The arm to hide, by number; None: the best ones.
        stop_when_dropped: Stop once an eliminating policy has dropped the hidden arms (white box), which saves budget.
        best: How many of the best arms to hide, and with them every arm that is as good as one of them; never the
            worst.
        target: The arm that always seems to pay, by number; None: the best of those that are not hidden.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.8])
    >>> for budget in (50, 1_000):  # within what the policy assumes, and far beyond
    ...     attack = vb.EliminationRush(budget=budget, stop_when_dropped=True)
    ...     result = vb.simulate(vb.SEWR(budget=50), env, attack, horizon=10**6, seed=1)
    ...     print(result.pulls[0].tolist(), result.cost[0, -1])
    [986746, 13254] 50.0
    [278, 999722] 303.0
    """

    name, reference = "elimination-rush", "after Algorithm 1"
    aim = "drops the best arm"

    target: Arm | None = None

    @property
    def respond(self) -> Any:  # type: ignore[override]
        """The kernel: one reads the policy's state, the other does not."""
        return super().respond if self.stop_when_dropped else hide_and_raise

    def init(self, game: Game) -> State:
        hidden = super().init(game).hidden
        if self.target is None:
            return State(hidden, best_of_the_others(game.means, hidden))
        return State(hidden, validation.arm("target", self.target, len(game.means), default=0))


class Burst(NamedTuple):
    """The arms to get dropped, their lead over the runner-up, and whether this phase is the one."""

    hidden: Flags
    raised: int
    gap: float
    room: float  # by how much a reward of the runner-up can be raised, on average
    horizon: int
    phase: int  # the last one that was looked at
    bursting: bool


@kernel
def look(state: Burst, round: Round, view: Any) -> Burst:
    if view.phase == state.phase:
        return state
    bursting = _is_the_one(state, round.t, view)
    return Burst(state.hidden, state.raised, state.gap, state.room, state.horizon, view.phase, bursting)


@kernel
def respond(state: Burst, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return hide_and_raise(state, view, arm, reward) if state.bursting else (0.0, reward)


@rare_kernel
def _is_the_one(state: Burst, t: int, view: Any) -> bool:
    """Whether the phase that starts in round t is feasible and no later one is cheaper."""
    rule, n_active, targets = view.rule, view.arms.n_active, 0
    for k in range(len(state.hidden)):
        if state.hidden[k] and not view.arms.dropped[k]:
            targets += 1
    if targets == 0 or view.arms.dropped[state.raised]:
        return False
    phase, played, first_price = view.phase, t - 1, np.inf
    while True:
        length = view.n_arms * 2**phase
        pulls = max((length + n_active - 1) // n_active, int(ceil(length * view.truncation)))  # noqa: RUF046 - Numba's ceil
        played += pulls * n_active
        if played > state.horizon:
            return bool(first_price < np.inf)
        budget = min(view.cap, view.first_guess * 0.5**phase)
        if rule.radius == PAPER:
            line = 2.0 * (sqrt(rule.log_single * pulls) + budget)
        else:
            line = sqrt(rule.log_equal * pulls) + budget
        shift = pulls * state.gap + line
        raised = min(shift, pulls * state.room)
        price = raised + targets * (shift - raised) if pulls > line else np.inf
        if phase == view.phase:
            first_price = price
        if first_price == np.inf or price < first_price:
            return False
        phase += 1


@dataclass(frozen=True, kw_only=True)
class PhaseBurst(StationaryAdversary):
    """Hide the best arm and raise the runner-up in one phase of `PEWR`, the one in which dropping it is cheapest.

    If the arm is still active after that, it tries again. Strong and white box: it knows the means, and sees phase,
    radius and active arms of `PEWR` or `RobustPhasedElimination`.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.85]), vb.PhaseBurst(budget=5_000)
    >>> result = vb.simulate(vb.PEWR(), env, attack, horizon=200_000, seed=1)
    >>> result.pulls[0].tolist(), float(result.cost[0, -1])
    ([2047, 197953], 1073.0)
    """

    name, reference = "phase-burst", "after Algorithm 2"
    knowledge, aim = "white box", "drops the best arm"
    reads = ("arms", "rule", "phase", "n_arms", "cap", "first_guess", "truncation")
    look, respond = staticmethod(look), staticmethod(respond)

    def init(self, game: Game) -> Burst:
        means, hidden = game.means, best_arms(game.means)
        second = best_of_the_others(means, hidden)
        second_mean = float(means[second])  # of any arm if none is hidden, and then nothing happens
        gap, room = float(means.max()) - second_mean, 1.0 - second_mean
        return Burst(hidden, second, gap, room, game.required_horizon, -1, False)
