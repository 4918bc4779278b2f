"""Calls of many clients, and their transactions."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import vambrace as vb
from vambrace.errors import DecisionError, JournalError
from vambrace.live.clock import Clock
from vambrace.live.fold import Fold
from vambrace.live.sql import SqlJournal
from vambrace.serve import writer
from vambrace.serve.problems import Problem
from vambrace.serve.writer import Held, Writer


def made(db: str, *names: str) -> None:
    for name in names:
        vb.open(db, name, policy=vb.KLUCBWR(budget=2), arms=["a", "b"]).close()


def run(db: str, work: Callable[[Writer], Coroutine[Any, Any, Any]], most_waiting: int = 10_000) -> Any:
    async def main() -> Any:
        found = Writer(db, most_waiting)
        found.start()
        try:
            return await work(found)
        finally:
            await found.stop()

    return asyncio.run(main())


def test_calls_of_one_turn_are_one_transaction(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(db, "one", "two")
    batches: list[int] = []
    plain = Fold.run

    def counted(self: Fold, batch: Any) -> None:
        batches.append(len(batch) - 2)  # the first begins, and the last writes what alarms need
        plain(self, batch)

    monkeypatch.setattr(Fold, "run", counted)

    async def work(service: Writer) -> list[str]:
        calls = [service.run(("one", "two")[at % 2], lambda learner: learner.ask().id) for at in range(60)]
        return await asyncio.gather(*calls)

    assert len(set(run(db, work))) == 60
    assert batches[:2] == [30, 30]
    assert vb.open(db, "one").asked == vb.open(db, "two").asked == 30


def test_one_call_that_fails_takes_no_other_with_it(db: str) -> None:
    made(db, "one")

    def fail_late(learner: Held) -> None:
        learner.ask()
        raise ValueError("after a change")

    async def work(service: Writer) -> list[Any]:
        works: list[Any] = [lambda learner: learner.ask().arm, lambda learner: learner.tell("x", 2.0), fail_late]
        return await asyncio.gather(*(service.run("one", each) for each in works * 3), return_exceptions=True)

    found = run(db, work)
    assert [type(each) for each in found] == [str, DecisionError, ValueError] * 3
    assert vb.open(db, "one").asked == 3  # the decisions of failed calls are not there


def test_a_missing_experiment_is_missing(db: str) -> None:
    made(db, "one")

    async def work(service: Writer) -> Any:
        with pytest.raises(Problem) as error:
            await service.run("none", lambda learner: learner.ask())
        return error.value.status

    assert run(db, work) == 404


def test_more_work_than_fits_is_refused_at_once(db: str) -> None:
    made(db, "one")
    go = threading.Event()

    async def work(service: Writer) -> list[Any]:
        first = asyncio.ensure_future(service.run("one", lambda learner: go.wait(10), size=4))
        others = [asyncio.ensure_future(service.run("one", lambda learner: True, size=4)) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert service.waiting == 8
        go.set()
        found = await asyncio.gather(first, *others, return_exceptions=True)
        assert service.waiting == 0
        assert await service.run("one", lambda learner: "again") == "again"
        return found

    first, second, *refused = run(db, work, most_waiting=11)
    assert (first, second) == (True, True)
    assert [each.status for each in refused] == [503, 503]
    assert refused[0].headers == {"Retry-After": "1"}


def test_large_batches_are_several_transactions(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(db, "one")
    monkeypatch.setattr(writer, "MOST_WORK", 10)

    async def work(service: Writer) -> Any:
        return await asyncio.gather(*(service.run("one", lambda learner: learner.ask().round) for _ in range(35)))

    assert run(db, work) == list(range(1, 36))


def test_stopping_does_what_waits_and_refuses_the_rest(db: str) -> None:
    made(db, "one")

    go = threading.Event()

    async def work(service: Writer) -> list[Any]:
        first = asyncio.ensure_future(service.run("one", lambda learner: go.wait(10)))
        await asyncio.sleep(0.01)  # the thread is busy, and what follows is gathered
        calls = [asyncio.ensure_future(service.run("one", lambda learner: learner.ask().id)) for _ in range(20)]
        await asyncio.sleep(0)
        ending = asyncio.ensure_future(service.stop())
        await asyncio.sleep(0)
        with pytest.raises(Problem, match="stopping"):
            await service.run("one", lambda learner: learner.ask())
        go.set()
        await asyncio.wait_for(ending, 10)
        assert first.result()
        return [call.result() for call in calls]

    async def main() -> list[Any]:
        found = Writer(db, 100)
        found.start()
        return await work(found)

    assert len(set(asyncio.run(main()))) == 20
    assert vb.open(db, "one").asked == 20


def test_a_fault_of_the_database_reaches_every_caller_and_passes(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made(db, "one")

    async def work(service: Writer) -> list[Any]:
        await service.run("one", lambda learner: learner.ask())
        with monkeypatch.context() as patched:
            patched.setattr(Fold, "_write", _fail)
            calls = (service.run("one", lambda learner: learner.ask()) for _ in range(3))
            found = await asyncio.gather(*calls, return_exceptions=True)
        return [*found, (await service.run("one", lambda learner: learner.ask())).round]

    *errors, round_after = run(db, work)
    assert [type(each) for each in errors] == [JournalError] * 3
    assert len({id(each) for each in errors}) == 3
    assert round_after == 2


def _fail(_: object) -> None:
    raise JournalError("disk: full; nothing was acknowledged")


def test_few_states_are_in_memory(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"e{at}" for at in range(5)]
    made(db, *names)
    monkeypatch.setattr(writer, "MOST_LEARNERS", 2)

    async def work(service: Writer) -> int:
        for name in names * 2:
            await service.run(name, lambda learner: learner.ask())
        return len(service._learners)

    assert run(db, work) == 2
    assert [vb.open(db, name).asked for name in names] == [2] * 5


def batches_of_clients(db: str, monkeypatch: pytest.MonkeyPatch, clients: int, calls: int) -> list[int]:
    """How many calls each transaction had, where each client waits for its answer, and a transaction for the disk."""
    made(db, "one")
    batches: list[int] = []
    plain = Held.run

    def slow(self: Held, calls: Any) -> None:
        batches.append(len(calls))
        plain(self, calls)
        time.sleep(0.1)  # far longer than a busy machine lets others wait

    monkeypatch.setattr(Held, "run", slow)

    async def client(service: Writer, number: int) -> None:
        await asyncio.sleep(0.01 * (number % 2))  # in two groups
        for _ in range(calls):
            await service.run("one", lambda learner: learner.ask().id)
            await asyncio.sleep(0.002)  # on its way

    async def work(service: Writer) -> None:
        await asyncio.gather(*(client(service, number) for number in range(clients)))

    run(db, work)
    assert sum(batches[:-1]) in (clients * calls, clients * calls - batches[-1])  # the last one may be empty
    return batches


def test_those_who_wait_for_answers_do_not_fall_into_two_groups(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LONGEST_PAUSE", 0.05)  # a busy machine brings some back later than in 0.005
    batches = batches_of_clients(db, monkeypatch, clients=16, calls=8)
    assert sum(each >= 14 for each in batches) >= 6, batches


def test_a_single_client_does_not_wait_for_others(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LONGEST_PAUSE", 3_600.0)
    monkeypatch.setattr(writer, "PAUSE", 1e9)  # who had to wait would wait for an hour
    assert max(batches_of_clients(db, monkeypatch, clients=1, calls=20)) == 1


def test_keys_of_requests_are_found_within_a_transaction_which_writes_once(
    db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(db, "one")
    sizes: list[int] = []
    plain = SqlJournal.append

    def counted(self: SqlJournal, entries: Any) -> None:
        sizes.append(len(entries))
        plain(self, entries)

    monkeypatch.setattr(SqlJournal, "append", counted)

    def asking(key: str) -> Callable[[Held], Any]:
        return lambda learner: learner.ask(key=key).id

    async def work(service: Writer) -> list[str]:
        return await asyncio.gather(*(service.run("one", asking(f"view-{at % 10}")) for at in range(30)))

    first, again = run(db, work), run(db, work)
    assert first[:10] == first[10:20] == first[20:] == again[:10] == again[20:]
    assert len(set(first)) == 10
    assert sizes == [10]


def test_a_clock_that_jumps_closes_no_decision_however_often_somebody_asks(db: str) -> None:
    vb.open(db, "one", policy=vb.KLUCBWR(budget=2), arms=["a", "b"], expires_after=3_600).close()
    now = [1e9]

    async def work(service: Writer) -> list[int]:
        service._clock = Clock(now=lambda: now[0], elapsed=lambda: 0.0)
        await service.run("one", lambda learner: learner.ask_many(5))
        found = []
        for now[0] in (1e9 + 86_400, 1e9 + 86_400, 1e9 - 86_400, 1e9 + 1):
            try:
                found.append(await service.run("one", lambda learner: learner.expire()))
            except JournalError as error:
                found.append(-1 if "it jumped by" in str(error) else -2)
        return [*found, await service.run("one", lambda learner: len(learner.core.open))]

    assert run(db, work) == [-1, -1, -1, 0, 5]
