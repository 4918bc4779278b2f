"""Labels at the ends of lines: near to them, none over another, and none outside."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vambrace.report.figures import lines_figure, save
from vambrace.report.labels import short, shortened, spread
from vambrace.report.legend import for_file
from vambrace.report.style import PAPER


@given(st.lists(st.tuples(st.floats(0, 100), st.sampled_from([9.0, 18.0])), min_size=1, max_size=5))
def test_no_label_is_over_another_and_their_order_is_that_of_the_ends(ends: list[tuple[float, float]]) -> None:
    wanted, sizes = [end for end, _ in ends], [size for _, size in ends]
    found = spread(wanted, sizes, 100)
    order = sorted(range(len(ends)), key=lambda k: (wanted[k], k))
    for above, below in pairwise(order):
        assert found[below] - found[above] >= (sizes[above] + sizes[below]) / 2 - 1e-9
    if len(ends) == 1:
        assert found == [pytest.approx(wanted[0], abs=1e-9)]


def test_labels_far_apart_stay_where_they_are_and_groups_stay_inside() -> None:
    assert spread([10, 50, 90], [9, 9, 9], 100) == [10, 50, 90]
    found = spread([99, 99, 99], [10, 10, 10], 100)
    assert found == [75, 85, 95]


def test_a_label_is_short_unless_two_would_be_the_same() -> None:
    assert short("ms-se-wr:share=true,radius=tight") == "ms-se-wr share tight"
    assert short("pe-wr, C = T^0.25") == "pe-wr, C = T^0.25"
    assert shortened(["se-wr-stop:budget=C,stop=multiplicative"]) == {
        "se-wr-stop:budget=C,stop=multiplicative": ["se-wr-stop C", "multiplicative"]
    }
    assert shortened(["a:x=1", "a:y=1"]) == {"a:x=1": ["a:x=1"], "a:y=1": ["a:y=1"]}


def test_a_figure_for_paper_is_one_column_wide_and_has_labels_and_no_title(tmp_path: Path) -> None:
    rows = [
        {"facet": "f", "line": line, "x": x, "mean": end * x, "low": end * x, "high": end * x, "bound": 900.0}
        for line, end in {"ucb1": 10.0, "se-wr:budget=C": 1.0, "pe-wr": 10.1}.items()
        for x in (1, 10, 50)
    ]
    figure = for_file(lines_figure(rows, axis="budget", title="t", alt="a", style=PAPER))
    chart = figure.to_dict()
    assert "title" not in chart
    drawn, key = chart["vconcat"]
    labels = [row for row in drawn["data"]["values"] if "text" in row]
    assert [row["text"] for row in labels] == [["ucb1"], ["se-wr C"], ["pe-wr"]]
    save(figure, tmp_path / "x.svg")
    assert (
        int(re.findall(r'width="(\d+)"', (tmp_path / "x.svg").read_text(encoding="utf-8"))[0]) <= 229
    )  # the column of LaTeX's article
    assert [row["text"] for row in key["data"]["values"]] == ["bound (theory)"]
    ends = {row["line"]: row["end"] for row in labels}
    assert 0 <= ends["pe-wr"] < ends["ucb1"] < ends["se-wr:budget=C"] <= PAPER.height
