"""KL-UCB-WR: optimism for a budget that you choose, at a price that no policy can beat.

Setting     K arms, rewards in [0, 1]; an attacker who sees the pulled arm alters rewards by at most ``budget``.
Algorithm   Each arm once; then the arm with the largest index. With N answers, their sum S and m = (S + budget) / N the
            index is the largest q >= m with N kl(m, q) <= f if m < 1, and 1 + m otherwise: nothing is known yet.
            f is the least number with e ceil(f ln T) exp(-f) <= delta. An arm that is chosen with N answers is played
            max(1, floor(commit N)) times before the indices are compared again.
Reading     Ours; docs/price-of-armour.md has the proofs. The attacker took at most the budget from the best arm, so its
            index is at least its KL-UCB index without attack, which with probability 1 - delta is never below its mean
            (Garivier & Cappé 2011). Open decisions do not count in N, since an index must stay above the mean; only
            among arms of which nothing is known are they counted, so that decisions are spread. Indices closer than
            1e-9 tie, and the lowest arm wins. The indices are also compared when an arm opens or the leader closes.
"""

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.engine.slots import ARMS_CHANGE
from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import Budget, Chance, Range
from vambrace.policies.elimination import NEVER
from vambrace.policies.radii import TIE, kl_upper
from vambrace.policies.standings import answers_needed, kl_interval, unknown
from vambrace.protocols import Answer, Flags, Floats, Game, Integers, Policy, Round
from vambrace.sampling import Stream
from vambrace.signatures import Standing

BY_LENGTH = -1.0  # a budget or a delta that is not given: it follows from the length of the game


class Limits(NamedTuple):
    """What the indices depend on besides the answers."""

    level: float  # f
    budget: float
    until: int  # the number of answers up to which these limits are valid


class State(NamedTuple):
    """The answers, the indices that follow from them, and the arm that is played."""

    totals: Floats
    counts: Integers
    indices: Floats  # infinite before an arm's first answer, minus infinite for a closed arm
    closed: Flags
    playing: Integers  # the leader, as the only entry
    leader: int  # the arm that is played
    left: int  # its answers until the indices are compared again
    answered: int
    limits: Limits
    commit: float
    budget: float  # as given, or BY_LENGTH
    delta: float  # as given, or BY_LENGTH


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    arm = state.leader
    if round.open > 0 and _nothing_known(state, arm):
        arm = _least_known(state, round)
    return arm, 1.0, 0


@kernel
def _nothing_known(state: State, arm: int) -> bool:
    """Whether the arm may pay 1 in every round: m >= 1, or no answer yet."""
    return state.totals[arm] + state.limits.budget >= state.counts[arm]


@rare_kernel
def _least_known(state: State, round: Round) -> int:
    """Among the arms of which nothing is known, the one to ask next, if open decisions count as zeros."""
    chosen, highest = 0, 0.0
    for arm in range(len(state.counts)):
        if _nothing_known(state, arm) and not (ARMS_CHANGE and state.closed[arm]):
            asked = state.counts[arm] + round.open_per_arm[arm]
            if asked == 0:
                return arm
            value = max(state.totals[arm] + state.limits.budget, 1.0) / asked
            if value > highest:
                chosen, highest = arm, value
    return chosen


@kernel
def update(state: State, answer: Answer) -> State:
    arm = answer.arm
    state.totals[arm] += answer.reward
    state.counts[arm] += 1
    return _after(state, arm, 1)


@kernel
def _after(state: State, arm: int, answers: int) -> State:
    """The state after these answers of an arm have been entered."""
    leader, left, limits = state.leader, state.left, state.limits
    if arm == leader:
        left -= answers
    if arm != leader or left == 0:
        leader, left, limits = _compared(state, arm, left, state.answered + answers)
    return _with(state, leader, left, state.answered + answers, limits)


@kernel
def _with(state: State, leader: int, left: int, answered: int, limits: Limits) -> State:
    return State(
        totals=state.totals,
        counts=state.counts,
        indices=state.indices,
        closed=state.closed,
        playing=state.playing,
        leader=leader,
        left=left,
        answered=answered,
        limits=limits,
        commit=state.commit,
        budget=state.budget,
        delta=state.delta,
    )


