"""Mimic: make the best arm look like a worse one, by wiping out a share of its rewards.

Algorithm   Return 0 for the hidden arm with the chance with which its mean seems `depth` gaps lower.
Effect      It is the attack of the lower bound (docs/price-of-armour.md). The arm looks exactly like an arm that pays
            less, and that costs `depth` gaps per pull, where Conceal pays the whole mean.
Reading     The gap is the distance to the next lower mean. All arms that pay the most are hidden, and all alike.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.adversaries.stationary import StationaryAdversary
from vambrace.kernels import kernel
from vambrace.parameters import Arm, AttackBudget, Positive
from vambrace.protocols import Floats, Game


class State(NamedTuple):
    """With which chance a reward of each arm is wiped out."""

    chances: Floats


@kernel
def respond(state: State, view: Any, arm: int, reward: float) -> tuple[float, float]:
    return state.chances[arm], 0.0


@dataclass(frozen=True, kw_only=True)
class Mimic(StationaryAdversary):
    """Make the best arm look like a worse one: wipe out just so many of its rewards that it seems to be second.

    The cheapest way to hide an arm from a policy that is patient, and what nobody can tell from an honest game: the
    reason why armour has a price. Strong: it sees the pulled arm. It knows the true means. It is a `Script` with the
    sign - and a level for the best arms.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        arm: The arm to hide, by number; None: the best, and every arm that is as good.
        depth: How much lower the arm seems, in gaps between it and the next lower mean: 1 is a tie; it never seems to
            pay less than nothing.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.8, 0.7, 0.6, 0.5])
    >>> for attack in (vb.Conceal(budget=400), vb.Mimic(budget=400, depth=1.2)):
    ...     print(vb.simulate(vb.PEWR(), env, attack, horizon=100_000, seed=1))
    pe-wr against conceal:budget=400: regret 4,607.0 after 100,000 rounds, cost 400.0
    pe-wr against mimic:budget=400,depth=1.2: regret 5,631.1 after 100,000 rounds, cost 400.0
    """

    name = "mimic"
    reference = "vambrace: the price of armour"
    knowledge = "oracle means"
    aim = "hides the best arm"

    budget: AttackBudget = inf
    arm: Arm | None = None
    depth: Positive = 2.0

    respond = staticmethod(respond)

    def init(self, game: Game) -> State:
        """Compute the chances."""
        means = game.means
        arm = validation.arm("arm", self.arm, len(means), default=int(means.argmax()))
        lower = means[means < means[arm]]
        hidden = means == means[arm] if self.arm is None else np.arange(len(means)) == arm
        chance = min(1.0, self.depth * (means[arm] - lower.max()) / means[arm]) if len(lower) > 0 else 0.0
        return State(np.where(hidden, chance, 0.0))
