"""EXP3: exponential weights on estimated gains, for rewards that an adversary chose in advance.

Setting     K arms, rewards in [0, 1], horizon T; the rewards need not follow a distribution.
Algorithm   Draw an arm from (1 - gamma) w / W + gamma / K; add its reward over its probability to its estimated gain
            G; w = exp(gamma G / K).   Auer, Cesa-Bianchi, Freund, Schapire 2002
Reading     gamma = min(1, sqrt(K ln K / ((e - 1) T))): the paper's, with T as the bound on the best gain. Rewards
            outside [0, 1] are clipped.
"""

from dataclasses import dataclass
from math import e, log, sqrt
from typing import Annotated, NamedTuple

from vambrace.kernels import kernel
from vambrace.parameters import Range
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
from vambrace.policies.indices import count_open
from vambrace.protocols import Answer, Game, Round, Stream


class State(NamedTuple):
    """Estimated gains and their weights."""

    weights: Weights
    exploration: float  # gamma
    answered: int


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    values = state.weights.values
    scale, floor = (1.0 - state.exploration) / state.weights.total, state.exploration / count_open(round)
    return draw_open_arm(values, scale, floor, round, rng)


@kernel
def update(state: State, answer: Answer) -> State:
    gain = min(max(answer.reward, 0.0), 1.0) / answer.probability
    return State(raise_score(state.weights, answer.arm, gain), state.exploration, state.answered + 1)


@kernel
def open_arm(state: State, arm: int) -> State:
    score = typical_score(state.weights.scores, state.weights.rate)
    return State(with_score(state.weights, arm, score), state.exploration, state.answered)


@kernel
def close_arm(state: State, arm: int) -> State:
    return State(with_score(state.weights, arm, CLOSED), state.exploration, state.answered)


@dataclass(frozen=True, kw_only=True)
class EXP3(WeightedPolicy):
    """Exponential weights with uniform exploration, for rewards that an adversary fixed in advance.

    Args:
        gamma: Share of uniform exploration in (0, 1]; None: min(1, sqrt(K ln K / ((e - 1) T))).

    Guarantee: expected regret O(sqrt(K T ln K)) against any rewards fixed in advance. An attacker who alters what the
    learner sees after the arm is known makes it linear with a budget of sublinear order.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=500)):
    ...     print(vb.simulate(vb.EXP3(), vb.Bernoulli([0.9, 0.1]), attack, horizon=5_000, seed=1))
    exp3 without attack: regret 122.4 after 5,000 rounds
    exp3 against conceal:budget=500: regret 852.8 after 5,000 rounds, cost 500.0
    """

    name, reference = "exp3", "Auer et al. 2002"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    gamma: Annotated[float, Range(0.0, 1.0, open_low=True)] | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        tuned = min(1.0, sqrt(n_arms * log(n_arms) / ((e - 1.0) * horizon)))
        gamma = tuned if self.gamma is None else float(self.gamma)
        return State(make_weights(n_arms, gamma / n_arms), gamma, 0)
