"""The past of an experiment, compared with everything counted anew from its journal."""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

import numpy as np
import pytest

import vambrace as vb
from vambrace.live.core import Core
from vambrace.live.events import Asked, Event
from vambrace.live.export import rows
from vambrace.live.fold import entry_of
from vambrace.live.journal import Entry, Journal
from vambrace.live.settings import Settings
from vambrace.serve import history
from vambrace.serve.history import WIDTHS, History, Point

BEGUN = 1_800_000_000.0


class Written:
    """A journal in memory: what a core has done."""

    def __init__(self, policy: vb.Policy, arms: list[str], **options: Any) -> None:
        self.core = Core(Settings.made(policy, arms=arms, **options))
        self.time = BEGUN + 0.5
        payload = json.dumps(self.core.settings.to_dict())
        self.entries = [Entry(1, self.time, "opened", None, None, payload)]
        self.core.on_event = self.write

    def write(self, event: Event) -> None:
        self.entries.append(entry_of(len(self.entries) + 1, event, self.core.rounds, None))

    def ask(self) -> Asked:
        return self.core.ask(self.time)

    def tell(self, asked: Asked, reward: float) -> None:
        self.core.tell(self.time, asked.id, reward)

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        yield from self.entries[after:upto]

    def begun(self) -> tuple[History, list[Entry]]:
        """The history of the first entry, and the other entries."""
        return History(self.core.settings, self.entries[0].time), self.entries[1:]

    def history(self) -> History:
        found, entries = self.begun()
        for entry in entries:
            found.apply(entry)
        return found


def played(rounds: int, pause: float, *, rates: Sequence[float] = (0.2, 0.5)) -> Written:
    """The journal of an experiment to which everything happens."""
    random, labels = Random(7), [f"arm {arm}" for arm in range(len(rates))]
    found, waiting = Written(vb.KLUCBWR(budget=3), labels, expires_after=50 * pause), []
    for t in range(rounds):
        found.time += pause * random.random() * 2
        waiting.append(found.ask())
        random.shuffle(waiting)
        while len(waiting) > 5:
            decision = waiting.pop()
            found.tell(decision, float(random.random() < rates[decision.arm % len(rates)]))
        if t == rounds // 2:
            found.core.add_arm(found.time, "new")
            found.core.retire_arm(found.time, "arm 0")
    return found


def counted(journal: Written, upto: int) -> dict[str, list[float]]:
    """Decisions, answers and rewards of each arm up to an entry, from texts alone."""
    found = {"asked": [0.0] * 3, "answers": [0.0] * 3, "totals": [0.0] * 3}
    for entry in journal.read(1, upto):
        if entry.decision is None:
            continue
        arm = int(entry.decision.partition("-")[0])
        if entry.kind == "asked":
            found["asked"][arm] += 1
        elif entry.kind == "told":
            found["answers"][arm] += 1
            found["totals"][arm] += float(entry.payload.strip("[]"))
    return found


def same(found: list[Point], others: list[Point]) -> bool:
    return all(
        a.mark.number == b.mark.number
        and a.budget == b.budget
        and a.loss == b.loss
        and a.shadow_loss == b.shadow_loss
        and np.array_equal(a.share, b.share)  # type: ignore[arg-type]
        for a, b in zip(found, others, strict=True)
    )


