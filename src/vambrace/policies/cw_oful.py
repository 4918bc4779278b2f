"""CW-OFUL: optimism in which an arm's early rewards weigh less, so that no single reward can do much harm.

Setting     K arms, rewards in [0, 1], horizon T; the attacker's budget C is known, or taken to be sqrt(T).
Algorithm   Linear bandits with confidence-weighted regression, on the K unit vectors: an observation of arm k weighs
            min(1, alpha sqrt(W_k)), W_k = 1 + the weights so far; play the largest (sum of weighted rewards) / W_k +
            b / sqrt(W_k), alpha = R sqrt(K) / C, b = R sqrt(K ln((1 + T)/delta)) + alpha C + 1, R = 1/2.
            He et al. 2022
Reading     Regulariser 1, dimension K. Each arm once first. With a budget of zero every weight is one and alpha C is as
            for any other budget. A missing answer counts with weight one, and only in the W of the bonus.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.parameters import Chance, Range
from vambrace.policies.indices import IndexPolicy, Ranking, bound, make_ranking, migrated_ranking, with_index
from vambrace.protocols import Answer, Floats, Game

LARGEST = 1e12  # budget: above it the weight of an observation is lost in the rounding of the sum of weights
NOISE = 0.5  # R: rewards in [0, 1] are sub-Gaussian with this parameter


class State(NamedTuple):
    """The regression of each arm, and the indices that follow from it."""

    totals: Floats  # of weighted rewards
    weights: Floats  # W; one before the first answer
    ranking: Ranking
    alpha: float
    bonus: float  # b


@kernel
def index(state: State, arm: int, count: int, growth: float) -> float:
    weight, n_open = state.weights[arm], count - state.ranking.counts[arm]
    return state.totals[arm] / weight + state.bonus / sqrt(weight + n_open)


@kernel
def update(state: State, answer: Answer) -> State:
    arm = answer.arm
    weight = min(1.0, state.alpha * sqrt(state.weights[arm]))
    state.totals[arm] += weight * answer.reward
    state.weights[arm] += weight
    state.ranking.counts[arm] += 1
    ranking = with_index(state.ranking, arm, index(state, arm, state.ranking.counts[arm], 0.0))
    return State(state.totals, state.weights, ranking, state.alpha, state.bonus)


@dataclass(frozen=True, kw_only=True)
class CWOFUL(IndexPolicy):
    """Optimism in which an arm's early rewards weigh less, so that no single reward does much harm.

    After the linear bandit algorithm CW-OFUL, for an attacker who sees the arm.

    Args:
        budget: What the attacker may spend in total; None: unknown, sqrt(T) is assumed.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O~(K sqrt(T) + K budget) for a known budget; otherwise O~(K sqrt(T)) if the attacker spends at most
    sqrt(T), and nothing if it spends more.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Conceal(budget=20)
    >>> print(vb.simulate(vb.CWOFUL(budget=20), env, attack, horizon=5_000, seed=1))
    cw-oful:budget=20 against conceal:budget=20: regret 180.0 after 5,000 rounds, cost 20.0
    """

    name, reference = "cw-oful", "He et al. 2022"
    state_version = 2
    select, update = bound(index=index, update=update)

    budget: Annotated[float, Range(0.0, LARGEST)] | None = None
    delta: Chance | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        budget = sqrt(horizon) if self.budget is None else float(self.budget)
        spread = NOISE * sqrt(n_arms)  # alpha C, the same for every C
        alpha = spread / budget if budget > 0.0 else np.inf
        bonus = NOISE * sqrt(n_arms * log((1 + horizon) / delta)) + spread + 1.0
        return State(np.zeros(n_arms), np.ones(n_arms), make_ranking(n_arms), alpha, bonus)

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        answers = [int(index != "inf") for index in state["board"]["indices"]]  # only zero or not matters
        kept = {name: value for name, value in state.items() if name != "board"}
        return {**kept, "ranking": migrated_ranking(state["board"], answers)}
