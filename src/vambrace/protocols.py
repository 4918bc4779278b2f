"""What a policy, an adversary and an environment are.

Each is a frozen, keyword-only dataclass of parameters with an `init` that makes a fresh state (a NamedTuple of
numbers and arrays) and a few kernels, held as static methods, that work on that state. A kernel replaces scalars by
returning a new state and changes arrays in place. Write a new one by copying the shortest file of its folder, and run
`vambrace.testing` over it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from vambrace.live.learner import Learner

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Kernel = Callable[..., Any]


class Pending(NamedTuple):
    """Decisions that are not answered yet: none in a simulation, any number in a live learner."""

    total: int
    per_arm: Integers


class Policy:
    """A bandit algorithm: `init` and two kernels. Every policy of the package is one; subclass it to write your own.

    select(state, pending, rng) -> (arm, probability, tag)      reads the state only
    update(state, arm, reward, probability, tag) -> state       the only writer

    `probability` is the chance with which the policy made this choice, and `tag` a whole number that it wants back with
    the answer, so that nothing hides between asking and telling.

    A policy that plays the same cycle of arms for long stretches may offer three kernels more, and the leap engine
    takes each stretch in one step (docs/leap.md):

    cycle(state) -> (arms, count)               the arms of one sweep, in order
    quiet(state) -> sweeps                      how many whole sweeps from here on it plays exactly this cycle whatever
                                                rewards in [0, 1] come; zero in mid-sweep
    absorb(state, sweeps, totals) -> state      so many sweeps at once; totals[arm] is what each arm's pulls paid

    >>> from dataclasses import dataclass
    >>> from typing import NamedTuple
    >>> import vambrace as vb
    >>> class State(NamedTuple):
    ...     n_arms: int
    ...     round: int
    >>> @vb.kernel
    ... def select(state, pending, rng):
    ...     return state.round % state.n_arms, 1.0, 0
    >>> @vb.kernel
    ... def update(state, arm, reward, probability, tag):
    ...     return State(state.n_arms, state.round + 1)
    >>> @dataclass(frozen=True, kw_only=True)
    ... class InTurn(vb.Policy):
    ...     name, reference = "in-turn", "this docstring"
    ...     select, update = staticmethod(select), staticmethod(update)
    ...
    ...     def init(self, n_arms, horizon):
    ...         return State(n_arms, 0)
    >>> print(vb.simulate(InTurn(), vb.Bernoulli([0.9, 0.5]), horizon=1_000))
    in-turn without attack: regret 200.0 after 1,000 rounds, cost 0.0
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    randomized: ClassVar[bool] = False  # whether `select` draws from its stream
    select: Kernel
    update: Kernel
    cycle: Kernel | None = None
    quiet: Kernel | None = None
    absorb: Kernel | None = None

    def init(self, n_arms: int, horizon: int) -> Any:
        """A fresh state."""
        raise NotImplementedError

    def learner(self, *, n_arms: int, horizon: int, seed: int = 0) -> "Learner":
        """The same algorithm, live: ask for an arm, tell its reward.

        Args:
            n_arms: How many arms there are.
            horizon: How many decisions there will be, at most.
            seed: Of the random numbers of a randomised policy.

        >>> import vambrace as vb
        >>> learner = vb.SEWR(budget=10).learner(n_arms=3, horizon=10_000)
        >>> decision = learner.ask()
        >>> learner.tell(decision, reward=1.0)
        """
        from vambrace.live.learner import Learner

        return Learner(self, n_arms=n_arms, horizon=horizon, seed=seed)


