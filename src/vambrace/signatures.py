"""The arguments and results of kernels: arrays, the tuples `Round`, `Answer` and `Game`, and every signature."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vambrace.errors import InvalidParameter
from vambrace.sampling import Stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Round(NamedTuple):
    """The round that a kernel is asked about."""

    t: int  # its number, from one
    open: int  # how many decisions are not answered yet: more than 0 only in a live learner or with a delay
    open_per_arm: Integers  # the same for each arm
    available: Flags  # which arms are open, that is can be played

    @classmethod
    def prompt(cls, t: int, n_arms: int) -> "Round":
        """A round with no open decisions and all arms available, such as every round of a simulation."""
        return cls(t, 0, np.zeros(n_arms, dtype=np.int64), np.ones(n_arms, dtype=np.bool_))


class Answer(NamedTuple):
    """The answer to a decision."""

    arm: int  # the arm that was played
    reward: float  # what the policy sees of its reward, altered or not
    probability: float  # the second value that `select` returned with the decision
    tag: int  # the third one


class Game(NamedTuple):
    """The game that a fresh state is made for; only attacks get `means` and `victim`."""

    n_arms: int
    horizon: int | None = None  # the number of rounds; None: unknown
    means: Floats = np.zeros(0)  # the true mean of each arm
    victim: Any = None  # a fresh state of the attacked policy, which may be kept as a copy to try things on

    @property
    def required_horizon(self) -> int:
        """The horizon; an error if it is unknown."""
        if self.horizon is None:
            raise InvalidParameter("horizon: expected a number of rounds, got None")
        return self.horizon


class Standing(NamedTuple):
    """What a policy itself thinks of one arm, for people to read."""

    low: float  # its confidence interval, with its budget
    high: float
    dropped: bool  # whether it will not play the arm again
    needed: int | None  # about how many more answers, at the present means, until it prefers the best arm for good


# The kernels; `Policy`, `Adversary` and `Environment` say what each of them does.
Select = Callable[[Any, Round, Stream], tuple[int, float, int]]
Update = Callable[[Any, Answer], Any]
Cycle = Callable[[Any], tuple[Integers, int]]
Quiet = Callable[[Any], int]
Absorb = Callable[[Any, int, Floats], Any]
ChangeArm = Callable[[Any, int], Any]  # `open_arm` and `close_arm`
Alter = Callable[[Any, Round, int, float, Any, Stream], tuple[float, Any]]
Corrupt = Callable[[Any, Round, Floats, Stream], Any]
Respond = Callable[[Any, Any, int, float], tuple[float, float]]
Look = Callable[[Any, Round, Any], Any]
Inject = Callable[[Any, Round, Any, Stream], tuple[bool, Any]]
Reply = Callable[[Any, Round, int, Any, Stream], tuple[float, Any]]
Witness = Callable[[Any, int, float, float], Any]
Copy = Callable[[Any, Any], Any]
Draw = Callable[[Any, int, Stream], float]
DrawTotal = Callable[[Any, int, int, Stream], float]
Outcomes = Callable[[Any, int], tuple[float, float, float]]

# The kernels of index policies: what all indices have in common in round t, computed once for all arms; the index of an
# arm of which `count` decisions were made; whether it is above a floor, if that is faster to decide; an estimate above
# which it is above a ceiling, with `count` pulls at most.
Growth = Callable[[Any, int], float]  # state, t
Index = Callable[[Any, int, int, float], float]  # state, arm, count, growth
Above = Callable[[Any, int, int, float, float], bool]  # state, arm, count, growth, floor
Threshold = Callable[[Any, float, int, float], float]  # state, ceiling, count, growth
