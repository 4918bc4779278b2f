"""What a page says of an experiment, in sentences: the answer first."""

from typing import Literal, NamedTuple

from vambrace import registry
from vambrace.audit import words as audit_words
from vambrace.audit.certificate import Certificate
from vambrace.serve import models

UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
Tone = Literal["good", "warn", "plain"]


class Answer(NamedTuple):
    """The answer to: which arm is best, and can I trust that?"""

    tone: Tone
    headline: str
    more: str  # one or two sentences


def answer(state: models.State, certificate: Certificate | None, planned: float | None) -> Answer:
    """What an experiment shows now.

    Args:
        state: What it knows of each arm.
        certificate: What is certain; None: an open arm has no answers.
        planned: The budget of its policy; None: it has none.
    """
    arms = [arm for arm in state.arms if arm.status != "retired"]
    if len(arms) < 2:
        return Answer("plain", "Only one arm is open", "Add another arm to compare it with.")
    if not any(arm.answers for arm in arms):
        asked = f"{state.decisions:,} decisions were made, and no answer came in." if state.decisions else ""
        return Answer(
            "plain", "No answers yet", asked or "Ask for decisions and tell their rewards: the lines are below."
        )
    if certificate is None:
        missing = audit_words.in_words([quoted(arm.arm) for arm in arms if not arm.answers], last=" and ")
        return Answer("plain", "No winner yet", f"There are no answers of {missing} so far.")
    if certificate.budget is None:
        leader = f"{quoted(certificate.winner)} is ahead, but that may be chance."
        return Answer("plain", "No winner yet", f"{leader} {_needed(certificate)}".strip())
    return _winner(certificate, certificate.budget, planned)


def _winner(certificate: Certificate, budget: float, planned: float | None) -> Answer:
    headline, unsafe = (f"{quoted(certificate.winner)} is {what}" for what in ("the best arm", "ahead, but not safely"))
    if certificate.whole:
        fakes = int(budget) + 1
        more = f"At least {fakes:,} of the {certificate.events:,} answers would have to be fake to overturn that."
        if fakes == 1:
            more = "But a single fake answer could overturn that."
    else:
        amount = audit_words.amount_as_text(budget)
        more = f"Rewards would have to be faked by more than {amount} in total to overturn that."
    if not planned:
        return Answer("good", headline, more) if budget >= 1 else Answer("warn", unsafe, more)
    if budget >= planned:
        return Answer("good", headline, f"{more} You planned for {planned:,.0f}, so this holds.")
    return Answer("warn", unsafe, f"{more} You planned for up to {planned:,.0f}, so wait for more answers.")


def _needed(certificate: Certificate) -> str:
    if certificate.more_events is None:
        return ""
    return f"About {certificate.more_events:,} more answers at these rates would settle it, if none is fake."


def withstands(certificate: Certificate | None) -> str:
    """How many fakes would overturn the leader, as a figure."""
    return "–" if certificate is None else fakes(certificate.budget, certificate)  # noqa: RUF001


def fakes(budget: float | None, certificate: Certificate | None) -> str:
    """How many fakes would overturn a leader that is certain up to a budget; for rewards in part, the budget."""
    if budget is None:
        return "–"  # noqa: RUF001
    is_whole = certificate is None or certificate.whole
    return f"{int(budget) + 1:,}" if is_whole else audit_words.amount_as_text(budget)


def planned_budget(policy: str) -> float | None:
    """The budget in the spec of a policy; None: it has none."""
    budget = getattr(registry.policy(policy), "budget", None)
    return None if budget is None else float(budget)


def quoted(label: str | int) -> str:
    """A label in a sentence."""
    return f"“{label}”"


def rate(value: float | None) -> str:
    """A rate as per cent."""
    return "" if value is None else f"{100 * value:.2f} %"


def interval(ends: tuple[float, float] | None) -> str:
    """An interval of rates."""
    return "" if ends is None else f"{100 * ends[0]:.2f} to {100 * ends[1]:.2f} %"


def amount(value: float) -> str:
    """A number of rewards."""
    return f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"


def duration(seconds: float) -> str:
    """A length of time in words.

    >>> [duration(seconds) for seconds in (1, 15, 60, 300, 3600, 86400, 172800, 90)]
    ['1 second', '15 seconds', '1 minute', '5 minutes', '1 hour', '1 day', '2 days', '90 seconds']
    """
    size, name = next((each for each in UNITS if seconds % each[0] == 0), (1, "second"))
    return f"{seconds / size:,g} {name}{'' if seconds == size else 's'}"
