"""A policy, live, with the kernels of the simulator, interpreted: ask for an arm, tell its reward when it arrives."""

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from vambrace import validation
from vambrace.errors import DecisionError, GameFault, HorizonReached, InvalidParameter, SnapshotError
from vambrace.live import snapshots
from vambrace.protocols import Answer, Game, Integers, Policy, Round
from vambrace.sampling import stream

LIVE = 2**32  # first word of the key of a learner's stream; no simulation uses it


@dataclass(frozen=True, slots=True)
class Decision:
    """An arm to play: what `Learner.ask` returns and `Learner.tell` needs back.

    Attributes:
        id: The number of this decision, from one. Store it with the event: `tell` accepts it too.
        arm: The arm to play, from zero.
        probability: The probability with which the policy chose this arm; None: the policy does not know it.
        round: The round in which this was asked; the same as id.

    >>> import vambrace as vb
    >>> vb.SE().learner(n_arms=2, horizon=100).ask()
    Decision(id=1, arm=0, probability=1.0)
    """

    id: int
    arm: int
    probability: float | None

    @property
    def round(self) -> int:
        """The round in which this was asked, from one."""
        return self.id


class Learner:
    """A policy, live: `ask` for an arm, `tell` its reward when it arrives. Made by ``policy.learner(...)``.

    Args:
        policy: Any policy of the package, such as vb.SEWR(budget=100).
        n_arms: The number of arms.
        horizon: The largest number of decisions; many policies use it to set their radii. None: unknown, for policies
            that need none, such as `KLUCBWR`.
        seed: The seed of a randomised policy, to reproduce a run; None: one that nobody can predict. Snapshots keep it.

    Rewards in [0, 1] may arrive late, in any order, or never: the policy knows which decisions are open and does not
    wait for them. `snapshot` returns everything as a dict for JSON, and `Learner.restore` continues bit for bit.

    >>> import vambrace as vb
    >>> learner = vb.UCB1().learner(n_arms=2, horizon=1_000, seed=7)
    >>> first, second = learner.ask(), learner.ask()
    >>> learner.tell(second, reward=1.0)  # answered before the first
    >>> learner.tell(first.id, reward=0.0)  # the id will do
    >>> learner.ask().arm
    1
    >>> again = vb.Learner.restore(learner.snapshot())
    >>> again.open == learner.open, again.ask() == learner.ask()
    (True, True)
    """

    def __init__(self, policy: Policy, *, n_arms: int, horizon: int | None = None, seed: int | None = None) -> None:
        if not isinstance(policy, Policy):
            raise InvalidParameter(f"policy: expected a vambrace.Policy, got {policy!r}")
        self.policy = policy
        self.n_arms, most = validation.game_size(n_arms, validation.MOST_ROUNDS if horizon is None else horizon)
        self.horizon = None if horizon is None else most
        self.seed = secrets.randbits(128) if seed is None else validation.seed(seed)
        self._state = policy.init(Game(self.n_arms, self.horizon))
        self._rng = stream(self.seed, LIVE)
        self._asked = 0
        self._open: dict[int, tuple[int, float, int]] = {}  # id -> arm, probability, tag
        self._pending: Integers = np.zeros(self.n_arms, dtype=np.int64)
        self._available = np.ones(self.n_arms, dtype=np.bool_)

    @property
    def asked(self) -> int:
        """How many decisions have been made."""
        return self._asked

    @property
    def open(self) -> tuple[int, ...]:
        """The ids of the decisions that are not answered yet, oldest first."""
        return tuple(self._open)

    def ask(self) -> Decision:
        """The next arm to play."""
        if self.horizon is not None and self._asked >= self.horizon:
            raise HorizonReached(f"ask: expected at most {self.horizon} decisions (the horizon), got one more")
        round = Round(self._asked + 1, len(self._open), self._pending, self._available)
        arm, probability, tag = self.policy.select(self._state, round, self._rng)
        if not 0 <= arm < self.n_arms:
            raise GameFault(f"policy {self.policy.name}: expected an arm in [0, {self.n_arms - 1}], got {arm}")
        self._asked += 1
        self._open[self._asked] = (int(arm), float(probability), int(tag))
        self._pending[arm] += 1
        return self._decision(self._asked)

    def _decision(self, key: int) -> Decision:
        arm, probability, _ = self._open[key]
        return Decision(key, arm, probability if self.policy.knows_probability else None)

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Report the reward of a decision. An answer that is refused changes nothing.

        Args:
            decision: The decision or its id.
            reward: A number in [0, 1], as it was observed.
        """
        key = self._find(decision)
        value = validation.number("reward", reward, low=0.0, high=1.0)
        arm, probability, tag = self._open[key]
        self._state = self.policy.update(self._state, Answer(arm, value, probability, tag))  # a foreign one may raise
        del self._open[key]
        self._pending[arm] -= 1

    def _find(self, decision: Decision | int) -> int:
        key = decision.id if isinstance(decision, Decision) else decision
        if isinstance(key, bool) or not isinstance(key, int | np.integer):
            raise InvalidParameter(f"decision: expected a Decision or its id, got {decision!r}")
        if key not in self._open:
            if 1 <= key <= self._asked:
                raise DecisionError(f"decision {key}: already answered")
            raise DecisionError(f"decision: expected an id in [1, {self._asked}], got {key}, which was never asked")
        asked = self._decision(int(key))
        if isinstance(decision, Decision) and decision != asked:
            raise DecisionError(f"decision {key}: expected {asked}, got {decision}, which is of another learner")
        return asked.id

    def snapshot(self) -> dict[str, Any]:
        """Everything, as a dict for `json.dumps`: parameters, state, random stream and open decisions."""
        content = snapshots.header(self.policy)
        content |= {"n_arms": self.n_arms, "horizon": self.horizon, "seed": self.seed, "asked": self._asked}
        content |= {"open": [[key, *entry] for key, entry in self._open.items()]}
        content |= {"stream": [f"{word:016x}" for word in self._rng], "state": snapshots.plain(self._state)}
        return content | {"checksum": snapshots.checksum(content)}

    @classmethod
    def restore(cls, snapshot: dict[str, Any], *, policy: Policy | None = None) -> "Learner":
        """The learner of a snapshot, which continues bit for bit.

        Args:
            snapshot: What `snapshot` returned.
            policy: The policy; needed only if it is not registered.

        >>> import json, vambrace as vb
        >>> learner = vb.PEWR().learner(n_arms=3, horizon=1_000)
        >>> late = learner.ask()
        >>> again = vb.Learner.restore(json.loads(json.dumps(learner.snapshot())))
        >>> again.tell(late.id, reward=1.0)
        >>> again.ask().arm
        1
        """
        with snapshots.reading():
            policy = snapshots.check_header(snapshot, policy)
            learner = cls(policy, n_arms=snapshot["n_arms"], horizon=snapshot["horizon"], seed=snapshot["seed"])
            learner._state = snapshots.filled(learner._state, snapshots.present_state(snapshot, policy), "state")
            learner._rng = snapshots.words(snapshot["stream"], len(learner._rng))
            learner._asked = validation.whole(
                "asked", snapshot["asked"], low=0, high=learner.horizon or validation.MOST_ROUNDS
            )
            for key, arm, probability, tag in snapshot["open"]:
                key = validation.whole("open decision", key, low=1, high=learner._asked)
                if key in learner._open:
                    raise SnapshotError(f"snapshot: expected each open decision once, got {key} twice")
                arm = validation.whole("arm of an open decision", arm, low=0, high=learner.n_arms - 1)
                chance = validation.number("probability of an open decision", probability, low=0, high=1, open_low=True)
                tag = validation.whole("tag of an open decision", tag, low=-LIVE, high=2**53)
                learner._open[key] = (arm, chance, tag)
                learner._pending[arm] += 1
            snapshots.check_unchanged(snapshot)
        return learner
