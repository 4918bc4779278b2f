"""UCB-WR: optimism with a widened radius, for a known budget.

Setting     K arms, rewards in [0, 1], horizon T; the attacker spends at most `budget`.
Algorithm   Each arm once; then the arm with the largest mean + sqrt((4 ln T + 2 ln(2/delta)) / N) + budget / N.
Reading     Reconstruction: the robust zooming of Kang et al. (2024) for a continuum of arms, reduced to K arms. Missing
            answers count in N, but not in the mean.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

from vambrace.kernels import kernel
from vambrace.parameters import Budget, Chance
from vambrace.policies.indices import IndexPolicy, State, bound, make_state, mean, migrated_state
from vambrace.policies.standings import answers_needed, clipped, unknown
from vambrace.protocols import Game
from vambrace.signatures import Standing


class Constants(NamedTuple):
    """The constants of the index."""

    log_term: float  # 4 ln T + 2 ln(2/delta)
    budget: float


@kernel
def index(state: State, arm: int, count: int, growth: float) -> float:
    return mean(state, arm) + sqrt(state.constants.log_term / count) + state.constants.budget / count


@dataclass(frozen=True, kw_only=True)
class UCBWR(IndexPolicy):
    """Optimism for a known budget: play the largest mean + sqrt((4 ln T + 2 ln(2 / delta)) / N) + budget / N.

    `SEWR` with optimism in place of elimination; the budget widens every index.

    Args:
        budget: What the attacker may spend in total: at worst, this many fake events.
        delta: The chance that the guarantee fails; None: K / T.

    Guarantee: regret O(sum over arms of (ln(T / delta) / gap + budget)) with probability 1 - delta, under any attack
    within the budget, because no index falls below its arm's true mean.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.1]), vb.Conceal(budget=20)
    >>> print(vb.simulate(vb.UCBWR(budget=20), env, attack, horizon=5_000, seed=1))
    ucb-wr:budget=20 against conceal:budget=20: regret 79.2 after 5,000 rounds, cost 20.0
    """

    name, reference = "ucb-wr", "Kang et al. 2024"
    learns_from_counts = True
    state_version = 2
    select, update = bound(index=index)

    budget: Budget
    delta: Chance | None = None

    def init(self, game: Game) -> State:
        n_arms, horizon = game.n_arms, game.required_horizon
        delta = n_arms / horizon if self.delta is None else self.delta
        log_term = 4.0 * log(horizon) + 2.0 * log(2.0 / delta)
        return make_state(n_arms, Constants(log_term, float(self.budget)))

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return migrated_state(state, {name: state[name] for name in Constants._fields})

    def standing(self, state: State, arm: int) -> Standing:
        """Its interval, whose upper end is its index, and when that is below the best mean."""
        count, constants, own = int(state.ranking.counts[arm]), state.constants, mean(state, arm)
        if count == 0:
            return unknown(dropped=False)
        best = max(mean(state, rival) for rival in range(len(state.totals)))

        def width(n: int) -> float:
            return sqrt(constants.log_term / n) + float(constants.budget) / n

        needed = answers_needed(count, lambda n: own + width(n) < best) if own < best else None
        return Standing(*clipped(own - width(count), own + width(count)), False, needed)
