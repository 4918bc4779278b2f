"""MLAAER: active arm elimination in many layers, for corruption of unknown size.

Setting     K arms, rewards in [0, 1], horizon T; corruption (chosen before the arm is drawn) of unknown size.
Algorithm   Layers 1, ..., ceil(log2 T); a round belongs to layer l > 1 with probability 2^-l, otherwise to the first.
            The layer plays its active arm with the fewest pulls and drops arms that lie two widths sqrt(A / n) + A / n
            below another, A = ln(4KT log2(T)/delta); an arm that a layer drops is dropped in every lower one as
            well.   Lykouris, Mirrokni, Paes Leme 2018
Reading     A layer without arms plays the first arm of the next larger one that has any, and no layer learns from it.
            delta = K / T by default. With delayed feedback unanswered pulls of an arm count for every layer.
"""

from dataclasses import dataclass
from math import log, log2

from vambrace.parameters import Chance
from vambrace.policies.layers import Layers, make_layers, select, update
from vambrace.protocols import Game, Policy


@dataclass(frozen=True, kw_only=True)
class MLAAER(Policy):
    """Multi-layer active arm elimination race: survives *corruption* of any size, chosen before the arm is drawn.

    No protection against an attacker who sees the arm: it pays only for the pulls of the best arm, in every layer.

    Args:
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O(sum over arms of (K C ln(K T / delta) + ln T) ln(K T / delta) / gap) under corruption of size C: layer
    log2 C sees little of it and corrects the lower ones.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Invert(budget=50)
    >>> print(vb.simulate(vb.MLAAER(), env, attack, horizon=10_000, seed=1))
    mlaaer against invert:budget=50: regret 1,113.6 after 10,000 rounds, cost 50.0
    """

    name, reference = "mlaaer", "Lykouris et al. 2018"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)

    delta: Chance | None = None

    def init(self, game: Game) -> Layers:
        """Row 0 is layer 1."""
        n_arms, horizon = game.n_arms, game.required_horizon
        n_layers = max(1, (horizon - 1).bit_length())  # ceil(log2 T), without rounding
        delta = n_arms / horizon if self.delta is None else self.delta
        log_term = log(4.0) + log(n_arms) + log(horizon) + log(max(1.0, log2(horizon))) - log(delta)
        return make_layers(n_arms, [0.5**layer for layer in range(2, n_layers + 1)], [1.0] * n_layers, log_term)
