"""MOSS: optimism tuned to the horizon, with no protection against an attacker.

Setting     K arms, rewards in [0, 1], horizon T.
Algorithm   Each arm once; then the arm with the largest mean + sqrt(max(0, ln(T / (K N))) / N).
            Audibert & Bubeck 2010
Reading     Missing answers count in N, but not in the mean.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

from vambrace.kernels import kernel
from vambrace.policies.indices import State, bound, make_state, mean, migrated_state
from vambrace.protocols import Game, Policy


@kernel
def index(state: State, arm: int, count: int, growth: float) -> float:
    share = state.constants / (len(state.totals) * count)  # T / (K N)
    return mean(state, arm) + (sqrt(log(share) / count) if share > 1.0 else 0.0)


@dataclass(frozen=True, kw_only=True)
class MOSS(Policy):
    """Optimism tuned to the horizon: play the largest mean + sqrt(max(0, ln(T / (K N))) / N).

    For trusted rewards with gaps of any size. It has no parameters; the horizon is that of the game.

    Guarantee: regret O(sqrt(K T)) without attack, the best order for arbitrary gaps. An arm that an attacker has hidden
    is not tried again, because its bonus does not grow with time.

    >>> import vambrace as vb
    >>> learner = vb.MOSS().learner(n_arms=2, horizon=1_000)
    >>> for _ in range(200):
    ...     decision = learner.ask()
    ...     _ = learner.tell(decision, reward=[0.2, 0.8][decision.arm])
    >>> learner.ask().arm
    1
    """

    name, reference = "moss", "Audibert & Bubeck 2010"
    learns_from_counts = True
    state_version = 2
    select, update = bound(index=index)

    def init(self, game: Game) -> State:
        return make_state(game.n_arms, game.required_horizon)

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        return migrated_state(state, state["horizon"])
