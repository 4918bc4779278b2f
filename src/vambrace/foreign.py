"""Bandits of other libraries, such as River or MABWiser, or your own. They run in the same loop, interpreted."""

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple, Protocol

from vambrace.errors import GameFault, InvalidParameter
from vambrace.protocols import Answer, Game, Policy, Round
from vambrace.sampling import Stream, next_word


class AskTell(Protocol):
    """The methods that a foreign bandit must have."""

    def ask(self) -> int:
        """The arm to pull, from zero."""

    def tell(self, arm: int, reward: float) -> None:
        """Learn from the observed reward, altered or not."""


class State(NamedTuple):
    """Holds the bandit, which is made in the first round, when its seed is known."""

    box: list[AskTell]
    n_arms: int
    horizon: int
    make: Callable[[int, int, int], AskTell]
    name: str


def select(state: State, round: Round, rng: Stream) -> tuple[int, float, int]:
    """Ask the bandit; it has its own random numbers, with a seed from this replication's stream."""
    if not state.box:
        bandit = state.make(state.n_arms, state.horizon, int(next_word(rng)) >> 33)
        if not (callable(getattr(bandit, "ask", None)) and callable(getattr(bandit, "tell", None))):
            raise GameFault(f"policy {state.name}: expected an object with ask and tell, got {bandit!r}")
        state.box.append(bandit)
    arm = state.box[0].ask()
    try:
        return index(arm), 1.0, 0
    except TypeError:
        raise GameFault(f"policy {state.name}: expected ask to return the number of an arm, got {arm!r}") from None


def update(state: State, answer: Answer) -> State:
    """Tell the bandit."""
    state.box[0].tell(answer.arm, float(answer.reward))
    return state


class Foreign(Policy):
    """Any Python object with `ask() -> arm` and `tell(arm, reward)` as a policy, to be attacked like our own.

    Args:
        make: Called as make(n_arms, horizon, seed) for each replication; seed is an integer below 2^31.
        name: Its name in reports.

    It runs at Python's speed, so keep horizons short. A live learner of it has no snapshots.

    >>> import random
    >>> import vambrace as vb
    >>> class Proportional:
    ...     def __init__(self, n_arms, horizon, seed):
    ...         self.totals, self.random = [1.0] * n_arms, random.Random(seed)
    ...
    ...     def ask(self):
    ...         return self.random.choices(range(len(self.totals)), self.totals)[0]
    ...
    ...     def tell(self, arm, reward):
    ...         self.totals[arm] += reward
    >>> policy, attack = vb.Foreign(make=Proportional), vb.Conceal(budget=50)
    >>> int(vb.simulate(policy, vb.Bernoulli([0.9, 0.2]), attack, horizon=1_000, seed=1).pulls[0].argmax())
    1
    """

    reference = "foreign"
    randomized = True
    knows_probability = False

    select, update = staticmethod(select), staticmethod(update)

    def __init__(self, *, make: Callable[[int, int, int], AskTell], name: str = "foreign") -> None:
        if not callable(make):
            raise InvalidParameter(f"make: expected a function of n_arms, horizon and seed, got {make!r}")
        self.make = make
        self.name = name  # type: ignore[misc]

    def init(self, game: Game) -> Any:
        """A state without a bandit."""
        return State([], game.n_arms, game.required_horizon, self.make, self.name)
