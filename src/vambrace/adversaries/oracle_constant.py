"""The oracle attack by constants: Swap's rule, as an attack on whoever learns.

Setting     Strong; knows the true means (oracle means).
Algorithm   On every arm i other than the target return reward - max(0, mean_i - mean_target + margin).
            Liu & Shroff 2019
Effect      The learner sees a stationary bandit in which the target is best by the margin. Whoever has regret R there
            plays the target in all but R / margin rounds, and the cost is of the same order.
Reading     Theorem 3's lower bound and Liu & Shroff's attack are one and the same rule: see swap.py.
"""

from dataclasses import dataclass

from vambrace.adversaries.swap import Swap


@dataclass(frozen=True, kw_only=True)
class OracleConstant(Swap):
    """Take the same from every reward of an arm, so that the target is best.

    target  the arm to promote; None: the worst
    margin  by how much the target is to be best

    >>> import vambrace as vb
    >>> attack = vb.OracleConstant()
    >>> result = vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), attack, horizon=20_000, seed=1, bounded=False)
    >>> int(result.pulls[0].argmax())
    1
    """

    name = "oracle-constant"
    reference = "Liu & Shroff 2019"
