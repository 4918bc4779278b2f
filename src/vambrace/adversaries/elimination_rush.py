"""Elimination rush: get the best arm dropped as early as possible.

Setting     Strong; knows the means (oracle means).
Algorithm   Return 0 for the best arm and 1 for the runner-up.
Effect      After n sweeps of SE-WR the best arm falls if the two sums differ by more than line(n), 2 (sqrt(n L) +
            budget). That takes line(n) + n gap, which grows with n, and a unit of cost moves the difference by one on
            either arm: the cheapest attack moves both as far as possible from the first round on. The difference then
            grows by one per sweep and reaches the line at the first n = line(n), at a cost of n (1 + gap) on average:
            for SE-WR a small multiple of its budget, 2 (1 + gap) if it is large and (1 + gap) with radius "tight".
Reading     Nothing here needs a look into the policy, so the attack applies to every policy. With ``stop_when_dropped``
            it stops once the best arms are dropped (white box); without, it goes on raising the runner-up, which costs
            more and changes little. Arms as good as the best fall with it; of equal runners-up the first is raised.
"""

from dataclasses import dataclass

from vambrace import validation
from vambrace.adversaries.conceal import Conceal, State
from vambrace.adversaries.ranks import best_of_the_others
from vambrace.parameters import Arm
from vambrace.protocols import Game


@dataclass(frozen=True, kw_only=True)
class EliminationRush(Conceal):
    """Get the best arm dropped as early as possible: return 0 for the best arm and 1 for the runner-up.

    The cheapest way to defeat `SEWR` and similar policies: if the policy's budget is large, about 2 (1 + gap) times
    that budget, 1 + gap with radius "tight". Other policies starve the best arm. Strong: it sees the pulled arm. It
    knows the means.

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

    def init(self, game: Game) -> State:
        hidden = super().init(game).hidden
        if self.target is None:
            return State(hidden, best_of_the_others(game.means, hidden))
        return State(hidden, validation.arm("target", self.target, len(game.means), default=0))