@rare_kernel
def _compared(state: State, arm: int, left: int, answered: int) -> tuple[int, int, Limits]:
    """The new index of an arm; if the leader has no answers left, the next leader and its answers, and the limits."""
    counts, limits = state.counts, state.limits
    _renew_index(state, arm, limits)
    if left > 0:
        return state.leader, left, limits
    if answered >= limits.until:
        until = limits.until
        while answered >= until:
            until *= 2
        limits = epoch_limits(len(counts), until, state.budget, state.delta)
        for k in range(len(counts)):
            _renew_index(state, k, limits)
    leader, left = _chosen(state)
    return leader, left, limits


@kernel
def _renew_index(state: State, arm: int, limits: Limits) -> None:
    if state.counts[arm] > 0 and not (ARMS_CHANGE and state.closed[arm]):
        state.indices[arm] = index(state.totals[arm], state.counts[arm], limits)


@kernel
def _chosen(state: State) -> tuple[int, int]:
    """The arm with the largest index, and its answers until the indices are compared again."""
    leader = 0
    for k in range(len(state.indices)):
        if state.indices[k] > state.indices[leader] + TIE:
            leader = k
    state.playing[0] = leader
    return leader, max(int(state.commit * state.counts[leader]), 1)


@kernel
def open_arm(state: State, arm: int) -> State:
    """A better arm may have come: the indices are compared now, whatever the leader has left."""
    state.closed[arm] = False
    state.indices[arm] = np.inf
    _renew_index(state, arm, state.limits)
    _renew_index(state, state.leader, state.limits)  # which is otherwise done when it has nothing left
    leader, left = _chosen(state)
    return _with(state, leader, left, state.answered, state.limits)


@kernel
def close_arm(state: State, arm: int) -> State:
    state.closed[arm] = True
    state.indices[arm] = -np.inf
    leader, left = state.leader, state.left
    if arm == leader:
        leader, left = _chosen(state)
    return _with(state, leader, left, state.answered, state.limits)


@kernel
def index(total: float, count: int, limits: Limits) -> float:
    """The index of an arm with this sum of rewards."""
    mean = (total + limits.budget) / count
    return kl_upper(max(mean, 0.0), limits.level / count) if mean < 1.0 else 1.0 + mean


@kernel
def limits_until(n_arms: int, rounds: int, budget: float, delta: float) -> Limits:
    """The limits of a game of this length; a budget or a delta below zero follows from the length."""
    return Limits(
        exploration_level(rounds, delta if delta > 0.0 else min(n_arms / rounds, 1.0)),
        budget if budget >= 0.0 else sqrt(rounds / n_arms),
        rounds,
    )


@kernel
def epoch_limits(n_arms: int, until: int, budget: float, delta: float) -> Limits:
    """The limits of the epoch that ends at a power of two; a given delta is shared out: delta / (k (k + 1)) for 2^k."""
    k = log(until) / log(2.0)
    return limits_until(n_arms, until, budget, delta / (k * (k + 1.0)))


@rare_kernel
def exploration_level(rounds: int, delta: float) -> float:
    """f: the least number with e ceil(f ln T) exp(-f) <= delta, which is at least 1.

    The condition is f >= 1 - ln(delta) + ln(ceil(f ln T)). Its right side grows with f, so iterating it from below ends
    at the least solution.
    """
    level, after = 0.0, 1.0 - log(delta)
    while after > level:
        level = after
        after = 1.0 - log(delta) + log(max(ceil(level * log(rounds)), 1))
    return level


@kernel
def cycle(state: State) -> tuple[Integers, int]:
    return state.playing, 1


@kernel
def quiet(state: State) -> int:
    return state.left


@kernel
def absorb(state: State, sweeps: int, totals: Floats) -> State:
    arm = state.leader
    state.totals[arm] += totals[arm]
    state.counts[arm] += sweeps
    return _after(state, arm, sweeps)


