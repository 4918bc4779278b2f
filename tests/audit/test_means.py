"""The test of a pair whose rewards are not 0 or 1."""

from math import log, sqrt

import numpy as np
import pytest

import naive
from vambrace.audit import means
from vambrace.audit.certificate import certify_counts
from vambrace.audit.questions import DESIGNS, THREATS, Arm, Design, Question, Threat
from vambrace.kernels import compiled

PAIRS = [(float(row[0]), float(row[1])) for row in means.GRID]


def arm_of(rewards: np.ndarray) -> Arm:
    return Arm(len(rewards), float(rewards.sum()), float((rewards**2).sum()))


def test_each_factor_is_a_fair_bet() -> None:
    d = np.linspace(0.0, 1.0, 2001)
    for m, r, c, *_ in means.GRID:
        assert r * m < 1
        assert np.all(np.exp(r * (d - m) - c * (d - m) ** 2) <= (1 + r * (d - m)) * (1 + 1e-12))
    assert np.exp(means.GRID[:, 3]).sum() == pytest.approx(1.0)


def test_the_product_is_that_of_the_rows() -> None:
    rng, stands = np.random.default_rng(1), compiled(means.rejects, {})
    for _ in range(6):
        first, second = rng.beta(4, 2, 30), rng.beta(1, 3, 25)
        least = log(naive.least_product(naive.Rewards(first.tolist(), PAIRS), naive.Rewards(second.tolist(), PAIRS)))
        for level, expected in ((-least + 1e-6, True), (-least - 1e-6, False)):
            pair = Question(2, 0.5, "alter", "fixed", False).pair(arm_of(first), arm_of(second))
            assert stands(pair._replace(log_level=level), 0.0, 0.0) is expected


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("threat", THREATS)
def test_revenue_with_rare_purchases_is_certified_in_euros(threat: Threat, design: Design) -> None:
    """Means of 0.83 and 1.59 euros, up to 5,000, for 100,000 visitors each: z = 20.8. Empirical Bernstein cannot."""
    n, deviation = 100_000, 0.76 / 20.8 * sqrt(100_000 / 2)
    totals = [n * mean / 5000 for mean in (0.83, 1.59)]
    squares = [n * (mean**2 + deviation**2) / 5000**2 for mean in (0.83, 1.59)]
    found = certify_counts(
        [n, n], totals, ["A", "B"], squares=squares, binary=False, reward_range=(0.0, 5000.0), unit="€",
        threat=threat, design=design,
    )  # fmt: skip
    assert found.certified
    assert found.budget is not None
    assert found.winner_mean == pytest.approx(1.59)
    if threat == "alter":
        assert 10_000 < found.budget < 11_000
        assert "more than €10," in str(found)
        assert found.overturned_at == pytest.approx(76_000)
    bernstein = sqrt(2 * deviation**2 * log(80) / n) + 5000 * 7 * log(80) / (3 * (n - 1))
    assert 2 * bernstein > 0.76
