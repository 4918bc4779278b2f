"""EXP3 and EXP3-IX: exponential weights, for rewards that an adversary chose in advance.

Setting     K arms, rewards in [0, 1], horizon T; the rewards need not follow a distribution.
Algorithm   EXP3: draw an arm from (1 - gamma) w / W + gamma / K; add its reward over its probability to its estimated
            gain G; w = exp(gamma G / K).   Auer, Cesa-Bianchi, Freund, Schapire 2002
            EXP3-IX: draw an arm from p proportional to exp(-eta L); add its loss over p + gamma to its estimated loss L
            ("implicit exploration": by understating losses, not by mixing).   Neu 2015
Reading     EXP3: gamma = min(1, sqrt(K ln K / ((e - 1) T))), the paper's, with T as the bound on the best gain.
            EXP3-IX: eta = sqrt(2 ln K / (K T)), gamma = eta / 2, and the loss is one minus the reward. Rewards outside
            [0, 1] are clipped.
"""

from dataclasses import dataclass
from math import e, log, sqrt
from typing import Annotated, Any, NamedTuple

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
    """The weights; a score is the estimated gain, or minus the estimated loss."""

    weights: Weights
    exploration: float  # gamma: mixed with the weights by EXP3, added to a probability by EXP3-IX
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
def select_ix(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    return draw_open_arm(state.weights.values, 1.0 / state.weights.total, 0.0, round, rng)


@kernel
def update_ix(state: State, answer: Answer) -> State:
    loss = (1.0 - min(max(answer.reward, 0.0), 1.0)) / (answer.probability + state.exploration)
    return State(raise_score(state.weights, answer.arm, -loss), state.exploration, state.answered + 1)


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
    state_version = 2
    select, update = staticmethod(select_ix), staticmethod(update_ix)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        rate = sqrt(2.0 * log(n_arms) / (n_arms * horizon))
        return State(make_weights(n_arms, rate), 0.5 * rate, 0)

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return {"weights": state["weights"], "exploration": state["bias"], "answered": state["answered"]}
