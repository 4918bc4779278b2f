"""Master attack: make MS-SE-WR's master abandon the base that would withstand the attack.

Algorithm   Return 0 whenever step 2 replays base g* = max(1, ceil(log2 budget)), the smallest base whose own budget
            covers the attack, or the last base if none does.
Effect      The master learns only from step 2, so the right base seems worthless and its probability falls; the arms
            themselves are not attacked. The attack pays only when the base is drawn and would have earned something,
            so it can spend only a small part of a large budget. Alone it does no harm: while the arms are not
            attacked, the smaller bases, which the master then prefers, are the better ones.
Reading     g* as corrected (E21). Without smoothing there is no step 2 and nothing happens.
"""

from dataclasses import dataclass
from math import ceil, inf
from typing import Any

from vambrace.kernels import kernel
from vambrace.parameters import AttackBudget
from vambrace.protocols import Adversary, Game, Round, Stream


@kernel
def alter(base: int, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, int]:
    return (0.0 if view.replay == base else reward), base


@dataclass(frozen=True, kw_only=True)
class MasterAttack(Adversary):
    """Make `MSSEWR`'s master abandon the base that would withstand the attack.

    Strong and white box: it sees which base is replayed, and returns 0 whenever it is the right one for this budget.
    Alone it does no harm.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.MasterAttack(budget=8)
    >>> print(vb.simulate(vb.MSSEWR(), env, attack, horizon=2_000, seed=1))
    ms-se-wr against master-attack:budget=8: regret 393.6 after 2,000 rounds, cost 8.0
    """

    name, reference = "master-attack", "after Algorithm 3"
    strength, knowledge, aim = "strong", "white box", "discredits the right base"
    reads = ("replay",)
    alter = staticmethod(alter)

    budget: AttackBudget = inf

    def init(self, game: Game) -> int:
        covered = ceil(min(self.budget, game.required_horizon))  # the last base of the policy covers the horizon
        return max(1, (covered - 1).bit_length()) - 1  # ceil(log2), without rounding; bases count from zero here
