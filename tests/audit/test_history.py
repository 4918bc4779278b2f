"""What was certain over time: the same as a certificate of the log up to each moment."""

import numpy as np
import pytest

from vambrace.audit.certificate import certify_counts
from vambrace.audit.history import Moment, moments
from vambrace.audit.questions import THREATS, Question, Threat
from vambrace.data import Tally


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("threat", THREATS)
def test_each_moment_is_the_certificate_of_that_day(threat: Threat, binary: bool) -> None:
    rng, labels, steps = np.random.default_rng(3), ("A", "B", "C"), []
    events, totals, squares = np.zeros(3, int), np.zeros(3), np.zeros(3)
    for day in range(5 if binary else 3):
        for arm, mean in enumerate((0.3, 0.7, 0.1)):
            if day == 0 and arm == 1:
                continue  # the winner is not there yet
            rewards = (rng.random(60) < mean).astype(float) if binary else rng.beta(8 * mean, 8 * (1 - mean), 60)
            events[arm] += 60
            totals[arm] += rewards.sum()
            squares[arm] += (rewards**2).sum()
        tally = Tally(labels, tuple(events.tolist()), tuple(totals.tolist()), tuple(squares.tolist()), binary)
        steps.append((f"day {day}", tally))
    width = 1.0 if binary else 50.0
    found = moments(Question(3, 0.05, threat, "adaptive", binary), steps, width)
    assert found[0] == Moment("day 0", "A", None)
    for moment, (time, tally) in list(zip(found, steps, strict=True))[1:]:
        same = certify_counts(
            tally.events, tally.totals, labels, squares=tally.squares, threat=threat, binary=binary,
            reward_range=(0.0, width),
        )  # fmt: skip
        assert moment == Moment(time, same.winner, same.budget)
        assert type(moment.budget) is type(same.budget)
    assert found[-1].winner == "B"
    assert (found[-1].budget or 0) > (found[1].budget or 0)


def test_no_winner_is_certain_before_every_arm_has_events_or_while_two_are_equal() -> None:
    question = Question(2, 0.05, "alter", "adaptive", True)
    steps = [
        ("1", Tally(("A", "B"), (0, 90), (0, 80), (0, 80), True)),
        ("2", Tally(("A", "B"), (9, 9), (5, 5), (5, 5), True)),
    ]
    assert moments(question, steps) == (Moment("1", "B", None), Moment("2", "A", None))
