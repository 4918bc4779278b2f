"""The gain of the tighter radii, as ratios."""

import vambrace as vb
from vambrace.lab import radii


def test_tight_needs_at_most_a_third_where_gaps_are_a_tenth_or_more() -> None:
    for means in ((0.9, 0.8, 0.7, 0.6, 0.5), (0.5, 0.4, 0.4, 0.4), (0.6, 0.3)):
        row = radii.compare(vb.Bernoulli(means), 0, 10**6)
        assert row["tight"] <= row["paper"] / 3
        assert row["kl"] <= row["paper"] * 0.6
        assert all(row[f"{radius} keeps best"] == 1.0 for radius in radii.RADII)


def test_kl_resolves_small_rates_that_the_others_cannot() -> None:
    row = radii.compare(vb.Bernoulli([0.03, 0.02, 0.02, 0.01]), 100, 10**6)
    assert (row["paper drops"], row["kl drops"]) == (0.0, 3.0)
    assert row["kl"] < row["paper"] / 3
    assert row["horizon"] == 10**6


def test_the_table_has_a_row_for_each_game() -> None:
    (row,) = radii.synthetic(10**4, [((0.9, 0.5), 10)])
    assert (row["arms"], row["budget"], row["horizon"]) == ("0.9/0.5", 10, 10**4)
