"""MOSS: optimism tuned to the horizon, and nothing against an attacker.

Setting     K arms, rewards in [0, 1], horizon T.
Algorithm   Each arm once; then the arm with the largest mean + sqrt(max(0, ln(T / (K N))) / N).
            Audibert & Bubeck 2010
Guarantee   Regret O(sqrt(KT)) without attack, the best order there is; an arm that an attacker has hidden is not tried
            again, because its bonus does not grow with time.
Reading     While answers are missing N counts them and the mean does not.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.policies.indices import Board, make_board, mean_so_far, posted
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round
from vambrace.sampling import Stream


class State(NamedTuple):
    """Totals and counts of the answers, and the indices that follow from them."""

    totals: Floats
    counts: Integers
    board: Board
    horizon: int


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    if round.open > 0:
        return _select_with_pending(state, round), 1.0, 0
    return state.board.leader, 1.0, 0


@rare_kernel
def _select_with_pending(state: State, round: Round) -> int:
    best, highest = 0, -np.inf
    for k in range(len(state.counts)):
        asked = state.counts[k] + round.open_per_arm[k]
        if asked == 0:
            return k
        index = mean_so_far(state.totals, state.counts, k) + _bonus(state, asked)
        if index > highest:
            best, highest = k, index
    return best


@kernel
def _bonus(state: State, count: int) -> float:
    share = state.horizon / (len(state.counts) * count)
    return sqrt(log(share) / count) if share > 1.0 else 0.0


@kernel
def update(state: State, answer: Answer) -> State:
    arm, reward = answer.arm, answer.reward
    state.totals[arm] += reward
    state.counts[arm] += 1
    index = state.totals[arm] / state.counts[arm] + _bonus(state, state.counts[arm])
    return State(state.totals, state.counts, posted(state.board, arm, index), state.horizon)


@dataclass(frozen=True, kw_only=True)
class MOSS(Policy):
    """Optimism tuned to the horizon: play the largest mean + sqrt(max(0, ln(T / (K N))) / N).

    For trusted rewards where the gaps may be anything. It has no parameters; the horizon is that of the game.

    Guarantee: regret O(sqrt(K T)) without attack, the best order whatever the gaps are. An arm that an attacker has
    hidden is not tried again.

    >>> import vambrace as vb
    >>> learner = vb.MOSS().learner(n_arms=2, horizon=1_000)
    >>> for _ in range(200):
    ...     decision = learner.ask()
    ...     learner.tell(decision, reward=[0.2, 0.8][decision.arm])
    >>> learner.ask().arm
    1
    """

    name = "moss"
    reference = "Audibert & Bubeck 2010"

    select, update = staticmethod(select), staticmethod(update)

    def init(self, game: Game) -> State:
        """Nothing pulled."""
        n_arms, horizon = game.n_arms, game.required_horizon
        return State(np.zeros(n_arms), np.zeros(n_arms, dtype=np.int64), make_board(n_arms), horizon)
