"""Epsilon-greedy: the best mean so far, and sometimes a random arm.

Setting     K arms, rewards in [0, 1].
Algorithm   Each arm once; then with probability min(1, scale K / t) an arm drawn uniformly, otherwise the largest mean.
            Auer, Cesa-Bianchi, Fischer 2002
Reading     scale = 1 is K / t; Jun et al. attack 1 / t, which is scale = 1 / K. t is the round about to be played.
            Missing answers count in t but not in the mean, which is zero for an arm without answers. If arms are
            closed, K is the number of open arms.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from vambrace.engine.slots import ARMS_CHANGE
from vambrace.kernels import kernel
from vambrace.parameters import Range
from vambrace.policies.indices import (
    IndexPolicy,
    State,
    bound,
    count_open,
    leading_arm,
    make_state,
    mean,
    migrated_state,
)
from vambrace.protocols import Game, Round
from vambrace.sampling import Stream, uniform


@kernel
def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    _, ranking, answered, scale = state
    n_arms, greedy = count_open(round), leading_arm(state, round)
    if ranking.counts[greedy] == 0 and (round.open == 0 or round.open_per_arm[greedy] == 0):
        return greedy, 1.0, 0
    epsilon = scale * n_arms / (answered + round.open + 1)
    if epsilon > 1.0:
        epsilon = 1.0
    arm = greedy
    if uniform(rng) < epsilon:
        arm = _numbered(round, min(int(uniform(rng) * n_arms), n_arms - 1))
    return arm, epsilon / n_arms + (1.0 - epsilon if arm == greedy else 0.0), 0


@kernel
def _numbered(round: Round, number: int) -> int:
    """The open arm with this number, counted from zero among the open arms."""
    arm = number
    if ARMS_CHANGE:
        for k in range(len(round.available)):
            if k <= arm and not round.available[k]:
                arm += 1
    return arm


@kernel
def index(state: State, arm: int, count: int, growth: float) -> float:
    return mean(state, arm)


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(IndexPolicy):
    """Play the largest mean, but with probability min(1, scale K / t) an arm drawn uniformly.

    The simplest policy that learns, and the victim of the first attack of Jun et al.

    Args:
        scale: How much it explores: 0 is greedy, 1 / K is 1 / t; the theory needs 5 / gap^2 with the smallest gap.

    Guarantee: regret O(scale K ln T) without attack if the scale is large enough for the gaps; an attacker who spends
    O(ln T) makes it linear.

    >>> import vambrace as vb
    >>> for scale in (1, 10):
    ...     print(vb.simulate(vb.EpsilonGreedy(scale=scale), vb.Bernoulli([0.9, 0.5]), horizon=5_000, seed=1))
    epsilon-greedy without attack: regret 3.2 after 5,000 rounds
    epsilon-greedy:scale=10 without attack: regret 26.4 after 5,000 rounds
    """

    name, reference = "epsilon-greedy", "Auer et al. 2002"
    learns_from_counts = True
    state_version = 2
    randomized = True
    select, update = bound(index=index, select=select)

    scale: Annotated[float, Range(0.0, 1e12)] = 1.0

    def init(self, game: Game) -> State:
        return make_state(game.n_arms, float(self.scale))

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return migrated_state(state, state["scale"])
