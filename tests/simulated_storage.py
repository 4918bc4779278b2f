"""The storage of learners in a simulated world, the same for the same seed.

Several processes share one journal in memory. Clients send requests over a network that delays, reorders, repeats and
drops them, and their answers. A process may crash, or lose its connection, between any two steps of a transaction:
before it has the lock, after it read, wrote, or committed. Meanwhile other processes go on. In the end everything works
again, each client repeats what was not acknowledged, and `check` compares what was acknowledged with the journal.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import vambrace as vb
from vambrace.errors import JournalError
from vambrace.live import fold as fold_module
from vambrace.live.clock import Clock
from vambrace.live.durable import DurableLearner
from vambrace.live.fold import Fold, Request, event_of, snapshot_text
from vambrace.live.journal import Entry
from vambrace.live.settings import Settings

ARMS = ("old", "new", "newer")
LIFETIME = 40.0  # seconds until a decision expires; a step takes one or two


class Crash(BaseException):
    """The process is gone, with everything in its memory."""


class Disk:
    """What survives."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.snapshot: tuple[int, str] | None = None
        self.locked = False


class SimulatedJournal:
    """A process's view of the disk. `step` is called between any two steps and may raise."""

    def __init__(self, disk: Disk, step: Callable[[str], None]) -> None:
        self.disk, self._step = disk, step
        self._new: list[Entry] | None = None
        self._new_snapshot: tuple[int, str] | None = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._step("before the lock")
        assert not self.disk.locked
        self.disk.locked, self._new, self._new_snapshot = True, [], None
        try:
            self._step("locked")
            yield
            self._step("before the commit")
            self.commit()
            self._step("after the commit")
        finally:
            self.disk.locked, self._new, self._new_snapshot = False, None, None

    def commit(self) -> None:
        self.disk.entries += self._new or []
        self.disk.snapshot = self._new_snapshot or self.disk.snapshot

    def append(self, entries: Sequence[Entry]) -> None:
        assert self._new is not None
        for entry in entries:
            self._step("while it writes")
            seen = [*self.disk.entries, *self._new]
            if entry.number != len(seen) + 1 or (entry.key and entry.key in {each.key for each in seen}):
                raise JournalError(f"UNIQUE constraint failed: {entry}")
            self._new.append(entry)

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        self._step("before it reads")
        yield from [*self.disk.entries, *(self._new or [])][after:upto]

    def save_snapshot(self, number: int, content: str) -> None:
        self._step("before the snapshot")
        self._new_snapshot = number, content

    def load_snapshot(self) -> tuple[int, str] | None:
        return self.disk.snapshot

    def find(self, *, decision: str | None = None, keys: Sequence[str] = ()) -> list[Entry]:
        self._step("before it looks up")
        seen = [*self.disk.entries, *(self._new or [])]
        return [each for each in seen if (each.key in keys if decision is None else each.decision == decision)]

    def close(self) -> None:
        pass


class Collecting(DurableLearner):
    """A learner that hands its work to the simulation, which runs several requests in one transaction."""

    collected: Request

    def _alone(self, work: Any) -> Any:
        self.collected = Request(work)


class Operation:
    """What a client wants, until it is acknowledged: to ask for one view, and to tell its reward."""

    def __init__(self, key: str, reward: float) -> None:
        self.key, self.reward = key, reward
        self.decision: vb.Decision | None = None
        self.outcome: str | None = None

    def call(self, learner: Collecting) -> tuple[str, Request]:
        if self.decision is None:
            learner.ask(key=self.key)
            return "ask", learner.collected
        learner.tell(self.decision.id, self.reward)
        return "tell", learner.collected


