"""The core of every learner: commands that change what it knows and say what happened.

Commands (`ask`, `tell`, `abandon`, `expire`, `add_arm`, `retire_arm`, `warm_start`) check what they are given, change
what the core knows, and give an event to `on_event`. `apply` makes the same change from an event. So

- a learner in memory needs no events;
- a durable learner writes them to a journal, and its state is always ``for event in journal: core.apply(event)``.

A command that refuses what it is given changes nothing. If anything else raises (the policy, `on_event`, a signal), the
core may be in the middle of a change (`is_in_doubt`): read it anew. Every command first closes the decisions that are
overdue. The time is an argument of each.
"""

from collections.abc import Callable, Mapping
from itertools import takewhile
from math import inf
from typing import Literal

from vambrace import validation
from vambrace.errors import HorizonReached, InvalidParameter, NotApplicable
from vambrace.live import events, ids
from vambrace.live.events import Asked, Event, Id, Label
from vambrace.live.knowledge import Knowledge
from vambrace.live.settings import Settings, check_distinct, label_of, names_of_policies
from vambrace.protocols import Answer

Outcome = Literal["applied", "duplicate", "conflict", "late"]


class Core(Knowledge):
    """A learner without a lock, a clock and a place on disk; see the module."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.on_event: Callable[[Event], None] | None = None
        self.is_in_doubt = False  # in the middle of a change, or left there by an error
        self._horizon = inf if settings.horizon is None else settings.horizon
        self._expires = settings.expires_after is not None
        self._randomized = self.policy.randomized

    def ask(self, time: float) -> Asked:
        """Make the next decision."""
        if self._expires:
            self.expire(time)
        if self.asked + self.warm >= self._horizon:
            self.check_horizon(1)
        rng = self.stream.copy() if self._randomized else self.stream
        arm, probability, tag = self._select(rng)
        event = Asked(time, ids.new_id(self._seal_key, arm), arm, probability, tag)
        self.is_in_doubt = True
        self._decide(event, rng)
        if self.on_event is not None:
            self.on_event(event)
        self.is_in_doubt = False
        return event

    def check_horizon(self, n: int) -> None:
        """Refuse more decisions than the horizon has left."""
        horizon = self.settings.horizon
        if horizon is not None and self.rounds + n > horizon:
            more = "one" if n == 1 else n
            raise HorizonReached(f"ask: expected at most {horizon} decisions (the horizon), got {more} more")

    def tell(self, time: float, key: Id, reward: float) -> Outcome:
        """Count an answer, and say what it is."""
        if self._expires:
            self.expire(time)
        decision = self.open.get(key)
        if decision is None or not (type(reward) is float and 0.0 <= reward <= 1.0):  # rarely
            known, reward = self.checked(key, reward)
            if isinstance(known, float):
                return "duplicate" if known == reward else "conflict"
            if decision is None:
                self._happen(events.ToldLate(time, key, reward, *known[2:]))
                return "late"
        _, _, arm, probability, tag = decision
        self.is_in_doubt = True
        self._learn(Answer(arm, reward, probability, tag))  # first: the decision stays open if the policy raises
        self._close(decision, reward)
        if time > self.time:
            self.time = time
        if self.on_event is not None:
            self.on_event(events.Told(time, key, reward))
        self.is_in_doubt = False
        return "applied"

    def checked(self, key: Id, reward: float) -> tuple[float | Asked, float]:
        """What `find` knows of a decision, and the reward as a number; an error for an answer that is refused."""
        return self.find(key), validation.number("reward", reward, low=0.0, high=1.0)

    def abandon(self, time: float, key: Id) -> bool:
        """Close an open decision without an answer; false if it is closed already."""
        self.expire(time)
        self.find(key)
        if key not in self.open:
            return False
        self._happen(events.Abandoned(time, key))
        return True

    def expire(self, time: float) -> int:
        """Close what is overdue, oldest first, and say how many decisions that is."""
        if self.settings.expires_after is None:
            return 0
        limit = time - self.settings.expires_after
        due = list(takewhile(lambda decision: decision.time <= limit, self.open.values()))
        for decision in due:
            self._happen(events.Expired(time, decision.id))
        return len(due)

    def add_arm(self, time: float, label: Label) -> None:
        """Open a new arm, or a retired one again."""
        self.expire(time)
        self.policy.require_changing_arms()
        label = label_of(label)
        known = [each.label for each in self.arms]
        if label not in known:
            check_distinct([*known, label])
        elif not self.arms[known.index(label)].retired:
            raise InvalidParameter(f"arm: expected a new label or that of a retired arm, got {label!r}, which is open")
        self._happen(events.ArmAdded(time, label))

    def retire_arm(self, time: float, label: Label) -> None:
        """Close an arm."""
        self.expire(time)
        self.policy.require_changing_arms()
        arm = self.number_of(label)
        if self.arms[arm].retired:
            raise InvalidParameter(f"arm: expected an arm that is open, got {label!r}, which is retired")
        if sum(self._available) == 1:
            raise InvalidParameter(f"arm: expected another open arm besides the one to retire, got only {label!r}")
        self._happen(events.ArmRetired(time, self.arms[arm].label))

    def warm_start(self, time: float, counts: Mapping[Label, tuple[int, int]]) -> None:
        """Count answers from before: for each arm its events and successes."""
        self.expire(time)
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
        self._happen(events.WarmStarted(time, tuple(given)))

    def _happen(self, event: Event) -> None:
        self.is_in_doubt = True
        self.apply(event)
        if self.on_event is not None:
            self.on_event(event)
        self.is_in_doubt = False
