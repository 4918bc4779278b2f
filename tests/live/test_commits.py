"""Who leads, who waits, and what each of them is answered, with a fold that does as it is told."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from vambrace.errors import JournalError, UnknownName
from vambrace.live import commits as commits_module
from vambrace.live.commits import Commits, _Caller
from vambrace.live.fold import Request


class ScriptedFold:
    """Each transaction waits until the test lets it go on, and then does what the test says."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.entered, self.go_on = threading.Semaphore(0), threading.Semaphore(0)
        self.fault: Callable[[], BaseException] | None = None

    def run(self, batch: Sequence[Request]) -> None:
        self.batches.append(len(batch))
        self.entered.release()
        self.go_on.acquire()
        if self.fault is not None:
            raise self.fault()
        for request in batch:
            request.result = request.work(None, 0.0)  # type: ignore[arg-type]

    def forget(self) -> None:
        pass


class Callers:
    """Threads that call, and what came of each call."""

    def __init__(self) -> None:
        self.fold = ScriptedFold()
        self.commits = Commits(self.fold)  # type: ignore[arg-type]
        self.results: dict[int, Any] = {}
        self.threads: list[threading.Thread] = []

    def call(self, number: int) -> None:
        def run() -> None:
            try:
                self.results[number] = self.commits.run(lambda core, now: number)
            except BaseException as error:
                self.results[number] = error

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def wait_for(self, waiting: int) -> None:
        while len(self.commits._waiting) < waiting:
            threading.Event().wait(0.001)

    def join(self) -> None:
        for thread in self.threads:
            thread.join(10.0)
            assert not thread.is_alive(), "a caller waits for ever"


@pytest.fixture
def callers() -> Callers:
    return Callers()


def test_those_who_arrive_meanwhile_share_the_next_transaction(callers: Callers) -> None:
    callers.call(0)
    callers.fold.entered.acquire()
    for number in range(1, 6):
        callers.call(number)
    callers.wait_for(5)
    assert callers.results == {}  # nobody is answered before the transaction ends
    callers.fold.go_on.release(2)
    callers.join()
    assert callers.fold.batches == [1, 5]
    assert callers.results == {number: number for number in range(6)}


def test_a_transaction_has_a_largest_size(callers: Callers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits_module, "MOST", 2)
    callers.call(0)
    callers.fold.entered.acquire()
    for number in range(1, 6):
        callers.call(number)
    callers.wait_for(5)
    callers.fold.go_on.release(9)
    callers.join()
    assert callers.fold.batches == [1, 2, 2, 1]
    assert callers.results == {number: number for number in range(6)}


@pytest.mark.parametrize(
    "fault", [lambda: JournalError("full"), lambda: UnknownName("policy", "x", ["y"]), lambda: ValueError("!")]
)
def test_a_fault_is_everybodys_and_then_it_goes_on(callers: Callers, fault: Callable[[], BaseException]) -> None:
    callers.call(0)
    callers.fold.entered.acquire()
    for number in range(1, 4):
        callers.call(number)
    callers.wait_for(3)
    callers.fold.fault = fault
    callers.fold.go_on.release(2)
    callers.join()
    assert [type(callers.results[number]) for number in range(4)] == [JournalError] * 4
    assert len({id(error) for error in callers.results.values()}) == 4  # each with a traceback of its own
    callers.fold.fault = None
    callers.fold.go_on.release()
    callers.call(4)
    callers.join()
    assert callers.results[4] == 4


def test_a_leader_that_is_interrupted_answers_nobody_and_blocks_nobody(callers: Callers) -> None:
    callers.call(0)
    callers.fold.entered.acquire()
    callers.call(1)
    callers.wait_for(1)
    callers.fold.fault = KeyboardInterrupt
    callers.fold.go_on.release()
    callers.fold.entered.acquire()
    callers.fold.fault = None
    callers.fold.go_on.release()
    callers.join()
    assert isinstance(callers.results[0], KeyboardInterrupt)
    assert callers.results[1] == 1


@pytest.mark.parametrize("first", [True, False])
def test_who_leaves_while_waiting_passes_the_lead_on(callers: Callers, first: bool) -> None:
    """As Ctrl-C does; the one that leaves may have been woken to lead just then."""
    commits = callers.commits
    leaving = _Caller(Request(lambda core, now: None))
    with commits._guard:
        commits._waiting.append(leaving)
        if first:
            commits._leader = leaving
    if first:
        callers.call(1)
        callers.wait_for(2)
    commits._leave(leaving)
    callers.fold.go_on.release(2)
    if not first:
        callers.call(1)
    callers.join()
    assert callers.results == {1: 1}
    assert callers.fold.batches == [1]
    assert commits._leader is None
