"""UCB-WR: optimism with a widened radius, for a known budget.

Setting     K arms, rewards in [0, 1], horizon T; the attacker spends at most `budget`.
Algorithm   Each arm once; then the arm with the largest mean + sqrt((4 ln T + 2 ln(2/delta)) / N) + budget / N.
Guarantee   Regret O(sum over arms of (ln(T/delta) / gap + C)) with probability 1 - delta: whatever the attacker does
            within the budget, no index falls below its arm's true mean.
Reading     Reconstruction: the robust zooming of Kang et al. (2024) for a continuum of arms, reduced to K arms. While
            answers are missing N counts them and the mean does not.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Budget, Chance
from vambrace.policies.indices import Board, make_board, mean_so_far, posted
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round
from vambrace.sampling import Stream


class State(NamedTuple):
    """Totals and counts of the answers, and the indices that follow from them."""

    totals: Floats
    counts: Integers
    board: Board
    log_term: float  # 4 ln T + 2 ln(2/delta)
    budget: float


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
        index = _index(state, mean_so_far(state.totals, state.counts, k), asked)
        if index > highest:
            best, highest = k, index
    return best


@kernel
def _index(state: State, mean: float, count: int) -> float:
    return mean + sqrt(state.log_term / count) + state.budget / count


@kernel
def update(state: State, answer: Answer) -> State:
    arm, reward = answer.arm, answer.reward
    state.totals[arm] += reward
    state.counts[arm] += 1
    index = _index(state, state.totals[arm] / state.counts[arm], state.counts[arm])
    return State(state.totals, state.counts, posted(state.board, arm, index), state.log_term, state.budget)


@dataclass(frozen=True, kw_only=True)
class UCBWR(Policy):
    """Optimism that reckons with a known attack: largest mean + sqrt((4 ln T + 2 ln(2 / delta)) / N) + budget / N.

    `SEWR` with optimism in place of elimination; the budget widens every index.

    Args:
        budget: What the attacker may spend in total: at worst, so many fake events.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: regret O(sum over arms of ln(T / delta) / gap + budget) with probability 1 - delta, under any attack
    within the budget.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Conceal(budget=20)
    >>> print(vb.simulate(vb.UCBWR(budget=20), env, attack, horizon=5_000, seed=1))
    ucb-wr:budget=20 against conceal:budget=20: regret 79.2 after 5,000 rounds, cost 20.0
    """

    name = "ucb-wr"
    reference = "Kang et al. 2024"

    budget: Budget
    delta: Chance | None = None

    select, update = staticmethod(select), staticmethod(update)

    def init(self, game: Game) -> State:
        """Nothing pulled."""
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        return State(
            totals=np.zeros(n_arms),
            counts=np.zeros(n_arms, dtype=np.int64),
            board=make_board(n_arms),
            log_term=4.0 * log(horizon) + 2.0 * log(2.0 / delta),
            budget=float(self.budget),
        )
