"""A policy, live, with the kernels of the simulator, interpreted: ask for an arm, tell its reward when it arrives."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from time import time
from typing import Any, TypeVar

import numpy as np

from vambrace import validation
from vambrace.errors import InvalidParameter
from vambrace.live import snapshots
from vambrace.live.core import Core, Outcome
from vambrace.live.counts import Counts, counts_of
from vambrace.live.events import Asked, Id, Label
from vambrace.live.explanation import Explanation, explained
from vambrace.live.settings import Late, Settings
from vambrace.protocols import Policy

Result = TypeVar("Result")


@dataclass(slots=True, unsafe_hash=True)  # a frozen one takes four times as long to make
class Decision:
    """An arm to play: what `Learner.ask` returns and `Learner.tell` needs back.

    Attributes:
        id: A text that nobody can guess, given once. Store it with the event: `tell` accepts it too.
        arm: The label of the arm to play; its number if the arms have no labels.
        index: The number of the arm, from zero.
        probability: The probability with which the policy chose this arm; None: the policy does not know it.
        round: The number of this decision, from one; the events of a warm start count too.

    >>> import vambrace as vb
    >>> decision = vb.SE().learner(arms=["old", "new"], horizon=100).ask()
    >>> decision.arm, decision.index, decision.probability, decision.round
    ('old', 0, 1.0, 1)
    """

    id: Id
    arm: Any
    index: int
    probability: float | None
    round: int


class Learner:
    """A policy, live: `ask` for an arm, `tell` its reward when it arrives. Made by ``policy.learner(...)``.

    Args:
        policy: Any policy of the package, such as vb.SEWR(budget=100).
        arms: The labels of the arms: texts, or whole numbers.
        n_arms: The number of arms, if they have no labels: these are then 0, 1, 2 and so on.
        horizon: The largest number of decisions; many policies use it to set their radii. None: unknown, for policies
            that need none, such as `KLUCBWR`.
        seed: The seed of a randomised policy, to reproduce its arms; None: one that nobody can predict. Snapshots keep
            it. Ids of decisions do not depend on it.
        expires_after: After how many seconds an open decision is closed; None: never.
        default_reward: The reward that is counted when a decision expires; None: none is.
        late: What happens to an answer after that: "record": it is only noted; "count": the policy learns from it.
        clock: The time in seconds, as a function; for tests.

    Rewards in [0, 1] may arrive late, in any order, or never: the policy knows which decisions are open and does not
    wait for them. All methods may be called from several threads. `snapshot` returns everything as a dict for JSON, and
    `Learner.restore` continues bit for bit.

    >>> import vambrace as vb
    >>> learner = vb.UCB1().learner(arms=["old", "new"])
    >>> first, second = learner.ask(), learner.ask()
    >>> learner.tell(second, reward=1.0)  # answered before the first
    'applied'
    >>> learner.tell(first.id, reward=0.0)  # the id will do
    'applied'
    >>> learner.tell(first.id, reward=0.0)  # sent again, for example by a client that saw no reply
    'duplicate'
    >>> learner.ask().arm
    'new'
    >>> again = vb.Learner.restore(learner.snapshot())
    >>> again.open == learner.open, again.ask().arm == learner.ask().arm
    (True, True)
    """

    def __init__(
        self,
        policy: Policy,
        *,
        arms: Sequence[Label] | None = None,
        n_arms: int | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        expires_after: float | None = None,
        default_reward: float | None = None,
        late: Late = "record",
        clock: Callable[[], float] = time,
    ) -> None:
        settings = Settings.made(
            policy,
            arms=arms,
            n_arms=n_arms,
            horizon=horizon,
            seed=seed,
            expires_after=expires_after,
            default_reward=default_reward,
            late=late,
        )
        self._start(Core(settings), clock)

    def _start(self, core: Core, clock: Callable[[], float]) -> None:
        self._settings = core.settings
        self._core, self._clock, self._lock = core, clock, Lock()

    @property
    def policy(self) -> Policy:
        """The policy that it plays."""
        return self._settings.policy

    @property
    def horizon(self) -> int | None:
        """The largest number of decisions; None: unknown."""
        return self._settings.horizon

    @property
    def seed(self) -> int:
        """The seed of its random numbers."""
        return self._settings.seed

    @property
    def arms(self) -> tuple[Any, ...]:
        """The labels of all arms, by number; retired ones too."""
        return self._look(lambda core: tuple(record.label for record in core.arms))

    @property
    def n_arms(self) -> int:
        """The number of arms, retired ones too."""
        return self._look(lambda core: len(core.arms))

    @property
    def asked(self) -> int:
        """How many decisions have been made."""
        return self._look(lambda core: core.asked)

    @property
    def open(self) -> tuple[Id, ...]:
        """The ids of the decisions that are not answered yet, oldest first."""
        return self._look(lambda core: tuple(core.open))

    def ask(self) -> Decision:
        """The next arm to play."""
        with self._lock:  # like `tell` without `_alone` and `asked`, whose calls take a twentieth of the time
            core = self._core
            event = core.ask(self._clock())
            return decision_of(core, event, core.asked + core.warm)

    def ask_many(self, n: int) -> list[Decision]:
        """The next arms to play, as if asked one after the other.

        Args:
            n: How many.

        >>> import vambrace as vb
        >>> [decision.arm for decision in vb.SE().learner(n_arms=3, horizon=100).ask_many(4)]
        [0, 1, 2, 0]
        """
        n = validation.whole("n", n, low=0)

        def work(core: Core, now: float) -> list[Decision]:
            core.check_horizon(n)  # all of them, or none
            return [asked(core, now) for _ in range(n)]

        return self._alone(work)

    def tell(self, decision: Decision | Id, reward: float) -> Outcome:
        """Report the reward of a decision. An answer that is refused with an error changes nothing.

        Args:
            decision: The decision or its id.
            reward: A number in [0, 1], as it was observed.

        Returns:
            "applied": the policy has learned from it. "duplicate": the same reward was told before, and nothing
            changes. "conflict": another reward was told before, and that one is kept. "late": the decision had expired,
            or was abandoned; the policy learns from it only with ``late="count"``.
        """
        key = decision.id if type(decision) is Decision else id_of(decision)
        with self._lock:
            return self._core.tell(self._clock(), key, reward)

    def tell_many(self, answers: Iterable[tuple[Decision | Id, float]]) -> list[Outcome]:
        """Report many rewards. If one of them is refused with an error, none is counted.

        Args:
            answers: Pairs of a decision, or its id, and its reward.

        Returns:
            The outcome of each, as from `tell`.

        >>> import vambrace as vb
        >>> learner = vb.SE().learner(n_arms=2, horizon=100)
        >>> first, second = learner.ask_many(2)
        >>> learner.tell_many([(first, 1.0), (second.id, 0.0), (first, 0.0)])
        ['applied', 'applied', 'conflict']
        """
        pairs = [(id_of(decision), reward) for decision, reward in answers]

        def work(core: Core, now: float) -> list[Outcome]:
            core.expire(now)  # first: it may push old decisions out of what is remembered
            for key, reward in pairs:
                core.checked(key, reward)
            return [core.tell(now, key, reward) for key, reward in pairs]

        return self._alone(work)

    def abandon(self, decision: Decision | Id) -> bool:
        """Close an open decision whose answer will never come, for example because the arm was not shown.

        Args:
            decision: The decision or its id.

        Returns:
            Whether it was open.
        """
        key = id_of(decision)
        return self._alone(lambda core, now: core.abandon(now, key))

    def expire(self) -> int:
        """Close the decisions that are overdue, and say how many they were. Every other method does this first."""
        return self._alone(Core.expire)

    def add_arm(self, label: Label) -> None:
        """Open a new arm, or a retired one again. The policy's guarantee then holds with K = the arms ever opened.

        Args:
            label: Its label.
        """
        self._alone(lambda core, now: core.add_arm(now, label))

    def retire_arm(self, label: Label) -> None:
        """Play an arm no more. Answers to its open decisions are still counted.

        Args:
            label: Its label.
        """
        self._alone(lambda core, now: core.retire_arm(now, label))

    def warm_start(self, log: Counts) -> None:
        """Learn from the counts of a finished test, as if its events had been decisions of this learner.

        Fake events among them count against the budget, and all of them against the horizon. The arms must have been
        chosen at random, or otherwise without looking at the rewards. It takes a few microseconds for each event.

        Args:
            log: For each label its events and successes: a mapping, or a file or a table that `certify` can read.

        >>> import vambrace as vb
        >>> learner = vb.KLUCBWR(budget=5).learner(arms=["old", "new"])
        >>> learner.warm_start({"old": (1_000, 30), "new": (1_000, 90)})
        >>> learner.ask().arm
        'new'
        """
        counts = counts_of(log, self.arms)
        self._alone(lambda core, now: core.warm_start(now, counts))

    def explain(self) -> Explanation:
        """What the learner knows of each arm, and what it waits for: print it, or take its `to_dict()`."""

        def work(core: Core, now: float) -> Explanation:
            core.expire(now)
            return explained(core)

        return self._alone(work)

    def snapshot(self) -> dict[str, Any]:
        """Everything, as a dict for `json.dumps`: settings, state, random stream, open and lately closed decisions.

        Keep it secret: who has it can make ids that this learner accepts, and foresee its random numbers.
        """
        return self._look(snapshots.content_of)

    @classmethod
    def restore(
        cls, snapshot: dict[str, Any], *, policy: Policy | None = None, clock: Callable[[], float] = time
    ) -> "Learner":
        """The learner of a snapshot, which continues bit for bit.

        Args:
            snapshot: What `snapshot` returned.
            policy: The policy; needed only if it is not registered.
            clock: The time in seconds, as a function; for tests.

        >>> import json, vambrace as vb
        >>> learner = vb.PEWR().learner(n_arms=3, horizon=1_000)
        >>> late = learner.ask()
        >>> again = vb.Learner.restore(json.loads(json.dumps(learner.snapshot())))
        >>> again.tell(late.id, reward=1.0)
        'applied'
        >>> again.ask().arm
        1
        """
        learner = cls.__new__(cls)
        learner._start(snapshots.core_of(snapshot, policy), clock)
        return learner

    def _alone(self, work: Callable[[Core, float], Result]) -> Result:
        """Do some work while nobody else does. A durable learner replaces this, `ask` and `tell`."""
        with self._lock:
            return work(self._core, self._clock())

    def _look(self, work: Callable[[Core], Result]) -> Result:
        return self._alone(lambda core, now: work(core))


def asked(core: Core, now: float) -> Decision:
    """The next decision of a core."""
    event = core.ask(now)
    return decision_of(core, event, core.asked + core.warm)


def decision_of(core: Core, event: Asked, round: int) -> Decision:
    """The decision that an event made, in this round."""
    _, key, arm, probability, _ = event
    return Decision(key, core.arms[arm].label, arm, probability if core.policy.knows_probability else None, round)


def id_of(decision: Decision | Id) -> Id:
    """The id of a decision, which may be given by its id."""
    key = decision.id if isinstance(decision, Decision) else decision
    if isinstance(key, str):
        return key
    if isinstance(key, bool) or not isinstance(key, int | np.integer):
        raise InvalidParameter(f"decision: expected a Decision or its id, got {decision!r}")
    return int(key)
