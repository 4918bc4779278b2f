"""Views share the memory of arrays, and kernels that use whole arrays never get any."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import vambrace as vb
from vambrace.live.core import Core
from vambrace.live.settings import Settings
from vambrace.protocols import Floats
from vambrace.views import arrays_of, views_of


class State(NamedTuple):
    totals: Floats


@vb.kernel
def select(state: Any, round: Any, rng: Any) -> Any:
    return state.totals.argmax() if round.available.all() else 0, 1.0, 0


@vb.kernel
def update(state: Any, answer: Any) -> Any:
    state.totals[answer.arm] += answer.reward - 0.5
    return state


@dataclass(frozen=True, kw_only=True)
class Whole(vb.Policy):
    """It uses whole arrays: a view has no `argmax`."""

    name, reference = "whole", "this test"
    select, update = staticmethod(select), staticmethod(update)

    def init(self, game: Any) -> Any:
        return State(np.zeros(game.n_arms))


@vb.kernel
def alter(best: Any, round: Any, arm: Any, reward: Any, view: Any, rng: Any) -> Any:
    return (0.0 if view.totals.argmax() == best else reward), best


@dataclass(frozen=True, kw_only=True)
class Hide(vb.Adversary):
    """It uses whole arrays of the policy that it attacks."""

    name, reference, strength, knowledge = "hide", "this test", "strong", "white box"
    budget: float
    alter = staticmethod(alter)

    @property
    def reads(self) -> tuple[str, ...]:
        return ("totals",)

    def init(self, game: Any) -> Any:
        return int(game.means.argmax())


def test_the_memory_is_the_same() -> None:
    state = (State(np.zeros(3)), np.ones((2, 2)), 4)
    inner = views_of(state[0])
    inner.totals[1] = 2.5
    assert type(inner.totals[1]) is float
    assert state[0].totals.tolist() == [0.0, 2.5, 0.0]
    assert np.shares_memory(arrays_of(inner).totals, state[0].totals)
    assert views_of(state[1]) is state[1]
    assert views_of(state[2]) == 4


def test_kernels_of_ones_own_may_use_whole_arrays() -> None:
    environment, options = vb.Bernoulli([0.9, 0.2, 0.4]), {"horizon": 300, "seed": 2}
    for policy, attack in ((Whole(), None), (vb.MOSS(), Hide(budget=20))):
        plain, compiled = (
            vb.simulate(policy, environment, attack, interpret=interpret, **options)  # type: ignore[arg-type]
            for interpret in (True, False)
        )
        assert plain.pulls.tolist() == compiled.pulls.tolist()
    learner = Whole().learner(n_arms=2)
    assert [learner.tell(learner.ask(), reward) for reward in (0.0, 1.0, 1.0)] == ["applied"] * 3
    assert learner.ask().arm == 1


def test_a_learner_shows_its_state_in_arrays() -> None:
    core = Core(Settings.made(vb.MOSS(), arms=["a", "b"], horizon=10))
    core.tell(0.0, core.ask(0.0).id, 1.0)
    assert isinstance(core.state.totals, np.ndarray)
    assert core.state.totals.tolist() == [1.0, 0.0]
