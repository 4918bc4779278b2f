"""Thompson sampling: play each arm with the probability that it is the best.

Setting     K arms, rewards in [0, 1].
Algorithm   Draw a mean for each arm from its posterior Beta(1 + successes, 1 + failures) and play the largest. A reward
            r becomes a success with probability r, by the toss of a coin.   Agrawal & Goyal 2012
Reading     The coin is tossed with the decision and stored in its tag, as an integer multiple of 2^-53, so that an
            answer counts the same at any time. Rewards are clipped to [0, 1]. The chance that an arm is the largest
            has no closed form: `probability` is 1, that of the arm given the posterior draws.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vambrace.engine.slots import ARMS_CHANGE
from vambrace.kernels import kernel
from vambrace.policies.indices import unchanged
from vambrace.protocols import Answer, Floats, Game, Policy, Round
from vambrace.sampling import Stream, gamma_width, next_word, quick_beta_draw


class State(NamedTuple):
    """The posterior of each arm. The widths follow from the shapes; storing them saves two roots per draw."""

    alphas: Floats
    betas: Floats
    alpha_widths: Floats
    beta_widths: Floats


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    best, highest = 0, -1.0
    for k in range(len(state.alphas)):
        if ARMS_CHANGE and not round.available[k]:
            continue
        mean = quick_beta_draw(state.alphas[k], state.alpha_widths[k], state.betas[k], state.beta_widths[k], rng)
        if mean > highest:
            best, highest = k, mean
    return best, 1.0, next_word(rng) >> 11


@kernel
def update(state: State, answer: Answer) -> State:
    arm, coin = answer.arm, answer.tag * 1.1102230246251565e-16  # 2^-53
    if coin < answer.reward:  # the coin lies in [0, 1), so this clips the reward too
        state.alphas[arm] += 1.0
        state.alpha_widths[arm] = gamma_width(state.alphas[arm])
    else:
        state.betas[arm] += 1.0
        state.beta_widths[arm] = gamma_width(state.betas[arm])
    return state


@dataclass(frozen=True, kw_only=True)
class Thompson(Policy):
    """Thompson sampling with a uniform prior: play each arm with the probability that it is the best.

    For trusted 0/1 rewards; others in [0, 1] become 0 or 1 by the toss of a coin. It has no parameters.

    Guarantee: regret O(sum over arms of ln(T) / gap) without attack (Kaufmann et al. 2012), with the best constant for
    0/1 rewards; an attacker who spends O(ln T) makes it linear.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=100)):
    ...     print(vb.simulate(vb.Thompson(), vb.Bernoulli([0.9, 0.5]), attack, horizon=5_000, seed=1))
    thompson without attack: regret 2.8 after 5,000 rounds
    thompson against conceal:budget=100: regret 1,995.6 after 5,000 rounds, cost 10.0
    """

    name, reference = "thompson", "Agrawal & Goyal 2012"
    learns_from_counts = True
    randomized = True
    knows_probability = False
    select, update = staticmethod(select), staticmethod(update)
    open_arm, close_arm = staticmethod(unchanged), staticmethod(unchanged)

    def init(self, game: Game) -> State:
        ones, widths = np.ones(game.n_arms), np.full(game.n_arms, gamma_width(1.0))
        return State(ones, ones.copy(), widths, widths.copy())
