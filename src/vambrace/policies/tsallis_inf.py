"""Tsallis-INF: one algorithm that is optimal for stochastic and for adversarial rewards.

Setting     K arms, rewards in [0, 1]; stochastic or adversarial rewards, and the learner does not know which.
Algorithm   Follow the regularised leader with the Tsallis entropy of power 1/2: draw arm i with probability
            w_i = 4 / (eta_t (L_i - x))^2, where x makes them sum to one and L are the losses over their probabilities
            ("iw", eta_t = 2 / sqrt(t)) or those with the variance reduced ("rv", eta_t = 4 / sqrt(t)), which takes the
            losses relative to B_i = 1/2 wherever w_i >= eta_t^2.   Zimmert and Seldin 2021
Reading     The loss is one minus the reward, clipped to [0, 1]. With delayed answers w and eta are the present ones,
            and t does not count missing answers. A closed arm has an infinite loss, so that the open ones share the
            probability; one that opens gets a loss at which its weight is the mean of theirs.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.policies.exponential import draw_open_arm
from vambrace.protocols import Answer, Floats, Game, Policy, Round, Stream

EXACT = 1e-12  # how far from one the sum of the weights may be before they are divided by it
MOST_STEPS = 60  # far more than necessary
TIE = 1e-9  # without any loss w = eta^2 at t = 16 K: rounding must not decide


class State(NamedTuple):
    """Estimated losses and the probabilities that follow from them."""

    losses: Floats  # up to a common constant; infinite for a closed arm
    weights: Floats
    normaliser: float  # x, up to the same constant
    scale: float  # eta_t times sqrt(t)
    reduced: bool  # "rv"
    answered: int


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    return draw_open_arm(state.weights, 1.0, 0.0, round, rng)


@kernel
def update(state: State, answer: Answer) -> State:
    losses, weights, normaliser, scale, reduced, answered = state
    arm, probability, loss = answer.arm, answer.probability, 1.0 - min(max(answer.reward, 0.0), 1.0)
    answered += 1
    if reduced:
        bar = scale * scale / answered * (1.0 - TIE)  # eta^2
        for i in range(len(losses)):
            baseline = 0.5 if weights[i] >= bar else 0.0
            losses[i] += (loss - baseline) / probability + baseline if i == arm else baseline
    else:
        losses[arm] += loss / probability
    normaliser = _normalise(losses, weights, normaliser, scale / sqrt(answered + 1))
    return State(losses, weights, normaliser, scale, reduced, answered)


@rare_kernel
def _normalise(losses: Floats, weights: Floats, x: float, rate: float) -> float:
    """Compute the weights; returns the x at which they sum to one, starting from the last one.

    The largest weight lies between 1/K and 1, which encloses x. Newton's method runs on 1 / sqrt(sum of weights) - 1,
    which is concave in x and almost straight: steps from the right of the root stay there, steps from the left move to
    the right, and the upper end of the enclosure stops them before the pole.
    """
    n_arms, unit = len(losses), 2.0 / rate
    lowest = np.inf
    for i in range(n_arms):
        lowest = min(lowest, losses[i])
    if abs(lowest) > 4.0 * unit:  # only differences count: keep the losses small, and their differences exact
        for i in range(n_arms):
            losses[i] -= lowest
        x, lowest = x - lowest, 0.0
    low, high = lowest - unit * sqrt(n_arms), lowest - unit
    x = min(max(x, low), high)
    total = 0.0
    for _ in range(MOST_STEPS):
        total, slope = 0.0, 0.0
        for i in range(n_arms):
            root = unit / (losses[i] - x)
            weights[i] = root * root
            total += weights[i]
            slope += weights[i] * root
        if abs(total - 1.0) <= EXACT:
            break
        x = min(max(x - unit * total * (sqrt(total) - 1.0) / slope, low), high)
    for i in range(n_arms):
        weights[i] /= total
    return x


@kernel
def open_arm(state: State, arm: int) -> State:
    n_open = 0
    for i in range(len(state.losses)):
        if state.losses[i] < np.inf:
            n_open += 1
    unit = 2.0 * sqrt(state.answered + 1) / state.scale
    return _with_loss(state, arm, state.normaliser + unit * sqrt(n_open))


@kernel
def close_arm(state: State, arm: int) -> State:
    return _with_loss(state, arm, np.inf)


@kernel
def _with_loss(state: State, arm: int, loss: float) -> State:
    losses, weights, normaliser, scale, reduced, answered = state
    losses[arm] = loss
    normaliser = _normalise(losses, weights, normaliser, scale / sqrt(answered + 1))
    return State(losses, weights, normaliser, scale, reduced, answered)


@dataclass(frozen=True, kw_only=True)
class TsallisINF(Policy):
    """One algorithm for both settings: stochastic rewards, and rewards fixed by an adversary in advance.

    Args:
        estimator: How losses are estimated: "iw" by importance weighting; "rv" the same with reduced variance.

    Guarantee: regret O(sqrt(K T)) against any rewards fixed in advance, O(sum over arms of ln(T) / gap) for stochastic
    rewards, and in between for corruption fixed in advance. An attacker who sees the arm makes it linear.

    >>> import vambrace as vb
    >>> for attack in (None, vb.Conceal(budget=500)):
    ...     print(vb.simulate(vb.TsallisINF(), vb.Bernoulli([0.9, 0.1]), attack, horizon=5_000, seed=1))
    tsallis-inf without attack: regret 16.8 after 5,000 rounds
    tsallis-inf against conceal:budget=500: regret 3,593.6 after 5,000 rounds, cost 462.0
    """

    name, reference = "tsallis-inf", "Zimmert and Seldin 2021"
    randomized = True
    select, update = staticmethod(select), staticmethod(update)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    estimator: Literal["iw", "rv"] = "iw"

    def init(self, game: Game) -> State:
        reduced, n_arms = self.estimator == "rv", game.n_arms
        losses, weights = np.zeros(n_arms), np.full(n_arms, 1.0 / n_arms)
        return State(losses, weights, normaliser=0.0, scale=4.0 if reduced else 2.0, reduced=reduced, answered=0)

    def widen(self, state: Any, game: Game) -> Any:
        """The new arms are closed."""
        n_arms, wide = len(state.losses), super().widen(state, game)
        wide.losses[n_arms:], wide.weights[n_arms:] = np.inf, 0.0
        return wide
