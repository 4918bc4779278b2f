"""EXP3-IX: exponential weights that explore by understating losses, not by mixing.

Setting     K arms, rewards in [0, 1], horizon T; the rewards need not follow a distribution.
Algorithm   Draw an arm from p proportional to exp(-eta L); add its loss over p + gamma to its estimated loss L
            ("implicit exploration").   Neu 2015
Reading     eta = sqrt(2 ln K / (K T)), gamma = eta / 2. The loss is one minus the reward, clipped to [0, 1].
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

from vambrace.kernels import kernel
from vambrace.policies.exponential import (
    CLOSED,
    WeightedPolicy,
    Weights,
    draw_open_arm,
    make_weights,
    raise_score,
    typical_score,
    with_score,
)
from vambrace.protocols import Answer, Game, Round, Stream


class State(NamedTuple):
    """The weights; a score is minus the estimated loss."""

    weights: Weights
    bias: float  # gamma
    answered: int


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    return draw_open_arm(state.weights.values, 1.0 / state.weights.total, 0.0, round, rng)


@kernel
def update(state: State, answer: Answer) -> State:
    loss = (1.0 - min(max(answer.reward, 0.0), 1.0)) / (answer.probability + state.bias)
    return State(raise_score(state.weights, answer.arm, -loss), state.bias, state.answered + 1)


@kernel
def open_arm(state: State, arm: int) -> State:
    score = typical_score(state.weights.scores, state.weights.rate)
    return State(with_score(state.weights, arm, score), state.bias, state.answered)


@kernel
def close_arm(state: State, arm: int) -> State:
    return State(with_score(state.weights, arm, CLOSED), state.bias, state.answered)


@dataclass(frozen=True, kw_only=True)
class EXP3IX(WeightedPolicy):
    """Exponential weights with implicit exploration, for rewards that an adversary fixed in advance.

    It has no parameters; the horizon is that of the game.

    Guarantee: regret O(sqrt(K T ln K) + sqrt(K T / ln K) ln(1 / delta)) with probability 1 - delta, for every delta at
    once, against any rewards fixed in advance. An attacker who sees the arm makes it linear.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=500)):
    ...     print(vb.simulate(vb.EXP3IX(), vb.Bernoulli([0.9, 0.1]), attack, horizon=5_000, seed=1))
    exp3-ix without attack: regret 65.6 after 5,000 rounds
    exp3-ix against conceal:budget=500: regret 924.8 after 5,000 rounds, cost 500.0
    """

    name, reference = "exp3-ix", "Neu 2015"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        rate = sqrt(2.0 * log(n_arms) / (n_arms * horizon))
        return State(make_weights(n_arms, rate), 0.5 * rate, 0)
