"""Traffic for durable learners: worker processes that are killed at any moment, and clients that retry until answered.

A worker answers `ask` and `tell` on a socket, one thread for each client. A client sends each request until it gets an
answer, to any worker: an `ask` with the same key, a `tell` with the same id. What was answered is remembered, and in
the end it is compared with the journal.
"""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Any

import vambrace as vb
from vambrace.errors import JournalError
from vambrace.live.core import Core
from vambrace.live.durable import DurableLearner
from vambrace.live.fold import Fold, event_of, snapshot_text
from vambrace.live.sql import open_journal

NAME = "headlines"
ARMS = ("old", "new", "newer")
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["traffic", "vambrace.policies", "vambrace.serve.server"])  # the last for http_traffic


def opened(url: str) -> DurableLearner:
    return vb.open(url, NAME, policy=vb.KLUCBWR(budget=5), arms=ARMS)


def work(url: str, address: str) -> None:
    """A worker: its socket appears when it is ready."""
    learner = opened(url)
    with Listener(f"{address}.new", "AF_UNIX") as listener:
        os.rename(f"{address}.new", address)
        while True:
            threading.Thread(target=_serve, args=(learner, listener.accept()), daemon=True).start()


def _serve(learner: DurableLearner, connection: Any) -> None:
    try:
        while True:
            name, *values = connection.recv()
            try:
                if name == "ask":
                    decision = learner.ask(key=values[0])
                    connection.send((decision.id, decision.arm))
                elif name == "tell":
                    connection.send(learner.tell(*values))
                else:
                    connection.send(learner._look(snapshot_text))
            except JournalError as error:
                connection.send(error)
    except (EOFError, OSError):
        pass


class Traffic:
    """Workers, clients, and what the clients were answered."""

    def __init__(self, url: str, folder: Path, *, workers: int, clients: int, seed: int) -> None:
        self.url, self._folder, self._random = url, folder, random.Random(seed)
        self.asked: dict[str, tuple[str, str]] = {}  # key -> id, arm
        self.told: dict[str, tuple[str, float]] = {}  # id -> arm, reward
        self.outcomes: Counter[str] = Counter()
        self.retries = 0
        self.faults: list[BaseException] = []
        self._stopping, self._started = threading.Event(), 0
        self.workers = [self._start(place) for place in range(workers)]
        self._clients = [threading.Thread(target=self._play, args=(each,), daemon=True) for each in range(clients)]
        for client in self._clients:
            client.start()

    def _start(self, place: int) -> tuple[Any, str]:
        self._started += 1
        address = str(self._folder / f"worker-{self._started}")
        process = CONTEXT.Process(target=work, args=(self.url, address), daemon=True)
        process.start()
        return process, address

    def kill_one(self) -> None:
        """Kill −9 of a random worker; a new one takes its place."""
        place = self._random.randrange(len(self.workers))
        process, _ = self.workers[place]
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        self.workers[place] = self._start(place)

    def wait_for(self, more: int) -> None:
        """Until some more answers were acknowledged."""
        goal = len(self.told) + more
        while len(self.told) < goal and not self.faults:
            time.sleep(0.002)

    def stop(self) -> None:
        self._stopping.set()
        for client in self._clients:
            client.join()

    def end_workers(self) -> None:
        for process, _ in self.workers:
            os.kill(process.pid, signal.SIGKILL)
            process.join()

    def _play(self, number: int) -> None:
        dice, connections, step = random.Random(number), {}, 0  # type: ignore[var-annotated]
        try:
            while not self._stopping.is_set():
                step += 1
                key = f"{number}-{step}"
                identity, arm = self._send(dice, connections, "ask", key)
                self.asked[key] = (identity, arm)
                if dice.random() < 0.1:
                    continue  # never answered
                reward = dice.choice([0.0, 0.25, 1.0])
                self.outcomes[self._send(dice, connections, "tell", identity, reward)] += 1
                self.told[identity] = (arm, reward)
        except BaseException as error:
            self.faults.append(error)

    def _send(self, dice: random.Random, connections: dict[str, Any], *request: Any) -> Any:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            address = dice.choice(self.workers)[1]
            try:
                if address not in connections:
                    connections[address] = Client(address, "AF_UNIX")
                connections[address].send(request)
                answer = connections[address].recv()
                if not isinstance(answer, JournalError):
                    return answer
            except (EOFError, OSError):
                if address in connections:
                    connections.pop(address).close()
            self.retries += 1
            time.sleep(0.002)
        raise TimeoutError(f"no worker answers {request}")

    def check_live(self, core: Core) -> None:
        """The state in the memory of each worker, when nobody plays, is that of the journal."""
        states = set()
        for _, address in self.workers:
            while not Path(address).exists():
                time.sleep(0.01)
            with Client(address, "AF_UNIX") as connection:
                connection.send(("state",))
                states.add(connection.recv())
        assert states == {snapshot_text(core)}

    def check(self) -> None:
        """Nothing acknowledged is lost, counted twice or credited to another arm; replay = live, bit for bit."""
        assert self.faults == []
        journal = open_journal(self.url, NAME, create=False)
        asked: dict[str, Any] = {}
        told: Counter[Any] = Counter()
        keys: Counter[str | None] = Counter()
        for entry in journal.read(after=1):
            event: Any = event_of(entry)
            if entry.kind == "asked":
                assert event.id not in asked, "an id was given twice"
                asked[event.id] = (ARMS[event.arm], entry.key)
                keys[entry.key] += 1
            else:
                assert entry.kind == "told"
                told[event.id, asked[event.id][0], event.reward] += 1
        assert max(keys.values()) == 1, "a key was asked twice"
        for key, (identity, arm) in self.asked.items():
            assert asked[identity] == (arm, key)
        expected = Counter((identity, arm, reward) for identity, (arm, reward) in self.told.items())
        assert told == expected, f"lost {expected - told}, twice or unknown {told - expected}"
        core = Fold(journal).load(from_snapshot=False)
        for record in core.arms:
            rewards = [reward for arm, reward in self.told.values() if arm == record.label]
            assert (record.answers, record.total) == (len(rewards), sum(rewards))
        self.check_live(core)
        assert snapshot_text(Fold(journal).load()) == snapshot_text(core)
        assert set(self.outcomes) <= {"applied", "duplicate"}


def kill_under_load(traffic: Traffic, kills: int, seed: int) -> None:
    """Kill workers at random moments while clients work, and check that nothing acknowledged was lost."""
    dice = random.Random(seed)
    try:
        traffic.wait_for(20)
        for _ in range(kills):
            time.sleep(dice.uniform(0.0, 0.06))
            traffic.kill_one()
            traffic.wait_for(10)  # so that every kill happens under load
        traffic.stop()
        traffic.check()
    finally:
        traffic.stop()
        traffic.end_workers()
