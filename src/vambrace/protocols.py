"""What a policy, an attack and an environment are.

Each is a frozen, keyword-only dataclass of parameters with an `init` that makes a fresh state (a NamedTuple of
numbers and arrays) and a few kernels, held as static methods, that work on that state. A kernel replaces scalars by
returning a new state and changes arrays in place. What a kernel is given beside its state comes in NamedTuples, which
may grow: `Round`, `Answer`, `Game`. Write a new one by copying the shortest file of its folder, and run
`vambrace.testing` over it.
"""

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from vambrace.errors import InvalidParameter, UnknownName
from vambrace.kernels import is_kernel, place
from vambrace.parameters import HasParameters
from vambrace.signatures import (
    Absorb,
    Alter,
    Corrupt,
    Cycle,
    Draw,
    DrawTotal,
    Look,
    Outcomes,
    Quiet,
    Respond,
    Select,
    Update,
    Witness,
)
from vambrace.signatures import Answer as Answer
from vambrace.signatures import Flags as Flags
from vambrace.signatures import Floats as Floats
from vambrace.signatures import Game as Game
from vambrace.signatures import Integers as Integers
from vambrace.signatures import Round as Round

if TYPE_CHECKING:
    from vambrace.live.learner import Learner

Kernels = Mapping[str, type]  # name -> signature

OLD_NAMES = ("pending", "t")  # second parameters of kernels in version 0.1


class HasKernels(HasParameters):
    """The base of policies, attacks and environments: checks their kernels when a class is made."""

    kernels: ClassVar[Kernels] = {}  # name -> its signature

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in vars(cls).items():
            function = value.__func__ if isinstance(value, staticmethod) else None
            if is_kernel(function) and name not in cls.kernels:
                raise UnknownName(f"kernel of {cls.__name__}", name, cls.kernels)
            if isinstance(function, FunctionType) and name in cls.kernels:
                _check_parameters(f"{cls.__name__}.{name}", function, _parameters(cls.kernels[name].__call__)[1:])
        if isinstance(init := vars(cls).get("init"), FunctionType):
            first = next(vars(base)["init"] for base in reversed(cls.__mro__) if "init" in vars(base))
            _check_parameters(f"{cls.__name__}.init", init, _parameters(first))


