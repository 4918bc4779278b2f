"""What a learner knows, and the fold over events: the same events make the same learner, bit for bit.

The fold reads no clock: time is a field of each event. Time that runs backwards counts as standing still. `Asked` is
applied by running the policy's `select` again on the same random stream, which must give the arm of the event:
otherwise the journal is damaged. Ids are random, and not from that stream: the fold only stores them.

`open` holds the open decisions in the order in which they were asked, so the overdue ones are at its front. `closed`
holds the last `remembered` closed ones: the reward of each, or the decision itself if no answer was told. An id that is
in neither is looked up with `find_closed`. A durable learner remembers none, and finds them in its journal.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Any

import numpy as np

from vambrace.errors import DecisionError, GameFault, InvalidParameter, JournalError
from vambrace.live import events, ids
from vambrace.live.events import Asked, Event, Id, Label
from vambrace.live.settings import Settings, check_distinct
from vambrace.protocols import Answer, Game, Round
from vambrace.sampling import stream
from vambrace.views import arrays_of, can_use_views, views_of

LIVE = 2**32  # first word of the key of a learner's stream; no simulation uses it
REMEMBERED = 10_000  # closed decisions that a learner remembers, so that a repeated answer is recognised


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


class Knowledge:
    """Everything that a learner knows; only events change it.

    Args:
        settings: Its settings.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.policy = settings, settings.policy
        self._has_views = can_use_views(self.policy)
        self.asked = 0  # decisions made
        self.warm = 0  # events of warm starts, which count as rounds too
        self.time = 0.0  # of the last event
        self.stream: Any = stream(settings.seed, LIVE).tolist()  # plain Python reads lists faster than arrays
        self.arms = [Record(label) for label in settings.labels]
        self.open: dict[Id, Asked] = {}  # oldest first
        self.closed: OrderedDict[Id, float | Asked] = OrderedDict()
        self.remembered = REMEMBERED
        self.find_closed: Callable[[Id], float | Asked | None] = _not_found
        self._update = self.policy.update  # a shadow replaces it
        self._seal_key = bytes.fromhex(settings.key)
        self._state: Any
        self._pending: Any  # how many decisions of each arm are open
        self._available: Any  # which arms are
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
        self.set_state(self.policy.init(Game(len(self.arms), settings.horizon)))
        self.look_at_arms()

    @property
    def state(self) -> Any:
        """The state of the policy."""
        return arrays_of(self._state)

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
        arm, probability, tag = self.policy.select(self._state, round, rng)
        arm = int(arm)
        if not (0 <= arm < len(self.arms) and self._available[arm]):
            wanted = f"an open arm in [0, {len(self.arms) - 1}]"
            raise GameFault(f"policy {self.policy.name}: expected {wanted}, got {arm}")
        return arm, float(probability), int(tag)

    def apply(self, event: Event) -> None:
        """Change what the learner knows, as the event says. An event that does not fit raises, and changes nothing."""
        self._apply[type(event)](event)
        if event.time > self.time:
            self.time = event.time

    def _apply_asked(self, event: Asked) -> None:
        rng = self.stream.copy()
        found = self._select(rng)
        if found != event[2:] or event.id in self.open:
            raise JournalError(f"journal: expected a decision {found}, got {event}: it is damaged")
        self._decide(event, rng)

    def _apply_told(self, event: events.Told) -> None:
        decision = self._waiting(event)
        self._learn(Answer(decision.arm, event.reward, decision.probability, decision.tag))
        self._close(decision, event.reward)

    def _apply_late(self, event: events.ToldLate) -> None:
        if self.settings.late == "count":
            self._learn(Answer(event.arm, event.reward, event.probability, event.tag))
        self.arms[event.arm].late += 1
        self._remember(event.id, event.reward)

    def _apply_abandoned(self, event: events.Abandoned) -> None:
        decision = self._waiting(event)
        self._close(decision, decision)
        self.arms[decision.arm].abandoned += 1

    def _apply_expired(self, event: events.Expired) -> None:
        decision = self._waiting(event)
        if self.settings.default_reward is not None:
            default = self.settings.default_reward
            self._learn(Answer(decision.arm, default, decision.probability, decision.tag))
        self._close(decision, decision)
        self.arms[decision.arm].expired += 1

    def _apply_added(self, event: events.ArmAdded) -> None:
        known = [each.label for each in self.arms]
        if event.label in known:
            arm = known.index(event.label)
        else:
            arm = len(known)
            self._widen(arm + 1)
            self.arms.append(Record(event.label))
        if self.policy.open_arm is not None:
            self._state = self.policy.open_arm(self._state, arm)
        self.arms[arm].retired = False
        self.look_at_arms()

    def _apply_retired(self, event: events.ArmRetired) -> None:
        arm = self.number_of(event.label)
        if self.policy.close_arm is not None:
            self._state = self.policy.close_arm(self._state, arm)
        self.arms[arm].retired = True
        self.look_at_arms()

    def _apply_warm(self, event: events.WarmStarted) -> None:
        """Feed the answers in turns: of each arm its next event, its successes spread evenly over its events."""
        for _, arm, reward in merge(*(_spread(*each) for each in event.counts)):
            self._learn(Answer(arm, reward, 1.0, 0))
            self.warm += 1

    def set_arms(self, records: list[Record]) -> None:
        """Take over the records of the arms, which may be more than there are; for one that is read from a snapshot."""
        check_distinct(record.label for record in records)
        known = len(self.arms)
        if [record.label for record in records[:known]] != [record.label for record in self.arms]:
            raise InvalidParameter(f"arms: expected the labels of the first {known} arms first, got others")
        self._widen(len(records))
        self.arms = records
        self.look_at_arms()

    def set_state(self, state: Any) -> None:
        """Take over a state of the policy."""
        self._state = views_of(state) if self._has_views else state

    def _widen(self, n_arms: int) -> None:
        if n_arms > len(self.arms):
            self.set_state(self.policy.widen(self.state, Game(n_arms, self.settings.horizon)))

    def look_at_arms(self) -> None:
        """Find out anew which arms are available, and how many decisions wait for each."""
        available, pending = np.array([not record.retired for record in self.arms]), np.zeros(len(self.arms), np.int64)
        for decision in self.open.values():
            pending[decision.arm] += 1
        self._available, self._pending = (views_of(each) if self._has_views else each for each in (available, pending))

    def _waiting(self, event: events.Told | events.Abandoned | events.Expired) -> Asked:
        decision = self.open.get(event.id)
        if decision is None:
            raise JournalError(f"journal: expected an open decision, got {event}: it is damaged")
        return decision

    def _decide(self, event: Asked, rng: Any) -> None:
        time, key, arm, _, _ = event
        if time >= self.time:
            self.time = time
        else:
            event = event._replace(time=self.time)
        self.stream = rng
        self.asked += 1
        self.arms[arm].asked += 1
        self.open[key] = event
        self._pending[arm] += 1

    def _learn(self, answer: Answer) -> None:
        self._state = self._update(self._state, answer)
        arm, reward, _, _ = answer
        record = self.arms[arm]
        record.answers += 1
        record.total += reward
        if reward != 0.0 and reward != 1.0:
            record.binary = False

    def _close(self, decision: Asked, left: float | Asked) -> None:
        del self.open[decision.id]
        self._pending[decision.arm] -= 1
        self._remember(decision.id, left)

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
