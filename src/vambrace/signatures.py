"""The arguments and results of kernels: arrays, the tuples `Round`, `Answer` and `Game`, and every signature."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vambrace.errors import InvalidParameter
from vambrace.sampling import Stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Round(NamedTuple):
    """The round that a kernel is asked about.

    Attributes:
        t: Its number, from one.
        open: How many decisions are not answered yet: 0 in a simulation, any number in a live learner.
        open_per_arm: The same for each arm.
        available: Which arms can be played.
    """

    t: int
    open: int
    open_per_arm: Integers
    available: Flags

    @classmethod
    def prompt(cls, t: int, n_arms: int) -> "Round":
        """A round with no open decisions and all arms available, such as every round of a simulation."""
        return cls(t, 0, np.zeros(n_arms, dtype=np.int64), np.ones(n_arms, dtype=np.bool_))


class Answer(NamedTuple):
    """The answer to a decision.

    Attributes:
        arm: The arm that was played.
        reward: What the policy sees of its reward, altered or not.
        probability: The second value that `select` returned with the decision.
        tag: The third one.
    """

    arm: int
    reward: float
    probability: float
    tag: int


class Game(NamedTuple):
    """The game that a fresh state is made for.

    Attributes:
        n_arms: The number of arms.
        horizon: The number of rounds; None: unknown.
        means: The true mean of each arm, for attacks; empty for policies.
        victim: A fresh state of the attacked policy, for attacks: they may keep it as a copy to try things on; None for
            policies.
    """

    n_arms: int
    horizon: int | None = None
    means: Floats = np.zeros(0)
    victim: Any = None

    @property
    def required_horizon(self) -> int:
        """The horizon; an error if it is unknown."""
        if self.horizon is None:
            raise InvalidParameter("horizon: expected a number of rounds, got None")
        return self.horizon


class Select(Protocol):
    """Choose an arm: (arm, probability, tag). It reads the state only."""

    def __call__(self, state: Any, round: Round, rng: Stream, /) -> tuple[int, float, int]: ...  # noqa: D102


class Update(Protocol):
    """Learn from an answer. The only kernel of a policy that writes."""

    def __call__(self, state: Any, answer: Answer, /) -> Any: ...  # noqa: D102


class Index(Protocol):
    """The index of an arm in round t, where `count` of its decisions were made."""

    def __call__(self, state: Any, arm: int, count: int, t: int, /) -> float: ...  # noqa: D102


class Above(Protocol):
    """Whether an arm's index is larger than `floor`, if that is faster to decide than to compute the index."""

    def __call__(self, state: Any, arm: int, count: int, t: int, floor: float, /) -> bool: ...  # noqa: D102


class Threshold(Protocol):
    """An estimate above which an arm's index is above `ceiling`, from round t on, with `count` pulls at most."""

    def __call__(self, state: Any, ceiling: float, count: int, t: int, /) -> float: ...  # noqa: D102


class Cycle(Protocol):
    """The arms of one sweep, in order, and how many of the entries are valid."""

    def __call__(self, state: Any, /) -> tuple[Integers, int]: ...  # noqa: D102


class Quiet(Protocol):
    """How many whole sweeps the policy will certainly play from here on; zero in the middle of a sweep."""

    def __call__(self, state: Any, /) -> int: ...  # noqa: D102


class Absorb(Protocol):
    """Learn from whole sweeps at once; totals[arm] is what the pulls of each arm paid."""

    def __call__(self, state: Any, sweeps: int, totals: Floats, /) -> Any: ...  # noqa: D102


class Alter(Protocol):
    """The reward that the policy sees instead of the true one, and the next state."""

    def __call__(  # noqa: D102
        self, state: Any, round: Round, arm: int, reward: float, view: Any, rng: Stream, /
    ) -> tuple[float, Any]: ...


class Corrupt(Protocol):
    """Change the rewards of all arms in place, before the arm is known."""

    def __call__(self, state: Any, round: Round, rewards: Floats, rng: Stream, /) -> Any: ...  # noqa: D102


class Respond(Protocol):
    """The probability that a reward is altered, and to what: (chance, altered)."""

    def __call__(self, state: Any, view: Any, arm: int, reward: float, /) -> tuple[float, float]: ...  # noqa: D102


class Look(Protocol):
    """Look at the policy before a round; the state stays the same while the policy's state does."""

    def __call__(self, state: Any, round: Round, view: Any, /) -> Any: ...  # noqa: D102


class Witness(Protocol):
    """Take note of a raw reward and of what was delivered, after clipping and metering."""

    def __call__(self, state: Any, arm: int, reward: float, seen: float, /) -> Any: ...  # noqa: D102


class Draw(Protocol):
    """One reward of an arm."""

    def __call__(self, state: Any, arm: int, rng: Stream, /) -> float: ...  # noqa: D102


class DrawTotal(Protocol):
    """The sum of several rewards of an arm, in one draw."""

    def __call__(self, state: Any, arm: int, pulls: int, rng: Stream, /) -> float: ...  # noqa: D102


class Outcomes(Protocol):
    """The two rewards that an arm can pay, and the chance of the higher one: (high, low, chance)."""

    def __call__(self, state: Any, arm: int, /) -> tuple[float, float, float]: ...  # noqa: D102
