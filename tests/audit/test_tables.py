"""Certificates as tables: the same texts on a terminal and on a page."""

import pytest

from vambrace.audit import tables
from vambrace.audit.certificate import certify_counts


def test_budgets_are_never_rounded_up() -> None:
    budgets = (0, 1234, 0.0, 1234.5678, 0.999)
    assert [tables.budget_as_text(each) for each in budgets] == ["0", "1,234", "0.00", "1,234.56", "0.99"]


def test_rates_are_per_cent_and_their_digits_align() -> None:
    found = certify_counts([10_000, 10_000, 10_000], [2000, 280, 120], ["A", "B", "C"])
    rows = tables.arms(found, 10)
    assert [row[2] for row in rows] == ["20.00 %", "2.80 %", "1.20 %"]
    assert all(cell.endswith(" %") and len(cell.partition(".")[2]) == 4 for row in rows for cell in row[2:5])
    assert rows[0][0] == "A"
    assert all(float(low[:-2]) < float(mean[:-2]) < float(high[:-2]) for _, _, mean, low, high, _ in rows)


@pytest.mark.parametrize(("successes", "text"), [(5000, "50.0 %"), (5, "0.0500 %"), (0, "0.00 %")])
def test_the_least_rate_decides_how_many_digits_there_are(successes: int, text: str) -> None:
    found = certify_counts([10_000, 10_000], [successes, 0])
    assert tables.means_as_text(found)(successes / 10_000) == text


def test_means_of_other_rewards_are_no_rates() -> None:
    found = certify_counts([100, 100], [12.5, 80.5], binary=False)
    assert [row[2] for row in tables.arms(found, 2)] == ["0.805", "0.125"]


def test_arms_that_are_not_separated_say_so() -> None:
    found = certify_counts([900, 1000, 800], [100, 900, 720], ["A", "B", "C"])
    assert [(row[0], row[1]) for row in tables.arms(found, 3)] == [
        ("B", ""),
        ("C", "not separated"),
        ("A", str(found.rivals[0].budget)),
    ]


def test_columns_say_what_they_were_used_for() -> None:
    assert tables.columns_used({"arm": "variant", "events": "events"}) == "arm = variant, events"
