"""Thousands of simulated worlds in which everything goes wrong that can; see tests/simulated_storage.py.

Each invariant has a deliberate bug here that breaks it, so that the checks are known to see it.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from simulated_storage import SimulatedJournal, Simulation, play
from vambrace.errors import JournalError
from vambrace.live import ids
from vambrace.live.events import Asked
from vambrace.live.fold import Fold

CI, ALL = 250, 10_000


@pytest.mark.parametrize("first", range(0, CI, 50))
def test_invariants(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + 50) if (found := play(seed))}
    assert wrong == {}


@pytest.mark.slow  # about 2 minutes
@pytest.mark.parametrize("first", range(CI, CI + ALL, 500))
def test_invariants_in_ten_thousand_worlds(first: int) -> None:
    wrong = {seed: found for seed in range(first, first + 500) if (found := play(seed))}
    assert wrong == {}


def test_everything_happens() -> None:
    """The worlds are as wild as they are meant to be: crashes in every step, late answers, conflicts, repeats."""
    steps: set[str] = set()
    outcomes: set[str | None] = set()
    kinds: set[str] = set()

    class Watched(Simulation):
        def _step(self, number: int, where: str) -> None:
            try:
                super()._step(number, where)
            except BaseException as error:
                steps.add(f"{type(error).__name__} {where}")
                raise

    for seed in range(40):
        world = Watched(seed).play()
        outcomes |= {each.outcome for each in world.operations}
        kinds |= {entry.kind for entry in world.disk.entries}
    places = [
        "before the lock",
        "locked",
        "before it reads",
        "while it writes",
        "before the commit",
        "after the commit",
    ]
    assert {f"{fault} {where}" for fault in ("Crash", "JournalError") for where in places} <= steps
    assert outcomes == {"applied", "duplicate", "conflict", "late"}
    assert kinds == {"opened", "asked", "told", "expired", "late"}


def test_the_same_seed_is_the_same_world() -> None:
    assert Simulation(5).play().disk.entries == Simulation(5).play().disk.entries


def lost_commits(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    numbers = count(1)

    class Forgetful(SimulatedJournal):
        """It says that it has written, and sometimes it has not."""

        def commit(self) -> None:
            if next(numbers) % 10:
                super().commit()

    return {"journal": Forgetful}


def acknowledged_before_the_commit(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    real = Fold.run

    def run(self: Fold, batch: Any) -> None:
        try:
            real(self, batch)
        except JournalError:
            if any(request.result is None for request in batch):
                raise

    patch.setattr(Fold, "run", run)
    return {}


def answered_decisions_are_forgotten(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    real = Fold._find_closed

    def find_closed(self: Fold, key: Any) -> Any:
        found = real(self, key)
        return found if isinstance(found, Asked) else Asked(0.0, key, 0, 1.0, 0)

    patch.setattr(Fold, "_find_closed", find_closed)
    return {}


def a_repeated_ask_names_another_arm(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    real = Fold.find_keys

    def find_keys(self: Fold, keys: Any) -> Any:
        found = real(self, keys)
        return {key: (event._replace(arm=(event.arm + 1) % 3), round) for key, (event, round) in found.items()}

    patch.setattr(Fold, "find_keys", find_keys)
    return {}


def uncommitted_events_stay_in_memory(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    def forget(self: Fold) -> None:
        self._unwritten = []

    patch.setattr(Fold, "forget", forget)
    return {}


def ids_are_numbers_again(patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """As in 0.1.0: each process counts from where it believes to be."""
    numbers = count()
    patch.setattr(ids, "new_id", lambda key, arm: _sealed(key, f"{arm}-{next(numbers) % 8:02x}"))
    return {}


def _sealed(key: bytes, text: str) -> str:
    at = ids.COUNTS[text[-2:]]
    return f"{text}-{ids._seals(key, text[:-2])[at : at + ids.SEAL_DIGITS]}"


@pytest.mark.parametrize(
    ("bug", "invariant"),
    [
        (lost_commits, "kept"),
        (acknowledged_before_the_commit, "kept"),
        (answered_decisions_are_forgotten, "once"),
        (a_repeated_ask_names_another_arm, "arm"),
        (uncommitted_events_stay_in_memory, "replay"),
        (ids_are_numbers_again, "unique"),
    ],
)
def test_a_deliberate_bug_is_seen(
    bug: Callable[[pytest.MonkeyPatch], dict[str, Any]], invariant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = bug(monkeypatch)
    found: set[str] = set()
    for seed in range(60):
        try:
            found |= {line.split(":")[0] for line in play(seed, **options)}
        except Exception as error:  # a world that cannot go on is seen, too, but it is not what is looked for
            found.add(f"stopped by {error!r}")
        if invariant in found:
            return
    raise AssertionError(f"expected a violation of {invariant!r}, got {found}")
