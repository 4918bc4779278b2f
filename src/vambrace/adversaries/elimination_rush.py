"""Elimination rush: get the best arm dropped as early as possible.

Algorithm   Return 0 for the best arm and 1 for the runner-up until the best arm is dropped, then nothing.
Effect      After n sweeps the best arm falls if the two sums differ by more than line(n): 2 (sqrt(n L) + budget) for
            SE-WR. That takes line(n) + n gap, which grows with n, and a unit of cost moves the difference by one on
            either arm: the cheapest attack moves both as far as possible from the first round on. The difference then
            grows by one per sweep and reaches the line at the first n = line(n), at a cost of n (1 + gap) on average:
            for SE-WR a small multiple of its budget, 2 (1 + gap) if it is large and (1 + gap) with radius "tight".
Reading     Ties of means go to the lowest index.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from vambrace.adversaries.ranks import two_best
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.protocols import Game


class State(NamedTuple):
    """The arm to push down, and the one to push up; the same if there is only one arm."""

    best: int
    runner_up: int


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
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
    respond = staticmethod(respond)

    def init(self, game: Game) -> State:
        return State(*two_best(game.means))
