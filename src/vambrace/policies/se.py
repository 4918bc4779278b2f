"""SE: successive elimination without protection.

Setting     K arms, rewards in [0, 1], horizon T, no attack.
Algorithm   Sweep the active arms; drop those more than 2 sqrt(L / n) below the best.   Even-Dar, Mannor, Mansour 2006
Reading     Exactly SE-WR with a budget of zero.
"""

from dataclasses import dataclass

from vambrace.parameters import Chance
from vambrace.policies.radii import Radius
from vambrace.policies.se_wr import SweepingPolicy


@dataclass(frozen=True, kw_only=True)
class SE(SweepingPolicy):
    """Successive elimination that trusts every reward: `SEWR` with a budget of zero.

    For use without attacks, and as the reference for what protection costs.

    Args:
        delta: The chance that the best arm is dropped without any attack; None: K / T.
        radius: "paper", "tight" or "kl", as in `SEWR`.

    Guarantee: regret O(sum over arms of ln(T) / gap) without attack; linear under a few hundred fake events.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.8])
    >>> print(vb.simulate(vb.SE(), env, horizon=20_000, seed=1))
    se without attack: regret 685.6 after 20,000 rounds
    >>> print(vb.simulate(vb.SE(), env, vb.Conceal(budget=300), horizon=20_000, seed=1))
    se against conceal:budget=300: regret 1,986.9 after 20,000 rounds, cost 118.0
    """

    name, reference = "se", "Even-Dar et al. 2006"
    budget = 0.0

    delta: Chance | None = None
    radius: Radius = "paper"
