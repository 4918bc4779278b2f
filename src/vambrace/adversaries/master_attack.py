"""Master attack: talk MS-SE-WR's master out of the base that would withstand the attack.

Setting     Strong; sees which base is being replayed (white box): MS-SE-WR with smoothing.
Algorithm   Return 0 whenever step 2 replays base g* = max(1, ceil(log2 budget)), the smallest whose own budget covers
            the attack, or the last one if none does.
Effect      Step 2 is all that the master learns from, so the right base seems worthless and its probability falls; the
            arms themselves are not touched. A unit of cost is paid only when the base is drawn and would have earned,
            so of a large budget only a small part can be spent. Alone it does no harm: with the arms left alone the
            smaller bases, to which the master turns, are the better ones.
Reading     g* as corrected (E21). Without smoothing there is no step 2 and nothing happens.
"""

from dataclasses import dataclass
from math import frexp, inf, isinf
from typing import Any, NamedTuple

from vambrace.kernels import kernel
from vambrace.parameters import AttackBudget
from vambrace.protocols import Adversary, Game, Round
from vambrace.sampling import Stream


class State(NamedTuple):
    """The index of the right base."""

    base: int


@kernel
def alter(state: State, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, State]:
    return (0.0 if view.replay == state.base else reward), state


@dataclass(frozen=True, kw_only=True)
class MasterAttack(Adversary):
    """Talk `MSSEWR`'s master out of the base that would withstand the attack.

    Strong and white box: it sees which base is replayed, and returns 0 whenever it is the right one for this budget.
    Alone it does no harm, and of a large budget it can spend only a small part.

    Args:
        budget: What it may spend in total: at worst, so many fake events; infinite by default.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.MasterAttack(budget=8)
    >>> print(vb.simulate(vb.MSSEWR(), env, attack, horizon=2_000, seed=1))
    ms-se-wr against master-attack:budget=8: regret 393.6 after 2,000 rounds, cost 8.0
    """

    name = "master-attack"
    reference = "after Algorithm 3"
    strength = "strong"
    knowledge = "white box"
    aim = "discredits the right base"

    budget: AttackBudget = inf

    alter = staticmethod(alter)

    @property
    def reads(self) -> tuple[str, ...]:
        """Which base is being replayed."""
        return ("replay",)

    def init(self, game: Game) -> State:
        """The right base for this budget and horizon."""
        horizon = game.required_horizon
        n_bases = max(1, (horizon - 1).bit_length())  # as the policy has them
        return State(n_bases - 1 if isinf(self.budget) else min(n_bases, max(1, _ceil_log2(float(self.budget)))) - 1)


def _ceil_log2(value: float) -> int:
    """The least whole g with 2^g >= value, without rounding; 0 for zero."""
    mantissa, exponent = frexp(value)
    return exponent - 1 if mantissa == 0.5 else exponent
