"""UCB1: optimism, with no protection against an attacker.

Setting     K arms, rewards in [0, 1].
Algorithm   Each arm once; then the arm with the largest mean + sqrt(alpha ln t / N).   Auer, Cesa-Bianchi, Fischer 2002
Reading     alpha = 2 is the original; Xu et al. (2021) attack alpha = 1. t is the round about to be played. Indices
            closer than 1e-12 tie: attacks bring indices together up to rounding, which must not decide. Missing
            answers count in t and N, but not in the mean.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.parameters import Positive
from vambrace.policies.indices import IndexPolicy, bound
from vambrace.policies.optimism import SLOTS, Bonus, GrowingRanking, make_growing_ranking, migrated_means, with_estimate
from vambrace.protocols import Answer, Floats, Game


class State(NamedTuple):
    """The sum of the rewards of each arm, and the ranking by their means."""

    totals: Floats
    ranking: GrowingRanking
    bonus: Bonus


@kernel
def update(state: State, answer: Answer) -> State:
    arm, totals = answer.arm, state.totals
    totals[arm] += answer.reward
    ranking = with_estimate(state, arm, totals[arm] / (state.ranking.counts[arm] + 1))
    return State(totals, ranking, state.bonus)


@dataclass(frozen=True, kw_only=True)
class UCB1(IndexPolicy):
    """The classic optimistic policy: play the largest mean + sqrt(alpha ln t / N).

    The usual choice if rewards can be trusted, and the usual victim if they cannot.

    Args:
        alpha: How optimistic it is; 2 is the original, 1 explores less.

    Guarantee: regret O(sum over arms of ln(T) / gap) without attack; an attacker who spends O(ln T) makes it linear.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=100)):
    ...     print(vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), attack, horizon=5_000, seed=1))
    ucb1 without attack: regret 40.4 after 5,000 rounds
    ucb1 against conceal:budget=100: regret 1,977.2 after 5,000 rounds, cost 51.0
    """

    name, reference = "ucb1", "Auer et al. 2002"
    learns_from_counts = True
    state_version = 2
    select, update = bound(update=update, **SLOTS)

    alpha: Positive = 2.0

    def init(self, game: Game) -> State:
        return State(np.zeros(game.n_arms), make_growing_ranking(game.n_arms), Bonus(0.0, float(self.alpha)))

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        ranking = migrated_means(state, state["leader"])
        return {"totals": state["totals"], "ranking": ranking, "bonus": {"offset": 0.0, "slope": state["alpha"]}}
