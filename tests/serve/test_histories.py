"""Histories in memory: only what is new is read, in pieces, while others write."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import vambrace as vb
from vambrace.serve import histories
from vambrace.serve.experiments import Experiments
from vambrace.serve.histories import Histories
from vambrace.serve.history import History
from vambrace.serve.problems import Problem
from vambrace.serve.settings import Settings


def play(url: str, name: str, n: int) -> None:
    learner = vb.open(url, name, policy=vb.UCB1(), arms=["a", "b"])
    learner.tell_many([(decision, 1.0) for decision in learner.ask_many(n)])
    learner.close()


def run(url: str, work: Callable[[Experiments, Histories], Coroutine[Any, Any, None]]) -> None:
    """Some work on the experiments of a service."""

    async def main() -> None:
        experiments = Experiments(Settings(db=url))
        await experiments.start()
        try:
            await work(experiments, Histories(experiments))
        finally:
            await experiments.stop()

    asyncio.run(main())


def number(history: History) -> int:
    return history.number


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path}/service.db"
    play(found, "shop", 50)
    return found


def test_a_look_reads_only_what_is_new(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    apply = History.apply

    def counted(self: History, entry: Any) -> None:
        read.append(entry.number)
        apply(self, entry)

    monkeypatch.setattr(History, "apply", counted)

    async def work(experiments: Experiments, known: Histories) -> None:
        assert await known.look("shop", number) == 101
        assert read == list(range(2, 102))
        assert await known.look("shop", number) == 101
        await experiments.ask("shop", 3, None)
        assert await known.look("shop", number) == 104
        assert read == list(range(2, 105))

    run(url, work)


def test_a_long_journal_is_read_in_pieces(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MOST_ENTRIES", 30)

    async def work(experiments: Experiments, known: Histories) -> None:
        looks = [await known.look("shop", number) for _ in range(5)]
        assert looks[0] < 40
        assert looks == sorted(looks)
        assert looks[-1] == 101

    run(url, work)


def test_a_journal_that_was_replaced_by_a_copy_is_read_again(url: str, tmp_path: Path) -> None:
    async def work(experiments: Experiments, known: Histories) -> None:
        assert await known.look("shop", number) == 101
        other = f"sqlite:///{tmp_path}/other.db"
        play(other, "shop", 20)
        known._experiments = Experiments(Settings(db=other))
        assert await known.look("shop", number) == 41
        assert await known.look("shop", lambda history: history.shadow.asked) == 20
        play(other, "shop", 100)  # longer than what was read before: only its last entry differs
        known._experiments = Experiments(Settings(db=url))
        assert await known.look("shop", lambda history: history.shadow.asked) == 50

    run(url, work)


def test_an_error_is_not_remembered(url: str) -> None:
    async def work(experiments: Experiments, known: Histories) -> None:
        with pytest.raises(ZeroDivisionError):
            await known.look("shop", lambda history: history.number // 0)
        assert await known.look("shop", number) == 101
        with pytest.raises(Problem) as caught:
            await known.look("none", number)
        assert caught.value.status == 404

    run(url, work)


def test_after_an_error_on_the_way_everything_is_read_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = History.apply

    def broken(self: History, entry: Any) -> None:
        apply(self, entry)
        if entry.number == 60:
            raise MemoryError

    async def work(experiments: Experiments, known: Histories) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(History, "apply", broken)
            with pytest.raises(MemoryError):
                await known.look("shop", number)
        assert await known.look("shop", lambda history: (history.number, history.shadow.asked)) == (101, 50)

    run(url, work)


def test_the_number_of_histories_is_bounded(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MOST_HISTORIES", 2)
    for name in ("a", "b", "c"):
        play(url, name, 1)

    async def work(experiments: Experiments, known: Histories) -> None:
        for name in ("a", "b", "a", "c"):
            await known.look(name, number)
        assert list(known._kept) == ["a", "c"]

    run(url, work)


def test_many_look_at_once_while_others_write(url: str) -> None:
    async def work(experiments: Experiments, known: Histories) -> None:
        async def write() -> None:
            for _ in range(20):
                await experiments.ask("shop", 1, None)

        writing = asyncio.create_task(write())
        found = await asyncio.gather(*(known.look("shop", number) for _ in range(10)))
        assert all(101 <= each <= 121 for each in found)
        await writing
        assert await known.look("shop", number) == 121

    run(url, work)
