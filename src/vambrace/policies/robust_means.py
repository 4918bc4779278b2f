"""Median-of-means UCB and trimmed-mean UCB: optimism on estimates that a few extreme rewards cannot move.

Setting     K arms. Median of means: rewards with a bounded variance, horizon T; a small fraction of an arm's samples
            may be bad. Trimmed mean: rewards in [0, 1], and at most a known fraction is bad, at any time.
Algorithm   Each arm once; then the largest estimate + bonus.
            Median of means: assign an arm's rewards to groups in turn; its estimate is the median of the means of the
            groups. The bonus is sqrt(12 v 16 (1/8 + 2 ln t) / N), v the variance.   Bubeck et al. 2013
            Trimmed mean: the mean without the int(fraction * N) smallest and as many largest rewards. The bonus is
            sqrt(2 ln t / N) / (1 - 2 fraction).   Niss & Tewari 2020
Reading     Indices closer than 1e-12 tie. Missing answers count in t and N, but not in the estimate.
            ceil(1 + 16 ln T) groups: the confidence t^-2 of the paper is fixed to T^-2, because new groups could not be
            formed without keeping every reward. Groups without a reward do not count; the median of an even number of
            groups is the mean of the two in the middle.
            The trimmed mean is a reconstruction of the alpha-trimmed policy. Rewards are clipped and kept in 64 equal
            bins; a bin that is cut in part loses its own mean for each reward cut: exact for 0/1 rewards. A fraction of
            zero is UCB1.
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
BINS = 64


class RobustMeanPolicy(IndexPolicy):
    """The two policies, which differ in their estimates."""

    state_version = 2

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return migrated_state(state)


class GroupState(NamedTuple):
    """For each arm its groups, and their means in order: an answer changes and moves one group."""

    sums: Floats  # (arms, groups)
    ranked: Floats  # (arms, groups): means, ascending
    groups: Integers  # (arms, groups): the group at each rank
    ranks: Integers  # (arms, groups): the rank of each group
    ranking: GrowingRanking
    bonus: Bonus


@kernel
def update_groups(state: GroupState, answer: Answer) -> GroupState:
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
    return GroupState(state.sums, state.ranked, state.groups, state.ranks, ranking, state.bonus)


@kernel
def _move(state: GroupState, arm: int, group: int, mean: float, rank: int, filled: int) -> None:
    """Give a group a new mean and, from its old rank on, swap it with the groups that it passes."""
    while rank > 0 and state.ranked[arm, rank - 1] > mean:
        _place(state, arm, state.groups[arm, rank - 1], state.ranked[arm, rank - 1], rank)
        rank -= 1
    while rank < filled - 1 and state.ranked[arm, rank + 1] < mean:
        _place(state, arm, state.groups[arm, rank + 1], state.ranked[arm, rank + 1], rank)
        rank += 1
    _place(state, arm, group, mean, rank)


@kernel
def _place(state: GroupState, arm: int, group: int, mean: float, rank: int) -> None:
    state.ranked[arm, rank] = mean
    state.groups[arm, rank] = group
    state.ranks[arm, group] = rank


@dataclass(frozen=True, kw_only=True)
class MedianOfMeansUCB(RobustMeanPolicy):
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
    select, update = bound(update=update_groups, **SLOTS)

    groups: Annotated[int, Range(1, MOST_GROUPS)] | None = None
    variance: Positive = 0.25

    def init(self, game: Game) -> GroupState:
        n_arms, horizon = game.n_arms, game.required_horizon
        shape = (n_arms, ceil(1.0 + 16.0 * log(horizon)) if self.groups is None else int(self.groups))
        whole = np.zeros(shape, dtype=np.int64)
        scale = 12.0 * 16.0 * float(self.variance)
        bonus = Bonus(scale / 8, 2 * scale)  # scale times (1/8 + 2 ln t) / N
        return GroupState(np.zeros(shape), np.zeros(shape), whole, whole.copy(), make_growing_ranking(n_arms), bonus)


class BinState(NamedTuple):
    """The rewards of each arm, sorted into bins."""

    bin_counts: Integers  # (arms, bins)
    bin_sums: Floats  # (arms, bins)
    totals: Floats
    ranking: GrowingRanking
    bonus: Bonus
    fraction: float


@kernel
def update_bins(state: BinState, answer: Answer) -> BinState:
    arm, reward = answer.arm, min(max(answer.reward, 0.0), 1.0)
    own_bin = min(int(BINS * reward), BINS - 1)
    state.bin_counts[arm, own_bin] += 1
    state.bin_sums[arm, own_bin] += reward
    state.totals[arm] += reward
    count = state.ranking.counts[arm] + 1
    cut = int(state.fraction * count)
    kept = state.totals[arm] - _end(state, arm, cut, 0, 1) - _end(state, arm, cut, BINS - 1, -1)
    ranking = with_estimate(state, arm, kept / (count - 2 * cut))
    return BinState(state.bin_counts, state.bin_sums, state.totals, ranking, state.bonus, state.fraction)


@kernel
def _end(state: BinState, arm: int, cut: int, place: int, step: int) -> float:
    """The sum of an arm's `cut` lowest rewards (upwards from bin 0) or of its highest."""
    total = 0.0
    while cut > state.bin_counts[arm, place]:
        total += state.bin_sums[arm, place]
        cut -= state.bin_counts[arm, place]
        place += step
    if cut > 0:
        total += state.bin_sums[arm, place] * (cut / state.bin_counts[arm, place])
    return total


@dataclass(frozen=True, kw_only=True)
class TrimmedMeanUCB(RobustMeanPolicy):
    """Optimism on trimmed means, for logs with at most a fraction of bad rewards. No protection against chosen fakes.

    Args:
        fraction: The share of rewards to leave out at each end, below one half; 0 is UCB1.

    Guarantee: regret O(sum over arms of ln(T) / gap) while the bad samples of every arm stay within the fraction at any
    time, up to the bias of trimming, which can reverse two arms that are close. An attacker needs few fake events to
    spoil more than that of an arm that was rarely pulled, and it is not pulled again.

    >>> import vambrace as vb
    >>> policy, env = vb.TrimmedMeanUCB(fraction=0.1), vb.Bernoulli([0.9, 0.5])
    >>> for attack in (None, vb.Conceal(budget=100)):
    ...     print(vb.simulate(policy, env, attack, horizon=5_000, seed=1))
    trimmed-mean-ucb without attack: regret 37.2 after 5,000 rounds
    trimmed-mean-ucb against conceal:budget=100: regret 1,966.0 after 5,000 rounds, cost 77.0
    """

    name, reference = "trimmed-mean-ucb", "Niss & Tewari 2020"
    learns_from_counts = True
    select, update = bound(update=update_bins, **SLOTS)

    fraction: Annotated[float, Range(0.0, 0.5, open_high=True)] = 0.1

    def init(self, game: Game) -> BinState:
        n_arms, fraction = game.n_arms, float(self.fraction)
        counts, sums = np.zeros((n_arms, BINS), dtype=np.int64), np.zeros((n_arms, BINS))
        bonus = Bonus(0.0, 2.0 / (1.0 - 2.0 * fraction) ** 2)
        return BinState(counts, sums, np.zeros(n_arms), make_growing_ranking(n_arms), bonus, fraction)
