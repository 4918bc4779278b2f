"""The picture of the price of armour: labels that do not cover each other, lines, words."""

import numpy as np

from vambrace.report.labels import short
from vambrace.report.price_figure import HEIGHT, OVERHANG, SIGN, WIDTH, Point, _labels, _meet, price_figure


def crowd(count: int) -> list[Point]:
    rng = np.random.default_rng(4)
    prices = 10 ** rng.uniform(1, 3, count)
    return [
        Point(f"policy-{k}:budget={k}", float(each), float(each * rng.uniform(0.3, 1)), each / 4, 2 * each)
        for k, each in enumerate(prices)
    ]


def test_labels_stay_inside_and_apart() -> None:
    points = crowd(25)
    places = _labels(points, 1.0, 3000.0)
    boxes = [place.box(SIGN * len(short(point.line))) for point, place in zip(points, places, strict=True)]
    for k, box in enumerate(boxes):
        assert not any(_meet(box, other) for other in boxes[:k])
        assert box[0] > 0
        assert box[1] > 0
        assert box[2] < WIDTH + OVERHANG
        assert box[3] < HEIGHT


def test_the_figure_has_both_lines_and_words() -> None:
    points = [*crowd(3), Point("never:budget=3", 10.0, None, 5.0, None)]
    spec = price_figure(points, slope=1.5, title="Price", subtitle=["words"]).to_dict()
    assert "policy-0:budget=0 costs" in spec["description"]
    assert "never" not in spec["description"]
    first, second = (layer["data"]["values"] for layer in spec["layer"][:2])
    assert all(end["price"] == end["broken"] for end in first)
    assert all(abs(end["broken"] / end["price"] - 1.5) < 1e-9 for end in second)
    assert len(spec["layer"][3]["data"]["values"]) == 3


def test_short_labels() -> None:
    assert short("ms-se-wr:share=true,radius=tight") == "ms-se-wr share tight"
    assert short("ucb1") == "ucb1"
