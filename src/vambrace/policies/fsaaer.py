"""FSAAER: a fast and a slow active arm elimination, for corruption of a known size.

Setting     K arms, rewards in [0, 1], horizon T; corruption (chosen before the arm is drawn) of at most `budget`.
Algorithm   Each round belongs to the slow copy with probability 1 / budget, otherwise to the fast one. The copy plays
            its active arm with the fewest pulls and drops arms that lie two widths below another: sqrt(A / n) in the
            fast copy, sqrt(A / n) + 2 A / n in the slow one, A = ln(8KT/delta). An arm that the slow copy drops is
            dropped in the fast one as well.   Lykouris, Mirrokni, Paes Leme 2018
Reading     Reconstruction from the statement of the algorithm. If the fast copy has no arm left it plays the first
            active arm of the slow one, and neither learns from it. delta = K / T by default. With delayed feedback
            unanswered pulls of an arm count for both copies.
"""

from dataclasses import dataclass
from math import log

from vambrace.parameters import Budget, Chance
from vambrace.policies.layers import Layers, make_layers, select, update
from vambrace.protocols import Game, Policy


@dataclass(frozen=True, kw_only=True)
class FSAAER(Policy):
    """Fast-slow active arm elimination race: survives *corruption* of a known size, chosen before the arm is drawn.

    No protection against an attacker who sees the arm: it pays only for the pulls of the best arm.

    Args:
        budget: The corruption to assume.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O(sum over arms of ln(K T / delta) / gap) without corruption, and at most K budget ln(K T / delta) times
    as much with it.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Invert(budget=50)
    >>> print(vb.simulate(vb.FSAAER(budget=50), env, attack, horizon=10_000, seed=1))
    fsaaer:budget=50 against invert:budget=50: regret 260.0 after 10,000 rounds, cost 50.0
    """

    name, reference = "fsaaer", "Lykouris et al. 2018"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)

    budget: Budget
    delta: Chance | None = None

    def init(self, game: Game) -> Layers:
        """The fast copy, then the slow one."""
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        log_term = log(8.0) + log(n_arms) + log(horizon) - log(delta)
        return make_layers(n_arms, [1.0 / max(1.0, float(self.budget))], [0.0, 2.0], log_term)
