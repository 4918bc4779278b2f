"""CW-OFUL: optimism in which an arm's early rewards weigh less, so that no single one can do much harm.

Setting     K arms, rewards in [0, 1], horizon T; the attacker's budget C is known, or taken to be sqrt(T).
Algorithm   Linear bandits with confidence-weighted regression, on the K unit vectors: an observation of arm k weighs
            min(1, alpha sqrt(W_k)), W_k = 1 + the weights so far; play the largest (sum of weighted rewards) / W_k +
            b / sqrt(W_k), alpha = R sqrt(K) / C, b = R sqrt(K ln((1 + T)/delta)) + alpha C + 1, R = 1/2.
            He et al. 2022
Guarantee   O~(K sqrt(T) + K C) for a known C; with C = sqrt(T) in its place O~(K sqrt(T)) up to that attack, and
            nothing beyond.
Reading     Regulariser 1, dimension K. Each arm once first. A budget of zero makes every weight one and leaves alpha C
            as it is for any other. While answers are missing each counts with weight one in the W of the bonus only.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Chance, Range
from vambrace.policies.indices import Board, make_board, posted
from vambrace.protocols import Answer, Floats, Game, Policy, Round
from vambrace.sampling import Stream

LARGEST = 1e12  # budget: beyond it the weight of an observation is lost in the rounding of the sum of weights
NOISE = 0.5  # R: rewards in [0, 1] are sub-Gaussian with it


class State(NamedTuple):
    """The regression of each arm, and the indices that follow from it."""

    totals: Floats  # of weighted rewards
    weights: Floats  # W; one before the first answer
    board: Board
    alpha: float
    bonus: float  # b


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    if round.open > 0:
        return _select_with_pending(state, round), 1.0, 0
    return state.board.leader, 1.0, 0


@rare_kernel
def _select_with_pending(state: State, round: Round) -> int:
    best, highest = 0, -np.inf
    for k in range(len(state.weights)):
        if state.board.indices[k] == np.inf and round.open_per_arm[k] == 0:
            return k
        index = state.totals[k] / state.weights[k] + state.bonus / sqrt(state.weights[k] + round.open_per_arm[k])
        if index > highest:
            best, highest = k, index
    return best


@kernel
def update(state: State, answer: Answer) -> State:
    arm, reward = answer.arm, answer.reward
    weight = min(1.0, state.alpha * sqrt(state.weights[arm]))
    state.totals[arm] += weight * reward
    state.weights[arm] += weight
    index = state.totals[arm] / state.weights[arm] + state.bonus / sqrt(state.weights[arm])
    return State(state.totals, state.weights, posted(state.board, arm, index), state.alpha, state.bonus)


@dataclass(frozen=True, kw_only=True)
class CWOFUL(Policy):
    """Optimism in which an arm's early rewards weigh less, so that no single one does much harm.

    After the linear bandit algorithm CW-OFUL. For an attacker who sees the arm, of known size or of up to sqrt(T).

    Args:
        budget: What the attacker may spend in total; None: unknown, and sqrt(T) in its place.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: O~(K sqrt(T) + K budget) for a known budget; without one O~(K sqrt(T)) up to an attack of sqrt(T), and
    nothing beyond.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Conceal(budget=20)
    >>> print(vb.simulate(vb.CWOFUL(budget=20), env, attack, horizon=5_000, seed=1))
    cw-oful:budget=20 against conceal:budget=20: regret 180.0 after 5,000 rounds, cost 20.0
    """

    name = "cw-oful"
    reference = "He et al. 2022"

    budget: Annotated[float, Range(0.0, LARGEST)] | None = None
    delta: Chance | None = None

    select, update = staticmethod(select), staticmethod(update)

    def init(self, game: Game) -> State:
        """Nothing pulled."""
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        budget = sqrt(horizon) if self.budget is None else float(self.budget)
        spread = NOISE * sqrt(n_arms)  # alpha C, whatever C
        return State(
            totals=np.zeros(n_arms),
            weights=np.ones(n_arms),
            board=make_board(n_arms),
            alpha=spread / budget if budget > 0.0 else np.inf,
            bonus=NOISE * sqrt(n_arms * log((1 + horizon) / delta)) + spread + 1.0,
        )
