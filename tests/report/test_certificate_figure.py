"""The figure of a certificate."""

import sys
from typing import Any

import pytest

from vambrace.audit.certificate import Certificate, certify_counts
from vambrace.errors import MissingExtra


def figure_of(found: Certificate) -> dict[str, Any]:
    return dict(found.plot().to_dict())


def test_a_figure_shows_each_interval_and_budget() -> None:
    found = certify_counts([900, 1000, 800], [100, 900, 720], ["A", "B", "C"])
    chart = figure_of(found)
    assert chart["title"]["text"] == str(found)
    rows = chart["data"]["values"]
    assert [(row["arm"], row["role"], row["note"]) for row in rows] == [
        ("B", "winner", "largest mean"),
        ("C", "rival", "not separated"),
        ("A", "rival", f"beaten up to C = {found.rivals[0].budget}"),
    ]
    assert (rows[0]["low"], rows[0]["high"]) == (found.winner_low, found.winner_high)
    assert (rows[2]["low"], rows[2]["high"]) == (found.rivals[0].low, found.rivals[0].high)
    assert str(found) in chart["description"]
    assert all(row["note"] in chart["description"] for row in rows)
    shapes = [layer["encoding"]["shape"] for layer in chart["layer"] if "shape" in layer["encoding"]]
    assert len(set(shapes[0]["scale"]["range"])) == 2  # a second sign beside colour


def test_without_the_extra_there_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"expected .+, got "):
        certify_counts([9, 9], [1, 8]).plot()
