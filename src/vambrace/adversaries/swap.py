"""Swap: make a chosen arm look like the best. Theorem 3's lower bound and Liu & Shroff's oracle attack use this rule.

Algorithm   On every arm i other than the target return reward - max(0, mean_i - mean_target + margin).   Theorem 3
            Specs understand oracle-constant too, Liu & Shroff's name.
Effect      The learner sees a stationary bandit in which the target is best by the margin. A learner with regret R
            there plays the target in all but R / margin rounds, and the cost is in proportion to the regret it causes.
Reading     Rewards of zero cannot be lowered when the game is bounded to [0, 1], which weakens the attack there.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from vambrace.adversaries.ranks import promoted_arm
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.parameters import Arm, Range
from vambrace.protocols import Floats, Game


@kernel
def respond(shifts: Floats, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return 1.0, reward - shifts[arm]


@dataclass(frozen=True, kw_only=True)
class Swap(StationaryAdversary):
    """Make a chosen arm look like the best: push every other arm below it by a constant.

    Any learner then learns to play the target, at a cost in proportion to the regret that this causes (Theorem 3).
    Strong: it sees the pulled arm. It knows the true means. Meant for ``bounded=False``. In specs
    it is also called oracle-constant.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        target: The arm to promote, by number; None: the worst.
        margin: By how much the target looks better than every other arm.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Swap(budget=1_000)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1, bounded=False)
    >>> result.pulls[0].tolist()
    [783, 4217]
    """

    name, reference = "swap", "Theorem 3; Liu & Shroff 2019"
    knowledge, aim = "oracle means", "promotes a target"
    respond = staticmethod(respond)

    target: Arm | None = None
    margin: Annotated[float, Range(0.0, 1e9)] = 0.1

    def init(self, game: Game) -> Floats:
        target = promoted_arm(self.target, game)
        shifts: Floats = np.maximum(0.0, game.means - game.means[target] + self.margin)
        shifts[target] = 0.0
        return shifts
