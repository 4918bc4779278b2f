"""UCB1: optimism, and nothing against an attacker.

Setting     K arms, rewards in [0, 1].
Algorithm   Each arm once; then the arm with the largest mean + sqrt(alpha ln t / N).   Auer, Cesa-Bianchi, Fischer 2002
Guarantee   Regret O(sum over arms of ln(T) / gap) without attack; an attacker who spends O(ln T) makes it linear.
Reading     alpha = 2 is the original; Xu et al. (2021) attack alpha = 1. t is the round about to be played. While
            answers are missing t and N count them and the mean does not.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Positive
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round
from vambrace.sampling import Stream

SLACK = 1e-12  # more than rounding can move an index


class State(NamedTuple):
    """`leader` is the arm to play next, as long as nothing is pending.

    While the leader's total stays above `bar` times its count, it has the largest index until round `until`, whatever
    the exact indices are: most rounds cost a multiplication and a comparison. See `_scan`.
    """

    totals: Floats
    counts: Integers
    means: Floats  # up to date for every arm but the leader
    inverse_roots: Floats  # 1 / sqrt(count), likewise
    answered: int
    leader: int
    bar: float
    until: int
    window: int  # for how many rounds the last bar was set
    alpha: float


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    if round.open > 0:
        return _select_with_pending(state, round), 1.0, 0
    return state.leader, 1.0, 0


@rare_kernel
def _select_with_pending(state: State, round: Round) -> int:
    scale = state.alpha * log(state.answered + round.open + 1)
    best, highest = 0, -np.inf
    for k in range(len(state.counts)):
        asked = state.counts[k] + round.open_per_arm[k]
        if asked == 0:
            return k
        mean = state.totals[k] / state.counts[k] if state.counts[k] > 0 else 0.0
        index = mean + sqrt(scale / asked)
        if index > highest:
            best, highest = k, index
    return best


@kernel
def update(state: State, answer: Answer) -> State:
    arm, reward = answer.arm, answer.reward
    state.totals[arm] += reward
    state.counts[arm] += 1
    answered = state.answered + 1
    if arm == state.leader and answered < state.until and state.totals[arm] > state.bar * state.counts[arm]:
        leader, bar, until, window = state.leader, state.bar, state.until, state.window
    else:
        leader, bar, until, window = _scan(state, arm, answered)
    return State(
        state.totals, state.counts, state.means, state.inverse_roots, answered, leader, bar, until, window, state.alpha
    )


@rare_kernel
def _scan(state: State, arm: int, answered: int) -> tuple[int, float, int, int]:
    """The arm with the largest index, and for how long that is sure to hold: leader, bar, until, window.

    Let the same arm lead twice in a row. For the next `window` rounds sqrt(alpha ln t) lies between its value now and
    at their end, so no other index passes the `hurdle` computed with the latter, and the leader's index is at least
    its mean plus the former over the root of its last count. The window doubles when it was used up and halves when
    the leader was overtaken in it, so it finds the scale on which leaders change by itself.
    """
    n_arms = len(state.counts)
    for k in (arm, state.leader):
        if state.counts[k] > 0:
            state.means[k] = state.totals[k] / state.counts[k]
            state.inverse_roots[k] = 1.0 / sqrt(state.counts[k])
    if answered < n_arms or state.window == 0:  # the first sweep, and whatever delays made of it
        for k in range(n_arms):
            if state.counts[k] == 0:
                return k, 0.0, 0, 0
    t = answered + 1
    scale = sqrt(state.alpha * log(t))
    best, highest = 0, -np.inf
    for k in range(n_arms):
        index = state.means[k] + scale * state.inverse_roots[k]
        if index > highest:
            best, highest = k, index
    window = max(state.window, 1)
    if best != arm or arm != state.leader:
        return best, 0.0, 0, window  # a new leader: look again next round
    if state.until > 0:
        window = 2 * window if answered >= state.until else max(window // 2, 1)
    later_scale = sqrt(state.alpha * log(t + window))
    hurdle = -np.inf
    for k in range(n_arms):
        if k != best:
            hurdle = max(hurdle, state.means[k] + later_scale * state.inverse_roots[k])
    bar = hurdle - scale / sqrt(state.counts[best] + window) + SLACK
    return best, bar, t + window - 1, window


@dataclass(frozen=True, kw_only=True)
class UCB1(Policy):
    """The classic optimistic policy: play the largest mean + sqrt(alpha ln t / N).

    The usual choice where rewards can be trusted, and the usual victim where they cannot.

    Args:
        alpha: How optimistic; 2 is the original, 1 explores less.

    Guarantee: regret O(sum over arms of ln(T) / gap) without attack; an attacker who spends O(ln T) makes it linear.

    >>> import vambrace as vb
    >>> env = vb.Bernoulli([0.9, 0.5])
    >>> print(vb.simulate(vb.UCB1(), env, horizon=5_000, seed=1))
    ucb1 without attack: regret 40.4 after 5,000 rounds
    >>> print(vb.simulate(vb.UCB1(), env, vb.Conceal(budget=100), horizon=5_000, seed=1))
    ucb1 against conceal:budget=100: regret 1,977.2 after 5,000 rounds, cost 51.0
    """

    name = "ucb1"
    reference = "Auer et al. 2002"

    alpha: Positive = 2.0

    select, update = staticmethod(select), staticmethod(update)

    def init(self, game: Game) -> State:
        """Nothing pulled."""
        n_arms = game.n_arms
        return State(
            totals=np.zeros(n_arms),
            counts=np.zeros(n_arms, dtype=np.int64),
            means=np.zeros(n_arms),
            inverse_roots=np.zeros(n_arms),
            answered=0,
            leader=0,
            bar=0.0,
            until=0,
            window=0,
            alpha=float(self.alpha),
        )
