"""What a policy, an attack and an environment are.

Each is a frozen, keyword-only dataclass of parameters with an `init` that makes a fresh state (a NamedTuple of numbers
and arrays, or one of these) and a few kernels, held as static methods, that work on that state. A kernel replaces
scalars by returning a new state and changes arrays in place. Its other arguments come in NamedTuples, which may get
more fields: `Round`, `Answer`, `Game`. To write one, copy the shortest file of its folder; `vambrace.testing` helps.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from vambrace import signatures
from vambrace.errors import NotApplicable
from vambrace.parameters import HasKernels, Kernels
from vambrace.sampling import Stream
from vambrace.signatures import Answer, Flags, Floats, Game, Integers, Round

if TYPE_CHECKING:
    from vambrace.live.learner import Learner

__all__ = ["Adversary", "Answer", "Environment", "Flags", "Floats", "Game", "Integers", "Policy", "Round", "Stream"]


class Policy(HasKernels):
    """A bandit algorithm: `init` and two kernels. Every policy of the package is one; subclass it to write your own.

    ```text
    select(state, round, rng) -> (arm, probability, tag)        reads the state only
    update(state, answer) -> state                              the only writer
    ```

    `round` is a `Round`, `answer` an `Answer`. `probability` is the probability with which the policy made this choice,
    and `tag` an integer that the policy gets back with the answer, so that it needs no hidden state between the two.

    A policy that plays the same cycle of arms for long stretches may define three more kernels, with which the leap
    engine plays each stretch in one step (docs/leap.md):

    ```text
    cycle(state) -> (arms, count)               the arms of one sweep, in order
    quiet(state) -> sweeps                      how many whole sweeps from here on it plays exactly this cycle, for any
                                                rewards in [0, 1]; zero in mid-sweep
    absorb(state, sweeps, totals) -> state      these sweeps at once; totals[arm] is what each arm's pulls paid
    ```

    A policy whose arms may open and close during a game obeys `round.available` in `select` and defines two more, which
    hear of each change before the next round. In a fresh state all arms are open.

    ```text
    open_arm(state, arm) -> state               the arm can be played from now on: a new one, or one that was closed
    close_arm(state, arm) -> state              it cannot; late answers for it may still come
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

    kernels: ClassVar[Kernels] = {"select": "state, round, rng", "update": "state, answer"}
    kernels |= {"cycle": "state", "quiet": "state", "absorb": "state, sweeps, totals"}
    kernels |= {"open_arm": "state, arm", "close_arm": "state, arm"}
    reference: ClassVar[str]
    randomized: ClassVar[bool] = False  # whether `select` draws from its stream
    knows_probability: ClassVar[bool] = True  # whether `select` returns the true probability of the arm
    arms_can_change: ClassVar[bool] = False  # whether it has `open_arm` and `close_arm`
    learns_from_counts: ClassVar[bool] = False  # whether answers without probabilities and tags can be counted
    state_version: ClassVar[int] = 1  # counts the changes of its state, for snapshots of older ones
    select: signatures.Select
    update: signatures.Update
    cycle: signatures.Cycle | None = None
    quiet: signatures.Quiet | None = None
    absorb: signatures.Absorb | None = None
    open_arm: signatures.ChangeArm | None = None
    close_arm: signatures.ChangeArm | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.arms_can_change = cls.open_arm is not None and cls.close_arm is not None

    def require_changing_arms(self) -> None:
        """Raise, with the names of the policies that can, if the arms of this one cannot open and close."""
        if not self.arms_can_change:
            from vambrace.registry import with_changing_arms

            wanted = f"a policy whose arms can ({', '.join(with_changing_arms())})"
            raise NotApplicable(f"arms that open and close: expected {wanted}, got {self.name}")

    @property
    def constants(self) -> Mapping[str, bool]:
        """Values of constant slots: branches that these parameters never take are not compiled."""
        return {}

    def init(self, game: Game) -> Any:
        """A fresh state.

        Args:
            game: The game that it is for.
        """
        raise NotImplementedError

    def widen(self, state: Any, game: Game) -> Any:
        """The same state with more arms. The new ones are as in a fresh state, but closed: call `open_arm` for each.

        Arrays that are indexed by arm get longer, and everything else stays as it is. The old arrays are not shared. A
        policy whose other fields depend on the number of arms overrides this.

        Args:
            state: The state, which may be changed.
            game: The game with the new number of arms, which is not smaller, and the horizon that the state has.
        """
        self.require_changing_arms()
        return _widened(state, self.init(game))

    def standing(self, state: Any, arm: int) -> signatures.Standing | None:
        """How an arm stands, for `Learner.explain`; None: the policy has no interval of its own.

        Args:
            state: The state.
            arm: The arm.
        """
        return None

    def migrate(self, state: dict[str, Any], version: int) -> dict[str, Any]:
        """The state of a snapshot as it is written today.

        Args:
            state: The state as it was written: dicts, lists, numbers and words.
            version: The `state_version` that wrote it, smaller than the current one.
        """
        raise NotImplementedError

    def learner(
        self,
        *,
        arms: Sequence[str | int] | None = None,
        n_arms: int | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        expires_after: float | None = None,
        default_reward: float | None = None,
        late: Literal["record", "count"] = "record",
    ) -> "Learner":
        """The same algorithm, live: ask for an arm, tell its reward.

        Args:
            arms: The labels of the arms: texts, or whole numbers.
            n_arms: The number of arms, if they have no labels: these are then 0, 1, 2 and so on.
            horizon: The largest number of decisions; None: unknown, for policies that need none, such as `KLUCBWR`.
            seed: The seed of a randomised policy, to reproduce its arms; None: one that nobody can predict.
            expires_after: After how many seconds an open decision is closed; None: never.
            default_reward: The reward that is counted when a decision expires; None: none is.
            late: What happens to an answer after that: "record": it is only noted; "count": the policy learns from it,
                which excludes a default reward, because no decision is counted twice.

        >>> import vambrace as vb
        >>> learner = vb.SEWR(budget=10).learner(arms=["old", "new"], horizon=10_000)
        >>> decision = learner.ask()
        >>> decision.arm
        'old'
        >>> learner.tell(decision, reward=1.0)
        'applied'
        """
        from vambrace.live.learner import Learner

        return Learner(
            self,
            arms=arms,
            n_arms=n_arms,
            horizon=horizon,
            seed=seed,
            expires_after=expires_after,
            default_reward=default_reward,
            late=late,
        )


def _widened(old: Any, fresh: Any) -> Any:
    """The old values, in the shape of a fresh state with more arms."""
    if hasattr(fresh, "_fields"):
        return type(fresh)(*(_widened(*pair) for pair in zip(old, fresh, strict=True)))
    if isinstance(fresh, np.ndarray):
        fresh[: len(old)] = old
        return fresh
    return old


class Adversary(HasKernels):
    """An attack: `init` and one kernel; subclass it to write your own. The engine enforces its `budget`.

    ```text
    alter(state, round, arm, reward, view, rng) -> (reward, state)   strong: sees the arm (Procedure 1)
    corrupt(state, round, rewards, rng) -> state                     medium: changes the rewards of all arms in place,
                                                                     before the arm is known (Procedure 2)
    inject(state, round, view, rng) -> (flag, state)                 injecting: whether a fake visitor comes now,
    reply(state, round, arm, view, rng) -> (reward, state)           and what it answers, in [0, 1]
    ```

    A strong one is not called any more once its budget is spent. A fake visitor costs 1, and no regret counts it.

    `view` is the policy's state; a white-box attack lists in `reads` the fields of it that it uses. One that sets
    `tries_policy` may also call the policy's kernels, `from vambrace.engine.slots import select`, and copy its state.

    A strong attack whose rule depends only on the arm, the reward and which arms the policy has dropped defines
    `respond` instead, which the leap engine can use too (docs/leap.md). If the rule can change when the policy changes
    its plan, for example at the start of a phase, the attack also defines `look`:

    ```text
    respond(state, view, arm, reward) -> (chance, altered)   with this chance return `altered`
    look(state, round, view) -> state                        before a round; changes nothing while the policy stays
    ```

    A strong attack that needs to know what the learner has seen, after clipping and metering, defines

    ```text
    witness(state, arm, reward, seen) -> state               the raw reward, and what was delivered
    ```

    >>> from dataclasses import dataclass
    >>> import vambrace as vb
    >>> @vb.kernel
    ... def alter(best, round, arm, reward, view, rng):
    ...     return (1.0 - reward if arm == best else reward), best
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Slander(vb.Adversary):
    ...     name, reference, strength, knowledge = "slander", "this docstring", "strong", "oracle means"
    ...     budget: float
    ...     alter = staticmethod(alter)
    ...
    ...     def init(self, game):
    ...         return int(game.means.argmax())
    >>> print(vb.simulate(vb.UCB1(), vb.Bernoulli([0.9, 0.5]), Slander(budget=100), horizon=1_000))
    ucb1 against slander:budget=100: regret 376.0 after 1,000 rounds, cost 60.0
    """

    kernels: ClassVar[Kernels] = {"alter": "state, round, arm, reward, view, rng"}
    kernels |= {"corrupt": "state, round, rewards, rng", "respond": "state, view, arm, reward"}
    kernels |= {"look": "state, round, view", "witness": "state, arm, reward, seen"}
    kernels |= {"inject": "state, round, view, rng", "reply": "state, round, arm, view, rng"}
    reference: ClassVar[str]
    strength: ClassVar[Literal["strong", "medium", "injecting"]]
    knowledge: ClassVar[Literal["oracle means", "white box", "black box"]]
    aim: ClassVar[str] = ""  # its effect on which arm, in a few words
    tries_policy: bool = False  # whether it calls kernels of the attacked policy
    work: int = 1  # how many times longer a round takes than without attack, about; if it is much, compile sooner
    budget: float
    alter: signatures.Alter
    corrupt: signatures.Corrupt
    respond: signatures.Respond | None = None
    look: signatures.Look | None = None
    witness: signatures.Witness | None = None
    inject: signatures.Inject
    reply: signatures.Reply

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the fields of the policy's state that this attack reads."""
        return ()

    def init(self, game: Game) -> Any:
        """A fresh state.

        Args:
            game: The game that it is for, with the true means and a fresh state of the attacked policy.
        """
        raise NotImplementedError


class Environment(HasKernels):
    """Arms with rewards in [0, 1]. Subclass it to write your own.

    ```text
    draw(state, arm, rng) -> reward
    draw_total(state, arm, pulls, rng) -> total       optional: the sum of `pulls` rewards in one draw
    outcomes(state, arm) -> (high, low, chance)       optional, if an arm has at most two rewards: both, and the
                                                      probability of the higher one
    ```

    Rewards are independent draws, unless `supply` says how many rewards each arm has: then each reward is drawn at most
    once, and a draw after the last returns NaN, which ends the game with the message of `bad_draw`.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import vambrace as vb
    >>> from vambrace.sampling import uniform
    >>> @vb.kernel
    ... def draw(tops, arm, rng):
    ...     return uniform(rng) * tops[arm]
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
    ...         return np.array(self.tops)
    >>> print(vb.simulate(vb.UCB1(), UpTo((1.0, 0.5)), horizon=1_000))
    ucb1 without attack: regret 24.5 after 1,000 rounds
    """

    kernels: ClassVar[Kernels] = {"draw": "state, arm, rng", "draw_total": "state, arm, pulls, rng"}
    kernels |= {"outcomes": "state, arm"}
    supply: Sequence[int] | None = None  # how many rewards each arm has; None: no limit
    note: str = ""  # what every report must say about these arms
    draw: signatures.Draw
    draw_total: signatures.DrawTotal | None = None
    outcomes: signatures.Outcomes | None = None

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return len(self.arm_means())

    def arm_means(self) -> Floats:
        """The true expected reward of each arm."""
        raise NotImplementedError

    def init(self) -> Any:
        """A fresh state."""
        raise NotImplementedError

    def bad_draw(self, t: int, arm: int, value: float) -> str:
        """The error message for a draw that is not in [0, 1].

        Args:
            t: The round.
            arm: The arm.
            value: What was drawn.
        """
        return f"expected a reward in [0, 1], got {value} in round {t}"
