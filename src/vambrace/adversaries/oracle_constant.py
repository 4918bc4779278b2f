"""The oracle attack by constants: Swap's rule, as an attack on any learner.

Setting     Strong; knows the true means (oracle means).
Algorithm   That of Swap: Theorem 3's lower bound and this attack use the same rule.   Liu & Shroff 2019
Effect      The learner sees a stationary bandit in which the target is best by the margin. A learner with regret R
            there plays the target in all but R / margin rounds, and the cost is of the same order.
"""

from dataclasses import dataclass

from vambrace.adversaries.swap import Swap


@dataclass(frozen=True, kw_only=True)
class OracleConstant(Swap):
    """Subtract a constant from every reward of an arm, so that the target is best: `Swap`'s rule, by Liu and Shroff.

    A learner with low regret plays the target in almost all rounds. Strong: it sees the pulled arm. It knows the true
    means. Meant for ``bounded=False``.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        margin: By how much the target looks better than every other arm.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.OracleConstant(budget=1_000)
    >>> result = vb.simulate(vb.Thompson(), env, attack, horizon=5_000, seed=1, bounded=False)
    >>> result.pulls[0].tolist()
    [584, 4416]
    """

    name, reference = "oracle-constant", "Liu & Shroff 2019"
