"""Bursts of answers: found when they happen, and not when traffic is merely uneven."""

from vambrace.serve.bursts import Bursts


def counted(minutes: list[int]) -> Bursts:
    found = Bursts(begun=0.0)
    for minute, answers in enumerate(minutes):
        for _ in range(answers):
            found.add(60.0 * minute + 30)
    return found


def test_a_burst_is_found_while_it_lasts() -> None:
    found = counted([20] * 30 + [101])
    assert [tuple(burst) for burst in found.found] == [(1800, 101, 20.0)]


def test_five_times_the_usual_is_no_burst() -> None:
    assert not counted([20] * 30 + [100]).found


def test_few_answers_are_no_burst() -> None:
    assert not counted([1] * 30 + [59]).found
    assert counted([1] * 30 + [60]).found


def test_the_first_minutes_of_an_experiment_are_no_burst() -> None:
    assert not counted([1] * 9 + [1_000]).found
    assert counted([1] * 10 + [1_000]).found


def test_quiet_minutes_count_as_zeros_and_only_an_hour_is_usual() -> None:
    busy_then_quiet = [1_000] * 60 + [0] * 60 + [60]
    assert counted(busy_then_quiet).found[-1].usual == 0.0
    assert counted([1_000] * 60 + [0] * 10_000 + [60]).found[-1].usual == 0.0
    assert not counted([1_000] * 60 + [0] * 30 + [60]).found


def test_every_burst_counts_and_the_last_ones_are_remembered() -> None:
    found = counted(([1] * 60 + [500]) * 70)
    assert found.total == 70
    assert len(found.found) == 50