class Simulation:
    """One world. `journal` makes the view of a process; tests replace it with a faulty one."""

    def __init__(self, seed: int, *, journal: type[SimulatedJournal] = SimulatedJournal, processes: int = 3) -> None:
        self.dice, self.disk, self._journal = random.Random(seed), Disk(), journal
        self.now, self.trouble = 1e9, 0.0
        self.processes: list[Collecting] = []
        self.busy: set[int] = set()
        self.violations: list[str] = []
        names = [f"view-{number}" for number in range(24)]
        self.operations = [Operation(name, self.dice.choice([0.0, 0.5, 1.0])) for name in names]
        self.operations += [
            Operation(each.key, 0.25) for each in self.operations[:4]
        ]  # a second client, another reward
        settings = {"arms": ARMS, "seed": seed, "expires_after": LIFETIME, "key": f"{seed:032x}"}
        settings |= {"late": self.dice.choice(["record", "count"])}
        Fold(self._view(0), clock=self._clock()).create(Settings.made(vb.UCB1(), **settings))  # type: ignore[arg-type]
        self.processes = [self._start(number) for number in range(processes)]

    def _clock(self) -> Clock:
        return Clock(lambda: self.now, lambda: self.now)

    def _view(self, number: int) -> SimulatedJournal:
        return self._journal(self.disk, lambda where: self._step(number, where))

    def _start(self, number: int) -> Collecting:
        for _ in range(100):
            try:
                return Collecting(Fold(self._view(number), clock=self._clock()))
            except (Crash, JournalError):
                continue
        raise RuntimeError("a process cannot start")

    def _step(self, number: int, where: str) -> None:
        """Between two steps of a process: others may go on where it has no lock, and anything may happen to it."""
        others = [other for other in range(len(self.processes)) if other not in self.busy]
        if self.trouble and others and not self.disk.locked and self.dice.random() < 0.2:
            self.deliver(self.dice.choice(others))
        if self.dice.random() < self.trouble:
            raise self.dice.choice([Crash, JournalError])(where)

    def deliver(self, number: int) -> None:
        """A process gets some requests, in any order and perhaps twice, and serves them in one transaction."""
        self.now += self.dice.uniform(0.0, 2.0)
        learner = self.processes[number]
        wanted = [each for each in self.operations if each.outcome is None]
        if not wanted:
            return
        self.busy.add(number)
        batch = [(each, *each.call(learner)) for each in self.dice.choices(wanted, k=self.dice.randint(1, 5))]
        try:
            learner._fold.run([request for _, _, request in batch])
        except Crash:
            self.processes[number] = self._start(number)
            return
        except JournalError:
            return
        finally:
            self.busy.discard(number)
        self.dice.shuffle(batch)
        for operation, kind, request in batch:
            if self.trouble == 0.0 or self.dice.random() < 0.8:  # otherwise the answer is dropped
                self._acknowledge(operation, kind, request)

    def _acknowledge(self, operation: Operation, kind: str, request: Request) -> None:
        if request.error is not None:
            self.violations.append(f"{kind} of {operation.key}: {request.error!r}")
            operation.outcome = "error"
        elif kind == "tell":
            operation.outcome = operation.outcome or request.result
        elif operation.decision is None:
            operation.decision = request.result
        elif operation.decision != request.result:
            self.violations.append(f"{operation.key} got two decisions")

    def play(self) -> "Simulation":
        """With trouble first, and then without, until everything is acknowledged."""
        with (
            patch("vambrace.live.ids.secrets.token_hex", lambda n: f"{self.dice.getrandbits(8 * n):0{2 * n}x}"),
            patch("vambrace.live.ids.time.time_ns", lambda: 0),
            patch("vambrace.live.ids._unused", {}),
        ):
            self.trouble = self.dice.choice([0.01, 0.03, 0.1])
            for _ in range(40):
                if any(each.outcome is None for each in self.operations):
                    self.deliver(self.dice.randrange(len(self.processes)))
            self.trouble = 0.0
            for _ in range(1_000):
                if all(each.outcome is not None for each in self.operations):
                    break
                self.deliver(self.dice.randrange(len(self.processes)))
        return self

    def check(self) -> list[str]:
        """What is wrong: each line begins with the invariant that does not hold."""
        found = [f"answered: {each}" for each in self.violations]
        found += [f"answered: {each.key} never was" for each in self.operations if each.outcome is None]
        made, answers = {}, Counter[str]()
        rewards: dict[str, float] = {}
        for entry in self.disk.entries[1:]:
            event: Any = event_of(entry)
            if entry.kind == "asked":
                found += [f"unique: {event.id} was given twice"] if event.id in made else []
                made[event.id] = (entry.key, ARMS[event.arm])
            elif entry.kind in ("told", "late"):
                answers[event.id] += 1
                rewards.setdefault(event.id, event.reward)
        found += [f"once: {key} was counted {times} times" for key, times in answers.items() if times > 1]
        given = Counter(each.decision.id for each in self.operations[:24] if each.decision is not None)
        found += [f"unique: {key} was given to two views" for key, times in given.items() if times > 1]
        for each in self.operations:
            if each.decision is not None and each.outcome is not None:
                found += self._check_one(each, made, rewards)
        return found + self._check_states()

    def _check_one(self, each: Operation, made: dict[str, Any], rewards: dict[str, float]) -> list[str]:
        assert each.decision is not None
        key, arm = str(each.decision.id), each.decision.arm
        if key not in made or key not in rewards:
            return [f"kept: {key} of {each.key} is not in the journal"]
        found = [] if made[key] == (each.key, arm) else [f"arm: {each.key} was shown {arm}, recorded {made[key]}"]
        same = rewards[key] == each.reward
        if same != (each.outcome in ("applied", "duplicate", "late")):
            found.append(f"kept: {each.key} told {each.reward}, got {each.outcome}, recorded {rewards[key]}")
        return found

    def _check_states(self) -> list[str]:
        """Replay from the first event, the snapshot, and what each process has in memory."""
        try:
            texts = {
                snapshot_text(Fold(self._view(0)).load(from_snapshot=False)),
                snapshot_text(Fold(self._view(0)).load()),
            }
            texts |= {snapshot_text(process._fold.load()) for process in self.processes}
        except JournalError as error:
            return [f"replay: {error}"]
        return [] if len(texts) == 1 else [f"replay: {len(texts)} different states"]


def play(seed: int, **options: Any) -> list[str]:
    """What is wrong in the world of this seed, with a snapshot every 16 events."""
    with patch.object(fold_module, "SNAPSHOT_EVERY", 16):
        return Simulation(seed, **options).play().check()
