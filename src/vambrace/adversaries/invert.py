"""Invert: exchange good and bad rewards for a while.

Algorithm   Return 1 - reward for every arm, while the budget lasts.   Lykouris et al. 2018
Effect      The cost of a round is the largest change over the arms, so 0/1 rewards cost one per round: the first C
            rounds are inverted.
"""

from dataclasses import dataclass
from math import inf

from vambrace.kernels import kernel
from vambrace.parameters import AttackBudget
from vambrace.protocols import Adversary, Floats, Game, Round, Stream


@kernel
def corrupt(state: int, round: Round, rewards: Floats, rng: Stream) -> int:
    for k in range(len(rewards)):
        rewards[k] = 1.0 - rewards[k]
    return state


@dataclass(frozen=True, kw_only=True)
class Invert(Adversary):
    """Exchange good and bad rewards for a while: every arm pays 1 - reward until the budget is spent.

    The textbook attack. Medium: it acts before the arm is known, so a round costs the largest change over the arms.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Invert(budget=100)
    >>> result = vb.simulate(vb.UCB1(), env, attack, horizon=1_000, checkpoints=[50, 100], seed=1)
    >>> result.cost[0].tolist()  # one a round: the first hundred rounds are inverted
    [50.0, 100.0, 100.0]
    """

    name, reference = "invert", "Lykouris et al. 2018"
    strength, knowledge, aim = "medium", "black box", "every arm"
    corrupt = staticmethod(corrupt)

    budget: AttackBudget = inf

    def init(self, game: Game) -> int:
        return 0  # nothing to remember
