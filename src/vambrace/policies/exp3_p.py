"""EXP3.P: exponential weights with a bonus for arms that are rarely drawn.

Setting     K arms, rewards in [0, 1], horizon T; the rewards need not follow a distribution.
Algorithm   Draw an arm I from p = (1 - gamma) softmax(eta G) + gamma / K; every arm's estimated gain G_i grows by
            (reward of I if i = I, + beta) / p_i.   Auer et al. 2002, in the form of Bubeck and Cesa-Bianchi 2012
Reading     beta = sqrt(ln(K / delta) / (T K)), eta = 0.95 sqrt(ln K / (T K)), gamma = min(1, 1.05 sqrt(K ln K / T)).
            Rewards outside [0, 1] are clipped. With delayed answers the terms of the drawn arm are divided by the
            probability that it was drawn with, those of the other arms by their present one.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.parameters import Chance
from vambrace.policies.exponential import CLOSED, draw_open_arm, mix_exp3p, step_exp3p, typical_score
from vambrace.protocols import Answer, Floats, Game, Policy, Round, Stream


class State(NamedTuple):
    """Estimated gains and the probabilities that follow from them."""

    gains: Floats
    mixed: Floats
    rate: float  # eta
    bonus: float  # beta
    exploration: float  # gamma
    answered: int


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    return draw_open_arm(state.mixed, 1.0, 0.0, round, rng)


@kernel
def update(state: State, answer: Answer) -> State:
    gains, mixed, rate, bonus, exploration, answered = state
    reward = min(max(answer.reward, 0.0), 1.0)
    step_exp3p(gains, mixed, rate, bonus, exploration, answer.arm, reward, answer.probability)
    return State(gains, mixed, rate, bonus, exploration, answered + 1)


@kernel
def open_arm(state: State, arm: int) -> State:
    state.gains[arm] = typical_score(state.gains, state.rate)
    mix_exp3p(state.gains, state.mixed, state.rate, state.exploration)
    return state


@kernel
def close_arm(state: State, arm: int) -> State:
    state.gains[arm] = CLOSED
    mix_exp3p(state.gains, state.mixed, state.rate, state.exploration)
    return state


@dataclass(frozen=True, kw_only=True)
class EXP3P(Policy):
    """Exponential weights with a bonus for arms that are rarely drawn, for rewards that were fixed in advance.

    Args:
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: regret at most 5.15 sqrt(K T ln(K / delta)) with probability 1 - delta against any rewards fixed in
    advance. An attacker who sees the arm makes it linear.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=500)):
    ...     print(vb.simulate(vb.EXP3P(), vb.Bernoulli([0.9, 0.1]), attack, horizon=5_000, seed=1))
    exp3-p without attack: regret 225.6 after 5,000 rounds
    exp3-p against conceal:budget=500: regret 884.8 after 5,000 rounds, cost 500.0
    """

    name, reference = "exp3-p", "Bubeck and Cesa-Bianchi 2012"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    delta: Chance | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        rate, bonus = 0.95 * sqrt(log(n_arms) / (horizon * n_arms)), sqrt(log(n_arms / delta) / (horizon * n_arms))
        exploration = min(1.0, 1.05 * sqrt(n_arms * log(n_arms) / horizon))
        return State(np.zeros(n_arms), np.full(n_arms, 1.0 / n_arms), rate, bonus, exploration, answered=0)

    def widen(self, state: Any, game: Game) -> Any:
        """The new arms are closed; the rates are those of the larger game."""
        self.require_changing_arms()
        n_arms, wide = len(state.gains), self.init(game)
        wide.gains[:n_arms], wide.gains[n_arms:] = state.gains, CLOSED
        mix_exp3p(wide.gains, wide.mixed, wide.rate, wide.exploration)
        return wide._replace(answered=state.answered)
