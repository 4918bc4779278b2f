"""Best-arm corruption: hide the best arm without knowing when it will be pulled.

Setting     Medium: acts before the arm is known; knows which arm is best (oracle means).
Algorithm   The best arm pays 0 in every round, while the budget lasts.   Lykouris et al. 2018
Effect      Conceal in the weaker model: every round in which the arm would have paid costs, pulled or not, so the same
            budget does less harm, and the less the more arms there are to pull.
"""

from dataclasses import dataclass
from typing import NamedTuple

from vambrace import validation
from vambrace.kernel import kernel
from vambrace.protocols import Adversary, Floats
from vambrace.sampling import Stream


class State(NamedTuple):
    """The arm to hide."""

    arm: int


@kernel
def corrupt(state: State, t: int, rewards: Floats, rng: Stream) -> State:
    rewards[state.arm] = 0.0
    return state


@dataclass(frozen=True, kw_only=True)
class BestArmCorruption(Adversary):
    """Make the best arm look worthless, in every round.

    >>> import vambrace as vb
    >>> attack = vb.BestArmCorruption(budget=100)
    >>> result = vb.simulate(vb.UCB1(), vb.Deterministic([1.0, 0.5]), attack, horizon=1_000, checkpoints=[50, 100])
    >>> result.cost[0].tolist()
    [50.0, 100.0, 100.0]
    """

    name = "best-arm-corruption"
    reference = "Lykouris et al. 2018"
    strength = "medium"
    knowledge = "oracle means"
    aim = "hides the best arm"

    budget: float = float("inf")

    corrupt = staticmethod(corrupt)

    def __post_init__(self) -> None:
        validation.budget(self.budget)

    def init(self, means: Floats, horizon: int) -> State:
        """The best arm."""
        return State(int(means.argmax()))
