"""Best-arm corruption: hide the best arm without knowing when it will be pulled.

Setting     Medium: acts before the arm is known; knows which arm is best (oracle means).
Algorithm   The best arm, and every arm as good as it, pays 0 in every round, while the budget lasts.
            Lykouris et al. 2018
Effect      Conceal in the weaker model: every round in which the arm would have paid costs, pulled or not. The same
            budget therefore does less harm, and the more arms there are, the less.
"""

from dataclasses import dataclass
from math import inf

from vambrace.adversaries.ranks import HowMany, best_arms
from vambrace.kernels import kernel
from vambrace.parameters import AttackBudget
from vambrace.protocols import Adversary, Flags, Floats, Game, Round, Stream


@kernel
def corrupt(hidden: Flags, round: Round, rewards: Floats, rng: Stream) -> Flags:
    for k in range(len(rewards)):
        if hidden[k]:
            rewards[k] = 0.0
    return hidden


@dataclass(frozen=True, kw_only=True)
class BestArmCorruption(Adversary):
    """`Conceal` without seeing the arm: the best arm pays 0 in every round, pulled or not, while the budget lasts.

    Shows what an attacker loses if it must act before the arm is known (medium). It knows which arm is best.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        best: How many of the best arms to hide, and with them every arm that is as good as one of them; never the
            worst.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.5])
    >>> for attack in (vb.BestArmCorruption(budget=60), vb.Conceal(budget=60)):
    ...     print(vb.simulate(vb.UCB1(), env, attack, horizon=5_000, seed=1))
    ucb1 against best-arm-corruption:budget=60: regret 34.8 after 5,000 rounds, cost 60.0
    ucb1 against conceal:budget=60: regret 1,977.2 after 5,000 rounds, cost 51.0
    """

    name, reference = "best-arm-corruption", "Lykouris et al. 2018"
    strength, knowledge, aim = "medium", "oracle means", "hides the best arm"
    corrupt = staticmethod(corrupt)

    budget: AttackBudget = inf
    best: HowMany = 1

    def init(self, game: Game) -> Flags:
        return best_arms(game.means, self.best)