class Adversary:
    """An attack: `init` and one kernel; subclass it to write your own. The engine meters it and stops it at `budget`.

    alter(state, t, arm, reward, view, rng) -> (reward, state)   strong: sees the arm (Procedure 1)
    corrupt(state, t, rewards, rng) -> state                     medium: edits the rewards of all arms in place,
                                                                 before the arm is known (Procedure 2)

    `view` is the policy's state; a white-box attack names the parts of it that it reads in `reads`.

    A strong attack whose rule depends on nothing but the arm, the reward and what the policy has dropped is written as
    one kernel instead, which the leap engine understands too (docs/leap.md); one that makes up its mind anew when the
    policy does, for example at the start of a phase, adds a second:

    respond(state, view, arm, reward) -> (chance, altered)       with this chance return `altered`
    look(state, t, view) -> state                                before round t; changes nothing while the policy stays

    A strong attack that keeps count of what the learner has seen learns it, after clipping and metering, from

    witness(state, arm, reward, seen) -> state                   the raw reward, and what was delivered

    >>> from dataclasses import dataclass
    >>> from typing import NamedTuple
    >>> import vambrace as vb
    >>> class State(NamedTuple):
    ...     best: int
    >>> @vb.kernel
    ... def alter(state, t, arm, reward, view, rng):
    ...     return (1.0 - reward if arm == state.best else reward), state
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Slander(vb.Adversary):
    ...     name, reference, strength, knowledge = "slander", "this docstring", "strong", "oracle means"
    ...     budget: float
    ...     alter = staticmethod(alter)
    ...
    ...     def init(self, means, horizon):
    ...         return State(int(means.argmax()))
    >>> print(vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), Slander(budget=100), horizon=1_000))
    ucb1 against slander:budget=100: regret 376.0 after 1,000 rounds, cost 60.0
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    strength: ClassVar[Literal["strong", "medium"]]
    knowledge: ClassVar[Literal["oracle means", "white box", "black box"]]
    aim: ClassVar[str] = ""  # what it does to which arm, in a few words
    budget: float
    alter: Kernel
    corrupt: Kernel
    respond: Kernel | None = None
    look: Kernel | None = None
    witness: Kernel | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the fields of the policy's state that this attack looks at."""
        return ()

    def init(self, means: Floats, horizon: int) -> Any:
        """A fresh state; `means` are the true ones, for attacks that know them."""
        raise NotImplementedError


class Environment:
    """Arms with rewards in [0, 1]. Subclass it to write your own.

    draw(state, arm, rng) -> reward
    draw_total(state, arm, pulls, rng) -> total       the sum of `pulls` rewards in one draw; None: no closed form
    outcomes(state, arm) -> (high, low, chance)       where an arm has no more than two rewards: both, and how likely
                                                      the higher one is; else None

    Rewards are independent draws, unless `supply` says that an arm has only so many: then no two draws are of the same
    one, and a draw beyond the last returns NaN, which ends the game with what `bad_draw` says.

    >>> from dataclasses import dataclass
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> import vambrace as vb
    >>> from vambrace.sampling import uniform
    >>> class State(NamedTuple):
    ...     tops: np.ndarray
    >>> @vb.kernel
    ... def draw(state, arm, rng):
    ...     return uniform(rng) * state.tops[arm]
    >>> @dataclass(frozen=True)
    ... class UpTo(vb.Environment):
    ...     name = "up-to"
    ...     tops: tuple[float, ...]
    ...     draw = staticmethod(draw)
    ...
    ...     def arm_means(self):
    ...         return np.array(self.tops) / 2
    ...
    ...     def init(self):
    ...         return State(np.array(self.tops))
    >>> print(vb.simulate(vb.UCB1(), UpTo((1.0, 0.5)), horizon=1_000))
    ucb1 without attack: regret 24.5 after 1,000 rounds, cost 0.0
    """

    name: ClassVar[str]
    supply: Sequence[int] | None = None  # how many rewards each arm has; None: without end
    note: str = ""  # what every report must say about these arms
    draw: Kernel
    draw_total: Kernel | None = None
    outcomes: Kernel | None = None

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return len(self.arm_means())

    def arm_means(self) -> Floats:
        """The true expected reward of each arm."""
        raise NotImplementedError

    def init(self) -> Any:
        """A fresh state."""
        raise NotImplementedError

    def bad_draw(self, t: int, arm: int, value: float) -> str:
        """What is wrong with a draw that is no reward in [0, 1]."""
        return f"expected a reward in [0, 1], got {value} in round {t}"
