"""A file of a user: a policy, an attack and an environment, and a policy that breaks the rules."""

TEXT = '''
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import vambrace as vb
from vambrace.sampling import uniform

FIRST = 3


class State(NamedTuple):
    counts: np.ndarray
    totals: np.ndarray


@vb.kernel
def select(state, round, rng):
    best = 0
    for arm in range(len(state.counts)):
        if state.counts[arm] < FIRST:
            return arm, 1.0, 0
        if state.totals[arm] * state.counts[best] > state.totals[best] * state.counts[arm]:
            best = arm
    return best, 1.0, 0


@vb.kernel
def select_nothing(state, round, rng):
    return 7, 1.0, 0


@vb.kernel
def update(state, answer):
    state.counts[answer.arm] += 1
    state.totals[answer.arm] += answer.reward
    return state


@dataclass(frozen=True, kw_only=True)
class Greedy(vb.Policy):
    """Plays what looks best.

    Args:
        budget: Not used.
    """

    name = "my-greedy"
    budget: float = 0.0

    select, update = staticmethod(select), staticmethod(update)

    def init(self, game):
        return State(np.zeros(game.n_arms), np.zeros(game.n_arms))


@dataclass(frozen=True, kw_only=True)
class Broken(Greedy):
    """Plays an arm that does not exist."""

    name = "broken"

    select = staticmethod(select_nothing)


@vb.kernel
def alter(best, round, arm, reward, view, rng):
    return (0.0 if arm == best else reward), best


@dataclass(frozen=True, kw_only=True)
class Slander(vb.Adversary):
    """Hides the best arm."""

    name, reference, strength, knowledge = "slander", "this file", "strong", "oracle means"
    budget: float

    alter = staticmethod(alter)

    def init(self, game):
        return int(np.argmax(game.means))


@vb.kernel
def draw(tops, arm, rng):
    return tops[arm] * uniform(rng)


@dataclass(frozen=True, kw_only=True)
class UpTo(vb.Environment):
    """Arms that pay anything up to a number."""

    name = "up-to"
    tops: tuple[float, ...]

    draw = staticmethod(draw)

    def arm_means(self):
        return np.array(self.tops) / 2

    def init(self):
        return np.array(self.tops)
'''