def _parameters(function: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = function.__code__.co_varnames[: function.__code__.co_argcount]
    return names


def _check_parameters(name: str, function: FunctionType, wanted: tuple[str, ...]) -> None:
    found = _parameters(function)
    if len(found) != len(wanted) or found[1:2] in [(old,) for old in OLD_NAMES]:
        raise InvalidParameter(
            f"{name} ({place(function)}): expected the parameters ({', '.join(wanted)}), got ({', '.join(found)}); "
            "what was written for version 0.1 is easily changed: see CHANGELOG"
        )


class Policy(HasKernels):
    """A bandit algorithm: `init` and two kernels. Every policy of the package is one; subclass it to write your own.

    ```text
    select(state, round, rng) -> (arm, probability, tag)        reads the state only
    update(state, answer) -> state                              the only writer
    ```

    `round` is a `Round`, `answer` an `Answer`. `probability` is the chance with which the policy made this choice, and
    `tag` a whole number that it wants back with the answer, so that nothing hides between asking and telling.

    A policy that plays the same cycle of arms for long stretches may offer three kernels more, and the leap engine
    takes each stretch in one step (docs/leap.md):

    ```text
    cycle(state) -> (arms, count)               the arms of one sweep, in order
    quiet(state) -> sweeps                      how many whole sweeps from here on it plays exactly this cycle, for any
                                                rewards in [0, 1]; zero in mid-sweep
    absorb(state, sweeps, totals) -> state      these sweeps at once; totals[arm] is what each arm's pulls paid
    ```

    >>> from dataclasses import dataclass
    >>> from typing import NamedTuple
    >>> import vambrace as vb
    >>> class State(NamedTuple):
    ...     n_arms: int
    >>> @vb.kernel
    ... def select(state, round, rng):
    ...     return round.t % state.n_arms, 1.0, 0
    >>> @vb.kernel
    ... def update(state, answer):
    ...     return state
    >>> @dataclass(frozen=True, kw_only=True)
    ... class InTurn(vb.Policy):
    ...     name, reference = "in-turn", "this docstring"
    ...     select, update = staticmethod(select), staticmethod(update)
    ...
    ...     def init(self, game):
    ...         return State(game.n_arms)
    >>> print(vb.simulate(InTurn(), vb.Bernoulli([0.9, 0.5]), horizon=1_000))
    in-turn without attack: regret 200.0 after 1,000 rounds
    """

    kernels: ClassVar[Kernels] = {
        "select": Select,
        "update": Update,
        "cycle": Cycle,
        "quiet": Quiet,
        "absorb": Absorb,
    }

    name: ClassVar[str]
    reference: ClassVar[str]
    randomized: ClassVar[bool] = False  # whether `select` draws from its stream
    knows_probability: ClassVar[bool] = True  # whether the second value of `select` is the chance of the arm
    state_version: ClassVar[int] = 1  # counts the changes of its state, for snapshots of older ones
    select: Select
    update: Update
    cycle: Cycle | None = None
    quiet: Quiet | None = None
    absorb: Absorb | None = None

    @property
    def constants(self) -> Mapping[str, bool]:
        """Slots for constants: branches that these parameters never take are not compiled."""
        return {}

    def init(self, game: Game) -> Any:
        """A fresh state.

        Args:
            game: The game that it is for.
        """
        raise NotImplementedError

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        """The state of a snapshot as it is written today.

        Args:
            state: The state as it was written: dicts, lists, numbers and words.
            version: The `state_version` that wrote it, smaller than the present one.
        """
        raise NotImplementedError

    def learner(self, *, n_arms: int, horizon: int, seed: int | None = None) -> "Learner":
        """The same algorithm, live: ask for an arm, tell its reward.

        Args:
            n_arms: The number of arms.
            horizon: The largest number of decisions.
            seed: Of the random numbers of a randomised policy; None: from the operating system, so that nobody can
                foresee them.

        >>> import vambrace as vb
        >>> learner = vb.SEWR(budget=10).learner(n_arms=3, horizon=10_000)
        >>> decision = learner.ask()
        >>> learner.tell(decision, reward=1.0)
        """
        from vambrace.live.learner import Learner

        return Learner(self, n_arms=n_arms, horizon=horizon, seed=seed)


class Adversary(HasKernels):
    """An attack: `init` and one kernel; subclass it to write your own. The engine meters it and stops it at `budget`.

    ```text
    alter(state, round, arm, reward, view, rng) -> (reward, state)   strong: sees the arm (Procedure 1)
    corrupt(state, round, rewards, rng) -> state                     medium: changes the rewards of all arms in place,
                                                                     before the arm is known (Procedure 2)
    ```

    `view` is the policy's state; a white-box attack names the parts of it that it reads in `reads`. An attack may also
    call the victim's kernels: `from vambrace.engine.slots import select`.

    A strong attack whose rule depends on nothing but the arm, the reward and what the policy has dropped is written as
    one kernel instead, which the leap engine understands too (docs/leap.md); one that makes up its mind anew when the
    policy does, for example at the start of a phase, adds a second:

    ```text
    respond(state, view, arm, reward) -> (chance, altered)   with this chance return `altered`
    look(state, round, view) -> state                        before a round; changes nothing while the policy stays
    ```

    A strong attack that keeps count of what the learner has seen learns it, after clipping and metering, from

    ```text
    witness(state, arm, reward, seen) -> state               the raw reward, and what was delivered
    ```

    >>> from dataclasses import dataclass
    >>> from typing import NamedTuple
    >>> import vambrace as vb
    >>> class State(NamedTuple):
    ...     best: int
    >>> @vb.kernel
    ... def alter(state, round, arm, reward, view, rng):
    ...     return (1.0 - reward if arm == state.best else reward), state
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Slander(vb.Adversary):
    ...     name, reference, strength, knowledge = "slander", "this docstring", "strong", "oracle means"
    ...     budget: float
    ...     alter = staticmethod(alter)
    ...
    ...     def init(self, game):
    ...         return State(int(game.means.argmax()))
    >>> print(vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), Slander(budget=100), horizon=1_000))
    ucb1 against slander:budget=100: regret 376.0 after 1,000 rounds, cost 60.0
    """

    kernels: ClassVar[Kernels] = {
        "alter": Alter,
        "corrupt": Corrupt,
        "respond": Respond,
        "look": Look,
        "witness": Witness,
    }

    name: ClassVar[str]
    reference: ClassVar[str]
    strength: ClassVar[Literal["strong", "medium"]]
    knowledge: ClassVar[Literal["oracle means", "white box", "black box"]]
    aim: ClassVar[str] = ""  # what it does to which arm, in a few words
    budget: float
    alter: Alter
    corrupt: Corrupt
    respond: Respond | None = None
    look: Look | None = None
    witness: Witness | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the fields of the policy's state that this attack looks at."""
        return ()

    def init(self, game: Game) -> Any:
        """A fresh state.

        Args:
            game: The game that it is for, with the true means and a fresh state of the victim.
        """
        raise NotImplementedError


class Environment(HasKernels):
    """Arms with rewards in [0, 1]. Subclass it to write your own.

    ```text
    draw(state, arm, rng) -> reward
    draw_total(state, arm, pulls, rng) -> total       the sum of `pulls` rewards in one draw, where there is a way
    outcomes(state, arm) -> (high, low, chance)       where an arm has no more than two rewards: both, and the chance
                                                      of the higher one
    ```

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
    ucb1 without attack: regret 24.5 after 1,000 rounds
    """

    kernels: ClassVar[Kernels] = {"draw": Draw, "draw_total": DrawTotal, "outcomes": Outcomes}

    name: ClassVar[str]
    supply: Sequence[int] | None = None  # how many rewards each arm has; None: without end
    note: str = ""  # what every report must say about these arms
    draw: Draw
    draw_total: DrawTotal | None = None
    outcomes: Outcomes | None = None

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
        """What is wrong with a draw that is no reward in [0, 1].

        Args:
            t: The round.
            arm: The arm.
            value: What was drawn.
        """
        return f"expected a reward in [0, 1], got {value} in round {t}"