@dataclass(frozen=True, kw_only=True)
class KLUCBWR(Policy):
    """Optimism that survives ``budget`` fake events at the least price that any policy can pay for that.

    Recommended wherever rewards may be fake, with a budget that you know or choose. Also for small click rates.

    Args:
        budget: How many fake events it survives. It costs about (K - 1) budget when nobody attacks, and nobody can
            offer it for less. None: sqrt(T / K).
        delta: The chance that the guarantee fails for an arm; None: K / T.
        commit: The arm that is chosen with N answers is played for commit N rounds before arms are compared again. 0:
            compare in every round. Larger values cost this share of the regret at most, and make games faster.

    Guarantee: with probability 1 - K delta, under any attack that takes at most the budget from the best arm, the
    regret is at most the sum over the other arms of (1 + commit) (b + f / gap + sqrt((f / gap)^2 + 2 b f / gap)) + gap,
    where b is the budget and what is spent on the arm. The leading term without attack, (K - 1) budget, is the least
    possible for a policy that survives the budget. Answers may be late if the delay does not depend on the reward; one
    that is late or lost because of what it would say counts as a fake event. If arms open and close, K is the number of
    arms that were ever open, and the regret is against the best open arm (Theorem C of the page).

    Without a horizon (``learner(horizon=None)``) T is the next power of two of rounds, so f grows. If delta is given,
    the guarantee holds at all times at once, and f is larger by about 2 ln(log2 t); otherwise the expected regret grows
    by another K^2 / 2 whenever t doubles. A budget of None is then sqrt(t / K).

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.Conceal(budget=50)
    >>> for policy in (vb.KLUCBWR(budget=50), vb.SEWR(budget=50, radius="tight"), vb.KLUCB()):
    ...     print(vb.simulate(policy, env, attack, horizon=20_000, seed=1))
    kl-ucb-wr:budget=50 against conceal:budget=50: regret 62.4 after 20,000 rounds, cost 50.0
    se-wr:budget=50,radius=tight against conceal:budget=50: regret 191.2 after 20,000 rounds, cost 50.0
    kl-ucb against conceal:budget=50: regret 7,994.4 after 20,000 rounds, cost 13.0
    """

    name = "kl-ucb-wr"
    reference = "vambrace: the price of armour"
    learns_from_counts = True
    state_version = 2

    budget: Budget | None = None
    delta: Chance | None = None
    commit: Annotated[float, Range(0.0, 1.0, open_high=True)] = 0.02

    select, update = staticmethod(select), staticmethod(update)
    cycle, quiet, absorb = staticmethod(cycle), staticmethod(quiet), staticmethod(absorb)
    open_arm, close_arm = staticmethod(open_arm), staticmethod(close_arm)

    def init(self, game: Game) -> State:
        """No arm pulled yet."""
        budget = BY_LENGTH if self.budget is None else self.budget
        delta = BY_LENGTH if self.delta is None else self.delta
        if game.horizon is None:
            limits = epoch_limits(game.n_arms, 2, budget, delta)
        else:
            limits = limits_until(game.n_arms, game.horizon, budget, delta)._replace(until=NEVER)
        return State(
            totals=np.zeros(game.n_arms),
            counts=np.zeros(game.n_arms, dtype=np.int64),
            indices=np.full(game.n_arms, np.inf),
            closed=np.zeros(game.n_arms, dtype=np.bool_),
            playing=np.zeros(1, dtype=np.int64),
            leader=0,
            left=1,
            answered=0,
            limits=limits,
            commit=self.commit,
            budget=budget,
            delta=delta,
        )

    def widen(self, state: Any, game: Game) -> Any:
        """The new arms are closed, which leaves the limits and the leader as they are."""
        n_arms, wide = len(state.counts), super().widen(state, game)
        wide.closed[n_arms:], wide.indices[n_arms:] = True, -np.inf
        return wide

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return state | {"closed": [False] * len(state["counts"])}

    def standing(self, state: State, arm: int) -> Standing:
        """Its interval, whose upper end is its index, and when that is below the best mean."""
        count, limits = int(state.counts[arm]), state.limits
        if count == 0:
            return unknown(dropped=False)
        mean, best = state.totals[arm] / count, 0.0
        for rival in range(len(state.counts)):
            if not state.closed[rival]:
                best = max(best, state.totals[rival] / max(state.counts[rival], 1))
        needed = answers_needed(count, lambda n: index(mean * n, n, limits) < best) if mean < best else None
        return Standing(*kl_interval(state.totals[arm], count, limits.budget, limits.level), False, needed)
