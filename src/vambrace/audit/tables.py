"""Certificates as tables of strings, the same on a terminal and on a page."""

from collections.abc import Callable, Collection, Mapping
from math import floor, log10

from vambrace.audit import words
from vambrace.audit.certificate import UNIT_RANGE, Certificate
from vambrace.audit.certification import BUDGETS, firmest, standing

ARMS = ("arm", "beaten up to C", "mean", "low", "high", "events")  # low, high: the interval of the mean
STEPS = ("C at least", "arms that join")
STANDS = ("C", "winners that stand")
TESTS = ("test", "stands up to C", "lead explained by", "events", "winner")
MOMENTS = ("time", "stands up to C", "winner")
MOST_NAMES = 40  # in one cell
UNCERTAIN = "not separated"


def arms(certificate: Certificate, most: int) -> list[tuple[str, ...]]:
    """The winner and its closest rivals, at most `most` arms together: the columns of ARMS."""
    c, text = certificate, means_as_text(certificate)
    found = [(c.winner, "", c.winner_mean, c.winner_low, c.winner_high, c.winner_events)]
    for r in c.closest(most):
        beaten = UNCERTAIN if r.budget is None else budget_as_text(r.budget, c)
        found.append((r.label, beaten, r.mean, r.low, r.high, r.events))
    return [(arm, up_to, text(mean), text(low), text(high), f"{n:,}") for arm, up_to, mean, low, high, n in found]


def steps(certificate: Certificate, most_names: int = MOST_NAMES) -> list[tuple[str, str]]:
    """Which arms may be the best from which budget on: the columns of STEPS."""
    return [
        (budget_as_text(budget, certificate), words.in_words(labels, most=most_names))
        for budget, labels in certificate.joining()
    ]


def stands(certificates: Collection[Certificate]) -> list[tuple[str, str]]:
    """How many winners stand at which budget: the columns of STANDS."""
    return [(f"{budget:,}", f"{standing(certificates, budget):,}") for budget in BUDGETS]


def tests(certificates: Mapping[str, Certificate]) -> list[tuple[str, ...]]:
    """The tests with a certified winner, the largest budget first: the columns of TESTS."""
    return [
        (test, budget_as_text(c.budget, c), words.lead_as_text(c), f"{c.events:,}", c.winner)
        for test, c in firmest(certificates).items()
        if c.budget is not None
    ]


def moments(certificate: Certificate, most: int) -> list[tuple[str, ...]]:
    """What was certain as the log grew, at most at `most` times that are evenly chosen: the columns of MOMENTS."""
    every = certificate.over_time
    n = min(len(every), most)
    chosen = [every[(at + 1) * len(every) // n - 1] for at in range(n)]
    return [(at, UNCERTAIN if c is None else budget_as_text(c, certificate), winner) for at, winner, c in chosen]


def columns_used(columns: Mapping[str, str]) -> str:
    """What each column was used for."""
    return ", ".join(use if use == column else f"{use} = {column}" for use, column in columns.items())


def budget_as_text(budget: float, certificate: Certificate | None = None) -> str:
    """A budget as text, never rounded up, in the units of the certificate."""
    if certificate is None:
        return words.amount_as_text(budget)
    return words.amount_as_text(budget, certificate.unit, words.decimals_of(certificate))


def means_as_text(certificate: Certificate) -> Callable[[float], str]:
    """A function that writes the means of a certificate: rates as per cent, all with the same number of decimals.

    The smallest mean shows three significant digits, but at most four decimals.
    """
    c = certificate
    rates = c.binary and c.reward_range == UNIT_RANGE
    scale, unit = (100.0, "%") if rates else (1.0, c.unit)
    means = [c.winner_mean, *(rival.mean for rival in c.rivals)]
    least = min((scale * abs(mean) for mean in means if mean != 0), default=1.0)
    decimals = min(max(2 - floor(log10(least)), 1), 4)
    return lambda value: words.with_unit(f"{scale * value:,.{decimals}f}", unit)
