"""An attack of your own, in a few lines of Python that the simulator runs at compiled speed.

    python examples/write_an_attack.py

Betrayal first leaves the best arm alone for a number of pulls, then shows 0 when it is pulled. The engine clips what
the attack returns, counts what it costs, and stops it at its budget.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import vambrace as vb
from vambrace import kernel
from vambrace.protocols import Game, Round


class State(NamedTuple):
    """What the attack remembers: numbers, and arrays made in `init`."""

    best: int
    honest_pulls: int


@kernel
def alter(state: State, round: Round, arm: int, reward: float, view: Any, rng: Any) -> tuple[float, State]:
    """What the learner is to see instead of `reward`, and the new state; `view` is the learner's own state."""
    if arm != state.best:
        return reward, state
    if state.honest_pulls > 0:
        return reward, State(state.best, state.honest_pulls - 1)
    return 0.0, state


@dataclass(frozen=True, kw_only=True)
class Betrayal(vb.Adversary):
    """Conceal the best arm, but only after a number of honest pulls."""

    name, reference, strength, knowledge = "betrayal", "you, today", "strong", "oracle means"
    budget: float
    honest_pulls: int = 0
    alter = staticmethod(alter)

    def init(self, game: Game) -> State:
        """The best arm is known: `game.means` are the true ones."""
        return State(int(game.means.argmax()), self.honest_pulls)


if __name__ == "__main__":
    arms = vb.Bernoulli([0.9, 0.8, 0.7])
    for policy in (vb.UCB1(), vb.SEWR(budget=300)):
        for honest_pulls in (0, 100, 10_000):
            attack = Betrayal(budget=300, honest_pulls=honest_pulls)
            print(vb.simulate(policy, arms, attack, horizon=1_000_000, replications=20, seed=7))