@pytest.mark.parametrize("pause", [0.2, 20.0, 3_000.0])
def test_marks_are_sums_at_the_ends_of_the_narrowest_stretches(pause: float) -> None:
    journal = played(400, pause)
    found = journal.history()
    entries = list(journal.read())
    times = list(np.maximum.accumulate([entry.time for entry in entries]))
    width = next(
        w for w in [*WIDTHS, *(2**k * WIDTHS[-1] for k in range(1, 9))] if times[-1] // w - times[0] // w < 240
    )
    last_of_slot = {time // width: entry.number for entry, time in zip(entries, times, strict=True)}
    points = found.points(most=10**6)
    assert found.width == width
    assert [point.mark.number for point in points] == list(last_of_slot.values())
    for point in points:
        expected = counted(journal, point.mark.number)
        for name, values in expected.items():
            mine = getattr(point.mark, name).tolist()
            assert mine == values[: len(mine)], name


def test_a_history_does_not_depend_on_when_somebody_looked() -> None:
    journal = played(300, 10.0)
    watched, entries = journal.begun()
    for entry in entries:
        watched.apply(entry)
        if entry.number % 17 == 0:
            watched.points()
    assert same(watched.points(), journal.history().points())


def test_shares_are_of_the_decisions_between_two_marks() -> None:
    points = played(300, 10.0).history().points(most=7)
    assert len(points) <= 7
    before = np.zeros(3, dtype=np.int64)
    for point in points:
        now = np.pad(point.mark.asked, (0, 3 - len(point.mark.asked)))
        made = now - before
        assert point.share is not None
        assert np.pad(point.share, (0, 3 - len(point.share))) == pytest.approx(made / made.sum())
        before = now
    assert points[-1].mark.asked.sum() == 300


def test_the_certificate_is_that_of_the_exported_log() -> None:
    """Of the arms that are open: arm 1, and the one that was added; both have answers."""
    journal = played(2_000, 10.0, rates=(0.2, 0.9))
    found = journal.history()
    log = [row for row in rows(cast(Journal, journal)) if row[0] != "arm 0"]
    certificate = vb.certify({"arm": [row[0] for row in log], "reward": [row[1] for row in log]})
    mine = found.certificate()
    assert mine is not None
    assert (mine.winner, mine.budget, mine.events) == (certificate.winner, certificate.budget, certificate.events)
    assert mine.budget is not None
    assert found.points()[-1].budget == mine.budget


def test_there_is_no_certificate_while_an_open_arm_has_no_answers() -> None:
    journal = Written(vb.KLUCBWR(budget=1), ["a", "b"])
    journal.tell(journal.ask(), 1.0)
    found = journal.history()
    assert found.certificate() is None
    assert [point.budget for point in found.points()] == [None]
    assert [point.leader for point in found.points()] == [0]


def test_losses_are_decisions_times_gaps_at_the_rates_of_today() -> None:
    found = played(500, 10.0).history()
    *_, point = found.points()
    rates = [record.total / record.answers for record in found.shadow.arms]
    best = max(rates[1:])  # the first arm is retired
    expected = sum(max(best - rate, 0) * record.asked for rate, record in zip(rates, found.shadow.arms, strict=True))
    assert point.loss == pytest.approx(expected)
    expected = sum(max(best - rate, 0) * n for rate, n in zip(rates, found.shadow.chosen, strict=True))
    assert point.shadow_loss == pytest.approx(expected)


def test_an_attack_moves_the_shadow_and_not_the_armoured_policy() -> None:
    """The first forty answers of the better arm are fakes: zeros. The unarmoured bandit would have left it."""
    journal, random, fakes = Written(vb.KLUCBWR(budget=40), ["worse", "better"]), Random(1), 40
    while fakes:
        decision = journal.ask()
        reward = float(random.random() < (0.3, 0.7)[decision.arm])
        if decision.arm == 1:
            reward, fakes = 0.0, fakes - 1
        journal.tell(decision, reward)
    *_, point = journal.history().points()
    assert point.mark.asked[0] <= 0.6 * point.mark.asked.sum()
    assert point.mark.chosen[0] >= 0.9 * point.mark.chosen.sum()


def test_the_size_of_a_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_MARKS", 10)
    found = played(400, 100.0).history()
    assert len(found._marks) <= 10
    assert len(found._budgets) <= 11
    assert found.points()[-1].mark.asked.sum() == 400


def test_stretches_become_wider_with_the_first_that_is_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_MARKS", 30)
    journal = Written(vb.UCB1(), ["a", "b"])  # begins in the middle of a second
    for _ in range(29):
        journal.time += 1
        journal.ask()
    assert (journal.history().width, len(journal.history().points())) == (1, 30)
    journal.time += 1
    journal.ask()
    assert journal.history().width == 5


def test_a_retired_arm_leads_nothing_however_good_it_was() -> None:
    journal = Written(vb.UCB1(), ["good", "fair", "poor"])
    for _ in range(90):
        decision = journal.ask()
        journal.tell(decision, (1.0, 0.5, 0.0)[decision.arm])
    assert journal.history().points()[-1].leader == 0
    journal.core.retire_arm(journal.time, "good")
    *_, point = journal.history().points()
    assert point.leader == 1
    poor = journal.core.arms[2].asked
    assert point.loss == pytest.approx(0.5 * poor)  # what the good arm won is no loss, and no gain
