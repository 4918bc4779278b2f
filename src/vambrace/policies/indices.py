"""Index policies: play the arm with the largest index. This module is what all of them share.

A policy fills the slot `index` and keeps a `ranking` in its state: `Ranking` if an arm's index depends only on its own
answers (MOSS, UCB-WR, CW-OFUL, greedy), `GrowingRanking` of `optimism` if it grows with time (UCB1, KL-UCB, robust
means): then `growth` is what all arms have in common. An arm that was never asked comes first. Missing answers count in
t and N, but not in the estimate. Indices closer than the policy's `TIE` count as equal, and the lowest arm wins. The
ranking is of all arms, open or closed: only if its leader is closed are the open ones compared, so that arms which open
and close leave the state as it is.
"""

from typing import Any, NamedTuple

import numpy as np

from vambrace.engine.slots import ARMS_CHANGE, TIE, above, growth, index
from vambrace.kernels import interpreted, kernel, rare_kernel
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round, Stream
from vambrace.signatures import Select, Update

KEPT = ("counts", "indices", "estimates", "answered", "window")  # of a ranking, when there are more arms


@kernel
def select(state: Any, round: Round, rng: Stream) -> tuple[int, float, int]:
    return leading_arm(state, round), 1.0, 0


@kernel
def leading_arm(state: Any, round: Round) -> int:
    """The arm with the largest index."""
    leader: int = state.ranking.leader
    if round.open > 0 or (ARMS_CHANGE and not round.available[leader]):
        leader = _leader_now(state, round)
    return leader


@rare_kernel
def _leader_now(state: Any, round: Round) -> int:
    """The same with open decisions, and among the open arms only."""
    leader, highest, now = 0, -np.inf, growth(state, round.t)
    for arm in range(len(round.open_per_arm)):
        if ARMS_CHANGE and not round.available[arm]:
            continue
        count = state.ranking.counts[arm] + round.open_per_arm[arm]
        if count == 0:
            return arm
        if above(state, arm, count, now, highest + TIE):
            leader, highest = arm, index(state, arm, count, now)
    return leader


@kernel
def index_above(state: Any, arm: int, count: int, growth: float, floor: float) -> bool:
    """The simplest way to fill the slot `above`."""
    return index(state, arm, count, growth) > floor


@kernel
def no_growth(state: Any, t: int) -> float:
    """`growth` of an index that does not depend on time."""
    return 0.0


@kernel
def unchanged(state: Any, arm: int) -> Any:
    """`open_arm` and `close_arm` of a policy whose state does not depend on which arms are open."""
    return state


@kernel
def count_open(round: Round) -> int:
    """How many arms are open."""
    return sum(round.available) if ARMS_CHANGE else len(round.available)


class Ranking(NamedTuple):
    """Indices that do not change with time: an answer moves one, and the leader stays while it is above the second."""

    counts: Integers  # answers of each arm
    indices: Floats  # infinite for an arm without answers, so that it comes first
    leader: int  # the arm with the largest index
    second: float  # the largest index of the others


def make_ranking(n_arms: int) -> Ranking:
    return Ranking(np.zeros(n_arms, dtype=np.int64), np.full(n_arms, np.inf), leader=0, second=np.inf)


@kernel
def with_index(ranking: Ranking, arm: int, value: float) -> Ranking:
    """The ranking with a new index for one arm, whose answer has been counted."""
    counts, indices, leader, second = ranking
    indices[arm] = value
    if arm != leader or not value > second:
        leader, second = _two_largest(indices)
    return Ranking(counts, indices, leader, second)


@rare_kernel
def _two_largest(indices: Floats) -> tuple[int, float]:
    """The arm with the largest index, and the second largest index."""
    leader, highest, second = 0, -np.inf, -np.inf
    for arm, value in enumerate(indices):
        if value > highest:
            leader, highest, second = arm, value, highest
        elif value > second:
            second = value
    return leader, second


class State(NamedTuple):
    """The state of a policy whose index depends on the mean, the count and constants."""

    totals: Floats  # the sum of the rewards of each arm
    ranking: Ranking
    answered: int
    constants: Any  # what else the policy's index needs


def make_state(n_arms: int, constants: Any) -> State:
    return State(np.zeros(n_arms), make_ranking(n_arms), answered=0, constants=constants)


@kernel
def mean(state: State, arm: int) -> float:
    """The mean of an arm's answers, zero if there are none."""
    count = state.ranking.counts[arm]
    return state.totals[arm] / count if count > 0 else 0.0


@kernel
def update(state: State, answer: Answer) -> State:
    arm, (totals, ranking, answered, constants) = answer.arm, state
    totals[arm] += answer.reward
    ranking.counts[arm] += 1
    value = index(state, arm, ranking.counts[arm], 0.0)
    return State(totals, with_index(ranking, arm, value), answered + 1, constants)


def migrated_ranking(board: dict[str, Any], counts: list[int]) -> dict[str, Any]:
    """The ranking of a snapshot of version 0.1, in the present format."""
    return {"counts": counts, "indices": board["indices"], "leader": board["leader"], "second": board["rival"]}


def migrated_state(state: dict[str, Any], constants: Any) -> dict[str, Any]:
    """The same for a whole state."""
    ranking = migrated_ranking(state["board"], state["counts"])
    return {"totals": state["totals"], "ranking": ranking, "answered": sum(state["counts"]), "constants": constants}


class IndexPolicy(Policy):
    """A policy with an index for each arm, whose arms may open and close."""

    open_arm, close_arm = staticmethod(unchanged), staticmethod(unchanged)

    def widen(self, state: Any, game: Game) -> Any:
        """A new arm comes first, and nothing that was certain about the leader still is."""
        wide = super().widen(state, game)
        newest = int(wide.ranking.counts.argmin())
        if wide.ranking.counts[newest] > 0:
            return wide
        kept = {name: getattr(wide.ranking, name) for name in KEPT if name in wide.ranking._fields}
        return wide._replace(ranking=self.init(game).ranking._replace(leader=newest, **kept))


def bound(*, select: Select = select, update: Update = update, **slots: Any) -> tuple[Any, Any]:
    """The kernels `select` and `update` of a policy with this `index`, and with exact ties unless `TIE` is given."""
    slots = {"above": index_above, "growth": no_growth, "TIE": 0.0} | slots
    return staticmethod(interpreted(select, slots)), staticmethod(interpreted(update, slots))
