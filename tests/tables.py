"""Playing a table of observed rewards through the compiled engine, the interpreted engine and the live learner."""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import vambrace as vb
from vambrace.kernels import kernel
from vambrace.protocols import Game, Round
from vambrace.sampling import stream, uniform

Table = NDArray[np.float64]


class TableState(NamedTuple):
    rewards: Table  # (rounds, arms)
    arms: NDArray[np.int64]  # which arm was pulled in each round, filled in
    clock: NDArray[np.int64]


@kernel
def draw(state: TableState, arm: int, rng: Any) -> float:
    t = state.clock[0]
    state.arms[t] = arm
    state.clock[0] = t + 1
    return state.rewards[t, arm]


@dataclasses.dataclass(frozen=True)
class TableEnvironment(vb.Environment):
    """Pays what the table says for round t and arm k, and remembers the arms."""

    name = "table"
    state: TableState
    draw = staticmethod(draw)

    def arm_means(self) -> Table:
        return self.state.rewards.mean(axis=0)

    def init(self) -> TableState:
        return self.state


@kernel
def show(state: TableState, round: Round, arm: int, reward: float, view: Any, rng: Any) -> tuple[float, TableState]:
    state.arms[round.t - 1] = arm
    return state.rewards[round.t - 1, arm], state


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableAttack(vb.Adversary):
    """Lets the learner observe what the table says, in [0, 1] or not, and remembers the arms."""

    name = "table"
    reference = "tests"
    strength = "strong"
    knowledge = "black box"
    state: TableState
    budget: float = float("inf")
    alter = staticmethod(show)

    def init(self, game: Game) -> TableState:
        return self.state


def pulls_of_engine(policy: vb.Policy, table: Table, *, interpret: bool, **more: Any) -> list[int]:
    rounds, n_arms = table.shape
    state = TableState(table, np.full(rounds, -1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    environment = vb.Deterministic([0.5] * n_arms)
    options: dict[str, Any] = {"horizon": rounds, "checkpoints": 1, "interpret": interpret, "bounded": False}
    vb.simulate(policy, environment, TableAttack(state=state), **options, **more)
    return state.arms.tolist()


def pulls_of_learner(policy: vb.Policy, table: Table) -> list[int]:
    learner = policy.learner(n_arms=table.shape[1], horizon=len(table), seed=0)
    arms = []
    for row in table:
        decision = learner.ask()
        learner.tell(decision, row[decision.arm])
        arms.append(decision.arm)
    return arms


def uniforms(*key: int) -> Iterator[float]:
    """What a policy draws from the stream of this key: (seed, replication, 0) in the engine, (seed, LIVE) live."""
    rng = stream(*key)
    while True:
        yield uniform(rng)


def tables(most_rounds: int = 220, most_arms: int = 5) -> st.SearchStrategy[Table]:
    """Tables in which ties, drops and ends inside a sweep or a phase all happen often.

    Each arm has a level and a kind of noise; some columns are constant, some are coins, some are arbitrary floats.
    """

    @st.composite
    def build(pick: st.DrawFn) -> Table:
        n_arms = pick(st.integers(1, most_arms))
        rounds = pick(st.integers(n_arms, most_rounds))
        rng = np.random.default_rng(pick(st.integers(0, 2**32)))
        table = np.empty((rounds, n_arms))
        for k in range(n_arms):
            level = pick(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
            kind = pick(st.sampled_from(["constant", "coin", "float"]))
            if kind == "constant":
                table[:, k] = level
            elif kind == "coin":
                table[:, k] = rng.random(rounds) < level
            else:
                table[:, k] = np.clip(level + rng.normal(0, 0.2, rounds), 0, 1)
        return table

    return build()
