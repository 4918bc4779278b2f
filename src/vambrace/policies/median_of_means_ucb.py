"""Median-of-means UCB: optimism on an estimate that a few extreme rewards cannot move.

Setting     K arms, rewards with a bounded variance, horizon T; among an arm's samples a small fraction may be bad.
Algorithm   Assign an arm's rewards to groups in turn; its estimate is the median of the means of the groups. Each arm
            once; then the largest estimate + sqrt(12 v 16 (1/8 + 2 ln t) / N), v the variance.   Bubeck et al. 2013
Reading     ceil(1 + 16 ln T) groups: the confidence t^-2 of the paper is fixed to T^-2, because new groups could not be
            formed without keeping every reward. Groups without a reward do not count; the median of an even number of
            groups is the mean of the two in the middle. Indices closer than 1e-12 tie. Missing answers count in t and
            N, but not in the estimate.
"""

from dataclasses import dataclass
from math import ceil, log
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.kernels import kernel
from vambrace.parameters import Positive, Range
from vambrace.policies.indices import IndexPolicy, bound
from vambrace.policies.optimism import SLOTS, Bonus, GrowingRanking, make_growing_ranking, migrated_state, with_estimate
from vambrace.protocols import Answer, Floats, Game, Integers

MOST_GROUPS = 10_000


class State(NamedTuple):
    """For each arm its groups, and their means in order: an answer changes and moves one group."""

    sums: Floats  # (arms, groups)
    ranked: Floats  # (arms, groups): means, ascending
    groups: Integers  # (arms, groups): the group at each rank
    ranks: Integers  # (arms, groups): the rank of each group
    ranking: GrowingRanking
    bonus: Bonus


@kernel
def update(state: State, answer: Answer) -> State:
    arm, count, n_groups = answer.arm, state.ranking.counts[answer.arm], state.sums.shape[1]
    group, filled = count % n_groups, min(count + 1, n_groups)
    state.sums[arm, group] += answer.reward
    mean = state.sums[arm, group] / (count // n_groups + 1)
    _move(state, arm, group, mean, state.ranks[arm, group] if count >= n_groups else count, filled)
    middle = filled // 2
    estimate = state.ranked[arm, middle]
    if filled % 2 == 0:
        estimate = 0.5 * (state.ranked[arm, middle - 1] + estimate)
    ranking = with_estimate(state, arm, estimate)
    return State(state.sums, state.ranked, state.groups, state.ranks, ranking, state.bonus)


@kernel
def _move(state: State, arm: int, group: int, mean: float, rank: int, filled: int) -> None:
    """Give a group a new mean and, from its old rank on, swap it with the groups that it passes."""
    while rank > 0 and state.ranked[arm, rank - 1] > mean:
        _place(state, arm, state.groups[arm, rank - 1], state.ranked[arm, rank - 1], rank)
        rank -= 1
    while rank < filled - 1 and state.ranked[arm, rank + 1] < mean:
        _place(state, arm, state.groups[arm, rank + 1], state.ranked[arm, rank + 1], rank)
        rank += 1
    _place(state, arm, group, mean, rank)


@kernel
def _place(state: State, arm: int, group: int, mean: float, rank: int) -> None:
    state.ranked[arm, rank] = mean
    state.groups[arm, rank] = group
    state.ranks[arm, group] = rank


@dataclass(frozen=True, kw_only=True)
class MedianOfMeansUCB(IndexPolicy):
    """Optimism on the median of group means. Made for heavy tails; no protection against chosen fake events.

    Args:
        groups: The number of groups that an arm's rewards are assigned to; None: ceil(1 + 16 ln T).
        variance: Of the rewards; 0.25 is the largest in [0, 1] and explores far more than other policies do.

    Guarantee: regret O(sum over arms of variance ln(T) / gap) without attack, also with heavy tails. An attacker needs
    few fake events to spoil half of the groups of an arm that was rarely pulled, and it is not pulled again.

    >>> import vambrace as vb
    >>> policy, env = vb.MedianOfMeansUCB(variance=0.01), vb.Bernoulli([0.9, 0.1])
    >>> print(vb.simulate(policy, env, horizon=5_000, seed=1))
    median-of-means-ucb:variance=0.01 without attack: regret 27.2 after 5,000 rounds
    >>> print(vb.simulate(policy, env, vb.Conceal(budget=100), horizon=5_000, seed=1))
    median-of-means-ucb:variance=0.01 against conceal:budget=100: regret 152.0 after 5,000 rounds, cost 100.0
    """

    name, reference = "median-of-means-ucb", "Bubeck et al. 2013"
    state_version = 2
    select, update = bound(update=update, **SLOTS)

    groups: Annotated[int, Range(1, MOST_GROUPS)] | None = None
    variance: Positive = 0.25

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        shape = (n_arms, ceil(1.0 + 16.0 * log(horizon)) if self.groups is None else int(self.groups))
        whole = np.zeros(shape, dtype=np.int64)
        scale = 12.0 * 16.0 * float(self.variance)
        bonus = Bonus(scale / 8, 2 * scale)  # scale times (1/8 + 2 ln t) / N
        return State(np.zeros(shape), np.zeros(shape), whole, whole.copy(), make_growing_ranking(n_arms), bonus)

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return migrated_state(state)
