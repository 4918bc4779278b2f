"""What a page says first, for every situation."""

import pytest

from vambrace.audit.certificate import certify_counts
from vambrace.serve import models
from vambrace.serve.pages import words


def state(*answers: int, retired: tuple[int, ...] = (), decisions: int = 0) -> models.State:
    nothing = {"rate": None, "plain": None, "armoured": None, "share": 0.0, "waiting": 0, "needed": None}
    arms = [
        models.ArmState(arm=f"arm {k}", status="retired" if k in retired else "open", answers=n, **nothing)  # type: ignore[arg-type]
        for k, n in enumerate(answers)
    ]
    return models.State(
        name="shop", state="open", policy="ucb1", decisions=decisions, events=1, arms=arms, open=0, late=0
    )


def test_before_there_are_answers() -> None:
    assert words.answer(state(0, 0), None, 20).headline == "No answers yet"
    assert "7 decisions" in words.answer(state(0, 0, decisions=7), None, 20).more
    assert words.answer(state(9), None, None).headline == "Only one arm is open"
    assert words.answer(state(9, 9, retired=(1,)), None, None).headline == "Only one arm is open"
    assert words.answer(state(9, 0, 0), None, 20).more == "There are no answers of “arm 1” and “arm 2” so far."


@pytest.mark.parametrize(
    ("wins", "planned", "tone", "headline", "more"),
    [
        (510, None, "plain", "No winner yet", "“arm 1” is ahead, but that may be chance."),
        (900, None, "good", "“arm 1” is the best arm", "of the 2,000 answers would have to be fake"),
        (900, 20, "good", "“arm 1” is the best arm", "You planned for 20, so this holds."),
        (900, 900, "warn", "“arm 1” is ahead, but not safely", "You planned for up to 900, so wait"),
        (602, None, "warn", "“arm 1” is ahead, but not safely", "a single fake answer could overturn that"),
    ],
)
def test_a_leader(wins: int, planned: float | None, tone: str, headline: str, more: str) -> None:
    found = words.answer(state(1000, 1000), certify_counts([1000, 1000], [500, wins], ["arm 0", "arm 1"]), planned)
    assert (found.tone, found.headline) == (tone, headline)
    assert more in found.more


def test_as_many_fakes_as_planned_is_safe_and_one_fewer_is_not() -> None:
    certificate = certify_counts([1000, 1000], [500, 900], ["arm 0", "arm 1"])
    assert certificate.budget is not None
    for planned, tone in ((certificate.budget, "good"), (certificate.budget + 1, "warn")):
        assert words.answer(state(1000, 1000), certificate, planned).tone == tone
    assert words.withstands(certificate) == f"{certificate.budget + 1:,}"
    assert f"At least {certificate.budget + 1:,} of" in words.answer(state(1, 1), certificate, None).more


def test_rewards_in_part_have_an_amount() -> None:
    options = {"squares": [240.0, 800.0], "binary": False}
    certificate = certify_counts([1000, 1000], [450.0, 880.0], ["arm 0", "arm 1"], **options)  # type: ignore[arg-type]
    found = words.answer(state(1000, 1000), certificate, 5)
    assert "Rewards would have to be faked by more than" in found.more
    assert words.withstands(certificate) in found.more


def test_the_budget_of_a_policy() -> None:
    assert words.planned_budget("kl-ucb-wr:budget=7") == 7.0
    assert words.planned_budget("ucb1") is None
