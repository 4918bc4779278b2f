"""What the exponential-weights policies and MS-SE-WR's masters share: weights, EXP3.P's step, and drawing an arm.

Weights are exp(rate * score) relative to the largest, so that they neither overflow nor vanish. Computing all of them
costs one exponential per arm; if a round changes one score, `raise_score` computes one and updates a running sum.
"""

from math import exp
from typing import NamedTuple

import numpy as np

from vambrace.kernels import kernel, rare_kernel
from vambrace.protocols import Floats
from vambrace.sampling import Stream, uniform

NEGLIGIBLE = -45.0  # its exponential is lost in the rounding of any sum
FAINTEST = 3e-20  # about that exponential: replaces all smaller weights, so that no probability is zero
MOST_CHANGES = 1024  # updates of a running sum before it is recomputed: rounding stays below 1e-12
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
def step_exp3p(
    gains: Floats, mixed: Floats, rate: float, bonus: float, gamma: float, arm: int, reward: float, probability: float
) -> None:
    """EXP3.P after `arm`, drawn with `probability`, earned `reward`: new gains, with a bonus, and probabilities."""
    n_arms, highest = len(gains), -np.inf
    for i in range(n_arms):
        gains[i] += bonus / probability + reward / probability if i == arm else bonus / mixed[i]
        highest = max(highest, gains[i])
    total = weigh(gains, rate, highest, mixed)
    for i in range(n_arms):
        mixed[i] = (1.0 - gamma) * mixed[i] / total + gamma / n_arms
