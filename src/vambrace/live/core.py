"""The core of every learner: a fold over events.

Everything that a learner knows is in a `Core`, and only `apply(event)` changes it. Commands (`ask`, `tell`, `abandon`,
`expire`, `add_arm`, `retire_arm`, `warm_start`) check what they are given and return events; they change nothing. So

- a learner in memory applies the events of each command at once;
- a durable learner writes them to a journal too, and its state is always ``for event in journal: core.apply(event)``.

A command answers for the state that it sees: apply its events before the next command. Call `expire` first, and apply
its events: the other commands then find no decision that is overdue. If events cannot be stored, read the core anew.

The fold is deterministic and reads no clock: time is an argument of each command and a field of each event. Time that
runs backwards counts as standing still. `Asked` is applied by running the policy's `select` again on the same random
stream, which must give the arm of the event: otherwise the journal is damaged. Ids are random, and not from that
stream: commands make them, and the fold only stores them.

`open` holds the open decisions in the order in which they were asked, so the overdue ones are at its front. `closed`
holds the last `remembered` closed ones: the reward of each, or the decision itself if no answer was told. An id that is
in neither is looked up with `find_closed`. A durable learner remembers none, and finds them in its journal.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from math import inf
from typing import Any, Literal

import numpy as np

from vambrace import validation
from vambrace.errors import DecisionError, GameFault, HorizonReached, InvalidParameter, JournalError, NotApplicable
from vambrace.live import events, ids
from vambrace.live.events import Asked, Event, Id, Label
from vambrace.live.settings import Settings, check_distinct, label_of, names_of_policies
from vambrace.protocols import Answer, Game, Integers, Round
from vambrace.sampling import stream

LIVE = 2**32  # first word of the key of a learner's stream; no simulation uses it
REMEMBERED = 10_000  # closed decisions that a learner remembers, so that a repeated answer is recognised

Outcome = Literal["applied", "duplicate", "conflict", "late"]


@dataclass(slots=True)
class Record:
    """What happened to one arm."""

    label: Label
    retired: bool = False
    asked: int = 0  # decisions to play it
    answers: int = 0  # counted: told, late ones that count, default rewards, and those of a warm start
    total: float = 0.0  # their rewards
    binary: bool = True  # whether each of them is 0 or 1
    late: int = 0  # answers to closed decisions
    expired: int = 0
    abandoned: int = 0


class Core:
    """A learner without a lock, a clock and a place on disk; see the module."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.policy = settings, settings.policy
        n_arms = len(settings.labels)
        self.state = self.policy.init(Game(n_arms, settings.horizon))
        self.stream = stream(settings.seed, LIVE)
        self.asked = 0  # decisions made
        self.warm = 0  # events of warm starts, which count as rounds too
        self.time = 0.0  # of the last event
        self.arms = [Record(label) for label in settings.labels]
        self.open: dict[Id, Asked] = {}  # oldest first
        self.closed: OrderedDict[Id, float | Asked] = OrderedDict()
        self.remembered = REMEMBERED
        self.find_closed: Callable[[Id], float | Asked | None] = _not_found
        self._horizon = inf if settings.horizon is None else settings.horizon
        self._randomized = self.policy.randomized
        self._seal_key = bytes.fromhex(settings.key)
        self._pending: Integers = np.zeros(n_arms, dtype=np.int64)
        self._available = np.ones(n_arms, dtype=np.bool_)
        self._planned: tuple[Event, Any] | None = None  # the last `Asked` while it is valid, and the stream after it
        self._apply: dict[type[Any], Callable[[Any], None]] = {
            Asked: self._apply_asked,
            events.Told: self._apply_told,
            events.ToldLate: self._apply_late,
            events.Abandoned: self._apply_abandoned,
            events.Expired: self._apply_expired,
            events.ArmAdded: self._apply_added,
            events.ArmRetired: self._apply_retired,
            events.WarmStarted: self._apply_warm,
        }

    # ------------------------------------------------------------------------------------------------------- commands

    def ask(self, time: float) -> Asked:
        """The next decision."""
        if self.asked + self.warm >= self._horizon:
            self.check_horizon(1)
        rng = self.stream.copy() if self._randomized else self.stream
        arm, probability, tag = self._select(rng)
        event = Asked(time, ids.new_id(self._seal_key, arm), arm, probability, tag)
        self._planned = (event, rng)
        return event

    def check_horizon(self, n: int) -> None:
        """Refuse more decisions than the horizon has left."""
        horizon = self.settings.horizon
        if horizon is not None and self.rounds + n > horizon:
            more = "one" if n == 1 else n
            raise HorizonReached(f"ask: expected at most {horizon} decisions (the horizon), got {more} more")

    def tell(self, key: Id, reward: float, time: float) -> tuple[Outcome, events.Told | events.ToldLate | None]:
        """What an answer is, and its event; None if it changes nothing."""
        known = self.open.get(key) or self.find(key)
        if not (type(reward) is float and 0.0 <= reward <= 1.0):  # nearly all are
            reward = validation.number("reward", reward, low=0.0, high=1.0)
        if isinstance(known, float):
            return ("duplicate" if known == reward else "conflict"), None
        if key in self.open:
            return "applied", events.Told(time, key, reward)
        return "late", events.ToldLate(time, key, reward, known.arm, known.probability, known.tag)

    def abandon(self, key: Id, time: float) -> events.Abandoned | None:
        """Close an open decision without an answer; None if it is closed already."""
        self.find(key)
        return events.Abandoned(time, key) if key in self.open else None

    def expire(self, time: float) -> list[events.Expired]:
        """Close what is overdue, oldest first."""
        due: list[events.Expired] = []
        if self.settings.expires_after is not None:
            limit = time - self.settings.expires_after
            for key, waiting in self.open.items():
                if waiting.time > limit:
                    break
                due.append(events.Expired(time, key))
        return due

    def add_arm(self, label: Label, time: float) -> events.ArmAdded:
        """Open a new arm, or a retired one again."""
        self.policy.require_changing_arms()
        label = label_of(label)
        known = [each.label for each in self.arms]
        if label not in known:
            check_distinct([*known, label])
        elif not self.arms[known.index(label)].retired:
            raise InvalidParameter(f"arm: expected a new label or that of a retired arm, got {label!r}, which is open")
        return events.ArmAdded(time, label)

    def retire_arm(self, label: Label, time: float) -> events.ArmRetired:
        """Close an arm."""
        self.policy.require_changing_arms()
        arm = self.number_of(label)
        if self.arms[arm].retired:
            raise InvalidParameter(f"arm: expected an arm that is open, got {label!r}, which is retired")
        if self._available.sum() == 1:
            raise InvalidParameter(f"arm: expected another open arm besides the one to retire, got only {label!r}")
        return events.ArmRetired(time, self.arms[arm].label)

    def warm_start(self, counts: Mapping[Label, tuple[int, int]], time: float) -> events.WarmStarted:
        """Count answers from before: for each arm its events and successes."""
        if not self.policy.learns_from_counts:
            names = names_of_policies(lambda policy: policy.learns_from_counts)
            wanted = f"a policy that learns from counts ({names})"
            raise NotApplicable(f"warm_start: expected {wanted}, got {self.policy.name}")
        given: list[tuple[int, int, int]] = []
        for label, (shown, won) in counts.items():
            shown = validation.whole(f"events of {label!r}", shown, low=0)
            won = validation.whole(f"successes of {label!r}", won, low=0, high=shown)
            given.append((self.number_of(label), shown, won))
        shown, horizon = sum(each[1] for each in given), self.settings.horizon
        if horizon is not None and self.rounds + shown > horizon:
            left = horizon - self.rounds
            raise HorizonReached(f"warm_start: expected at most {left} events (the rest of the horizon), got {shown}")
        return events.WarmStarted(time, tuple(given))

    # -------------------------------------------------------------------------------------------------------- queries

    @property
    def rounds(self) -> int:
        """The rounds so far: decisions, and the events of warm starts."""
        return self.asked + self.warm

    def find(self, key: Id) -> float | Asked:
        """The reward of a decision, or the decision itself if it has none."""
        known: float | Asked | None = self.open.get(key)
        if known is None:
            known = self.closed.get(key)
        if known is None:
            if isinstance(key, str) and not ids.is_genuine(self._seal_key, key):
                raise DecisionError(f"decision: expected an id of this learner, got {key[:80]!r}, which is not one")
            known = self.find_closed(key)
        if known is None:
            raise DecisionError(
                f"decision {key}: no longer known: closed more than {REMEMBERED:,} decisions ago, or made after the "
                "snapshot from which this learner was restored"
            )
        return known

    def number_of(self, label: Label) -> int:
        """The number of an arm."""
        for arm, record in enumerate(self.arms):
            if record.label == label and not isinstance(label, bool):
                return arm
        names = ", ".join(str(record.label) for record in self.arms[:20])
        raise InvalidParameter(f"arm: expected one of {names}, got {label!r}")

    def _select(self, rng: Any) -> tuple[int, float, int]:
        round = Round(self.asked + self.warm + 1, len(self.open), self._pending, self._available)
        arm, probability, tag = self.policy.select(self.state, round, rng)
        arm = int(arm)
        if not (0 <= arm < len(self.arms) and self._available[arm]):
            wanted = f"an open arm in [0, {len(self.arms) - 1}]"
            raise GameFault(f"policy {self.policy.name}: expected {wanted}, got {arm}")
        return arm, float(probability), int(tag)

    # ------------------------------------------------------------------------------------------------------- the fold

    def apply(self, event: Event) -> None:
        """Change what the learner knows, as the event says. An event that does not fit raises, and changes nothing."""
        self._apply[type(event)](event)
        if event.time > self.time:
            self.time = event.time
        self._planned = None

    def _apply_asked(self, event: Asked) -> None:
        if self._planned is not None and self._planned[0] is event:
            self.stream = self._planned[1]
        else:
            rng = self.stream.copy()
            found = self._select(rng)
            if found != event[2:] or event.id in self.open:
                raise JournalError(f"journal: expected a decision {found}, got {event}: it is damaged")
            self.stream = rng
        self.wait(event if event.time >= self.time else event._replace(time=self.time))
        self.asked += 1
        self.arms[event.arm].asked += 1

    def _apply_told(self, event: events.Told) -> None:
        _, _, arm, probability, tag = self._waiting(event)
        self._count(Answer(arm, event.reward, probability, tag))  # first: a foreign bandit may raise
        self._close(event.id, event.reward)

    def _apply_late(self, event: events.ToldLate) -> None:
        if self.settings.late == "count":
            self._count(Answer(event.arm, event.reward, event.probability, event.tag))
        self.arms[event.arm].late += 1
        self._remember(event.id, event.reward)

    def _apply_abandoned(self, event: events.Abandoned) -> None:
        waiting = self._waiting(event)
        self._close(event.id, waiting)
        self.arms[waiting.arm].abandoned += 1

    def _apply_expired(self, event: events.Expired) -> None:
        waiting = self._waiting(event)
        if self.settings.default_reward is not None:
            _, _, arm, probability, tag = waiting
            self._count(Answer(arm, self.settings.default_reward, probability, tag))
        self._close(event.id, waiting)
        self.arms[waiting.arm].expired += 1

    def _apply_added(self, event: events.ArmAdded) -> None:
        known = [each.label for each in self.arms]
        if event.label in known:
            arm = known.index(event.label)
        else:
            arm = len(known)
            self.state = self.policy.widen(self.state, Game(arm + 1, self.settings.horizon))
            self.arms.append(Record(event.label))
            self._pending = np.append(self._pending, 0)
            self._available = np.append(self._available, False)
        if self.policy.open_arm is not None:
            self.state = self.policy.open_arm(self.state, arm)
        self.arms[arm].retired, self._available[arm] = False, True

    def _apply_retired(self, event: events.ArmRetired) -> None:
        arm = self.number_of(event.label)
        if self.policy.close_arm is not None:
            self.state = self.policy.close_arm(self.state, arm)
        self.arms[arm].retired, self._available[arm] = True, False

    def _apply_warm(self, event: events.WarmStarted) -> None:
        """Feed the answers in turns: of each arm its next event, its successes spread evenly over its events."""
        for _, arm, reward in merge(*(_spread(*each) for each in event.counts)):
            self._count(Answer(arm, reward, 1.0, 0))
            self.warm += 1

    def wait(self, event: Asked) -> None:
        """Add an open decision."""
        self.open[event.id] = event
        self._pending[event.arm] += 1

    def set_arms(self, records: list[Record]) -> None:
        """Take over the records of the arms, which may be more than there are; for one that is read from a snapshot."""
        check_distinct(record.label for record in records)
        n_arms, known = len(records), len(self.arms)
        if [record.label for record in records[:known]] != [record.label for record in self.arms]:
            raise InvalidParameter(f"arms: expected the labels of the first {known} arms first, got others")
        if n_arms > known:
            self.state = self.policy.widen(self.state, Game(n_arms, self.settings.horizon))
        self.arms = records
        self._pending = np.zeros(n_arms, dtype=np.int64)
        self._available = np.array([not record.retired for record in records])

    def _waiting(self, event: events.Told | events.Abandoned | events.Expired) -> Asked:
        waiting = self.open.get(event.id)
        if waiting is None:
            raise JournalError(f"journal: expected an open decision, got {event}: it is damaged")
        return waiting

    def _learn(self, answer: Answer) -> None:
        self.state = self.policy.update(self.state, answer)

    def _count(self, answer: Answer) -> None:
        self._learn(answer)
        record = self.arms[answer.arm]
        record.answers += 1
        record.total += answer.reward
        if answer.reward not in (0.0, 1.0):
            record.binary = False

    def _close(self, key: Id, left: float | Asked) -> None:
        self._pending[self.open.pop(key).arm] -= 1
        self._remember(key, left)

    def _remember(self, key: Id, left: float | Asked) -> None:
        self.closed[key] = left
        if len(self.closed) > self.remembered:
            self.closed.popitem(last=False)


def _spread(arm: int, shown: int, won: int) -> Iterator[tuple[float, int, float]]:
    """The answers of one arm, evenly: when each comes, as a share of the whole, the arm and the reward."""
    for i in range(shown):
        yield (i + 0.5) / shown, arm, float((i + 1) * won // shown - i * won // shown)


def _not_found(key: Id) -> None:
    """In memory nothing is known of older decisions."""
