"""What the exponential-weights policies and MS-SE-WR's masters share: weights, EXP3.P's step, and drawing an arm.

Weights are exp(rate * score) relative to the largest, so that they neither overflow nor vanish. Computing all of them
costs one exponential per arm; if a round changes one score, `raise_score` computes one and updates a running sum.

A closed arm has the score minus infinity, and so no weight worth speaking of; `draw_open_arm` never draws it. What is
left is divided among the open arms. An arm that opens gets their mean weight: see `typical_score`.
"""

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from vambrace.engine.slots import ARMS_CHANGE
from vambrace.kernels import kernel, rare_kernel
from vambrace.policies.indices import count_open
from vambrace.protocols import Floats, Game, Policy, Round
from vambrace.sampling import Stream, uniform

NEGLIGIBLE = -45.0  # its exponential is lost in the rounding of any sum
FAINTEST = 3e-20  # about that exponential: replaces all smaller weights, so that no probability is zero
MOST_CHANGES = 1024  # updates of a running sum before it is recomputed: rounding stays below 1e-12
CLOSED = -np.inf  # the score of a closed arm
MOST = 1e100  # the largest running sum: far from overflow


class Weights(NamedTuple):
    """One weight for each arm, exp(rate * (score - anchor)), and their sum."""

    scores: Floats
    values: Floats
    rate: float
    anchor: float  # the largest score when all weights were last recomputed
    total: float
    least: float  # a smaller total would show rounding errors
    changes: int  # since all weights were last recomputed


def make_weights(n_arms: int, rate: float) -> Weights:
    """All scores are zero."""
    return Weights(np.zeros(n_arms), np.ones(n_arms), rate, 0.0, float(n_arms), 0.5 * n_arms, 0)


@kernel
def draw_arm(weights: Floats, scale: float, floor: float, rng: Stream) -> tuple[int, float, int]:
    """An arm with probability scale * weight + floor, by inversion of one uniform: what a `select` returns."""
    u, cumulative, arm = uniform(rng), 0.0, len(weights) - 1
    for i in range(len(weights)):
        cumulative += scale * weights[i] + floor
        if cumulative > u:
            arm = i
            break
    return arm, min(scale * weights[arm] + floor, 1.0), 0


@kernel
def draw_open_arm(weights: Floats, scale: float, floor: float, round: Round, rng: Stream) -> tuple[int, float, int]:
    """The same among the open arms only, whose probabilities are divided by their sum."""
    if not ARMS_CHANGE:
        return draw_arm(weights, scale, floor, rng)
    if count_open(round) == len(weights):  # not a bit different
        return draw_arm(weights, scale, floor, rng)
    mass = 0.0
    for i in range(len(weights)):
        if round.available[i]:
            mass += scale * weights[i] + floor
    u, cumulative, arm = uniform(rng) * mass, 0.0, -1
    for i in range(len(weights)):
        if round.available[i] and (arm < 0 or cumulative <= u):
            cumulative += scale * weights[i] + floor
            arm = i
    return arm, min((scale * weights[arm] + floor) / mass, 1.0), 0


@kernel
def weigh(scores: Floats, rate: float, highest: float, weights: Floats) -> float:
    """Fill in exp(rate * (score - highest)) for every arm; returns the sum."""
    total = 0.0
    for i in range(len(scores)):
        exponent = rate * (scores[i] - highest)
        weights[i] = exp(exponent) if exponent > NEGLIGIBLE else FAINTEST
        total += weights[i]
    return total


@kernel
def raise_score(weights: Weights, arm: int, amount: float) -> Weights:
    """Add to one arm's score; the exponent may move by a few units at most."""
    if amount == 0.0:
        return weights
    weights.scores[arm] += amount
    exponent = weights.rate * (weights.scores[arm] - weights.anchor)
    value = exp(exponent) if exponent > NEGLIGIBLE else FAINTEST
    anchor, total, least, changes = weights.anchor, weights.total, weights.least, weights.changes + 1
    total += value - weights.values[arm]
    weights.values[arm] = value
    if changes >= MOST_CHANGES or not least < total < MOST:
        anchor, total = _weigh_anew(weights)
        least, changes = 0.5 * total, 0
    return Weights(weights.scores, weights.values, weights.rate, anchor, total, least, changes)


@rare_kernel
def _weigh_anew(weights: Weights) -> tuple[float, float]:
    highest = -np.inf
    for i in range(len(weights.scores)):
        highest = max(highest, weights.scores[i])
    return highest, weigh(weights.scores, weights.rate, highest, weights.values)


@rare_kernel
def typical_score(scores: Floats, rate: float) -> float:
    """The score with which an arm that opens has the mean weight of the others that are open, for any that are.

    So it is drawn with probability 1 / K at first, as in a new game of K open arms, and the regret against it from then
    on is that of a new game. What was learnt before it closed is forgotten: its estimate stood still meanwhile.
    """
    highest, n_open, total = -np.inf, 0, 0.0
    for i in range(len(scores)):
        highest = max(highest, scores[i])
    for i in range(len(scores)):
        if scores[i] > CLOSED:
            n_open += 1
            total += exp(rate * (scores[i] - highest))
    return highest + log(total / n_open) / rate if n_open > 0 and rate > 0.0 else max(highest, 0.0)


@kernel
def with_score(weights: Weights, arm: int, score: float) -> Weights:
    """The weights with another score of an arm; CLOSED for one that closes."""
    weights.scores[arm] = score
    anchor, total = _weigh_anew(weights)
    return Weights(weights.scores, weights.values, weights.rate, anchor, total, 0.5 * total, 0)


class WeightedPolicy(Policy):
    """A policy whose state has `weights` and `answered`, and constants that depend on the game."""

    def widen(self, state: Any, game: Game) -> Any:
        """The new arms are closed; the rates are those of the larger game."""
        self.require_changing_arms()
        fresh = self.init(game)
        fresh.weights.scores[:] = CLOSED
        fresh.weights.scores[: len(state.weights.scores)] = state.weights.scores
        weights = with_score(fresh.weights, 0, fresh.weights.scores[0])
        return fresh._replace(weights=weights, answered=state.answered)


@rare_kernel
def step_exp3p(
    gains: Floats, mixed: Floats, rate: float, bonus: float, gamma: float, arm: int, reward: float, probability: float
) -> None:
    """EXP3.P after `arm`, drawn with `probability`, earned `reward`: new gains, with a bonus, and probabilities."""
    for i in range(len(gains)):
        if ARMS_CHANGE and gains[i] == CLOSED:
            continue
        gains[i] += bonus / probability + reward / probability if i == arm else bonus / mixed[i]
    mix_exp3p(gains, mixed, rate, gamma)


@kernel
def mix_exp3p(gains: Floats, mixed: Floats, rate: float, gamma: float) -> None:
    """The probabilities of EXP3.P with these gains."""
    n_open, highest = len(gains), -np.inf
    for i in range(len(gains)):
        highest = max(highest, gains[i])
        if ARMS_CHANGE and gains[i] == CLOSED:
            n_open -= 1
    total = weigh(gains, rate, highest, mixed)
    for i in range(len(gains)):
        mixed[i] = (1.0 - gamma) * mixed[i] / total + gamma / n_open
