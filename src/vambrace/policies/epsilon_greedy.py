"""Epsilon-greedy: the best mean so far, and now and then an arm at random.

Setting     K arms, rewards in [0, 1].
Algorithm   Each arm once; then with probability min(1, scale K / t) an arm drawn uniformly, else the largest mean.
            Auer, Cesa-Bianchi, Fischer 2002
Guarantee   Regret O(scale K ln T) without attack if the scale is large enough for the gaps (5 / gap^2); an attacker who
            spends O(ln T) makes it linear (Jun et al. 2018).
Reading     scale = 1 is K / t; Jun et al. attack 1 / t, which is scale = 1 / K. t is the round about to be played.
            While answers are missing t counts them and the mean, zero where there is none, does not.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Range
from vambrace.policies.indices import Board, make_board, mean_so_far, posted
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round
from vambrace.sampling import Stream, uniform


class State(NamedTuple):
    """Totals and counts of the answers; the board's indices are the means."""

    totals: Floats
    counts: Integers
    board: Board
    answered: int
    scale: float


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    n_arms = len(state.counts)
    if round.open > 0:
        greedy, first = _greedy_with_pending(state, round)
    else:
        greedy = state.board.leader
        first = state.counts[greedy] == 0
    if first:
        return greedy, 1.0, 0
    epsilon = min(1.0, state.scale * n_arms / (state.answered + round.open + 1))
    arm = greedy
    if uniform(rng) < epsilon:
        arm = min(int(uniform(rng) * n_arms), n_arms - 1)
    return arm, epsilon / n_arms + (1.0 - epsilon if arm == greedy else 0.0), 0


@rare_kernel
def _greedy_with_pending(state: State, round: Round) -> tuple[int, bool]:
    """The arm with the largest mean, or the first that was never asked, and which of the two it is."""
    best, highest = 0, -np.inf
    for k in range(len(state.counts)):
        if state.counts[k] + round.open_per_arm[k] == 0:
            return k, True
        mean = mean_so_far(state.totals, state.counts, k)
        if mean > highest:
            best, highest = k, mean
    return best, False


@kernel
def update(state: State, answer: Answer) -> State:
    arm, reward = answer.arm, answer.reward
    state.totals[arm] += reward
    state.counts[arm] += 1
    board = posted(state.board, arm, state.totals[arm] / state.counts[arm])
    return State(state.totals, state.counts, board, state.answered + 1, state.scale)


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(Policy):
    """Play the largest mean, except with probability min(1, scale K / t), when any arm will do.

    The simplest policy that learns, and the victim of Jun et al.'s first attack.

    Args:
        scale: How much it explores: 0 is greedy, 1 / K is 1 / t; the theory asks for 5 / gap^2 of the smallest gap.

    Guarantee: regret O(scale K ln T) without attack if the scale is large enough for the gaps; an attacker who spends
    O(ln T) makes it linear.

    >>> import vambrace as vb
    >>> for scale in (1, 10):
    ...     print(vb.simulate(vb.EpsilonGreedy(scale=scale), vb.Bernoulli([0.9, 0.5]), horizon=5_000, seed=1))
    epsilon-greedy without attack: regret 3.2 after 5,000 rounds
    epsilon-greedy:scale=10 without attack: regret 26.4 after 5,000 rounds
    """

    name = "epsilon-greedy"
    reference = "Auer et al. 2002"
    randomized = True

    scale: Annotated[float, Range(0.0, 1e12)] = 1.0

    select, update = staticmethod(select), staticmethod(update)

    def init(self, game: Game) -> State:
        """Nothing pulled."""
        n_arms = game.n_arms
        counts = np.zeros(n_arms, dtype=np.int64)
        return State(np.zeros(n_arms), counts, make_board(n_arms), answered=0, scale=float(self.scale))
