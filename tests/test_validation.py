import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vambrace import validation
from vambrace.errors import InvalidParameter, UnknownName, VambraceError

INF, NAN, HUGE = math.inf, math.nan, 10**400


def unit(value: Any) -> float:
    return validation.number("x", value, low=0.0, high=1.0)


def inner(value: Any) -> float:
    return validation.number("x", value, low=0.0, high=1.0, open_low=True, open_high=True)


def whole(value: Any) -> int:
    return validation.whole("n", value, low=1, high=9)


def finite_budget(value: Any) -> float:
    return validation.budget(value, finite=True)


def arm_of_three(value: Any) -> int:
    return validation.arm("arm", value, n_arms=3, default=2)


def flag(value: Any) -> bool:
    return validation.flag("share", value)


def word(value: Any) -> str:
    return validation.choice("radius", value, ("paper", "tight"))


def points(value: Any) -> list[int]:
    rounds = validation.checkpoints(value, horizon=100)
    assert rounds.dtype == np.int64
    return rounds.tolist()


def size(value: Any) -> tuple[int, int]:
    return validation.game_size(*value)


@pytest.mark.parametrize(
    ("check", "value", "plain"),
    [
        (unit, 0, 0.0),
        (unit, 1, 1.0),
        (unit, np.float32(0.5), 0.5),
        (unit, np.int64(1), 1.0),
        (inner, 5e-324, 5e-324),
        (inner, math.nextafter(1, 0), math.nextafter(1, 0)),
        (validation.budget, INF, INF),
        (finite_budget, 1e18, 1e18),
        (validation.delta, None, None),
        (validation.delta, 0.5, 0.5),
        (whole, 1, 1),
        (whole, 9.0, 9),
        (whole, np.uint8(3), 3),
        (arm_of_three, None, 2),
        (arm_of_three, 0, 0),
        (flag, True, True),
        (flag, np.False_, False),
        (word, "tight", "tight"),
        (word, np.str_("paper"), "paper"),
        (validation.means, [1, 0], (1.0, 0.0)),
        (validation.means, np.array([0.5]), (0.5,)),
        (size, (3, 3), (3, 3)),
        (size, (1, 1e15), (1, 10**15)),
        (validation.seed, 0, 0),
        (validation.seed, HUGE, HUGE),
        (validation.seed, np.uint64(2**64 - 1), 2**64 - 1),
        (points, 1, [100]),
        (points, 3, [1, 10, 100]),
        (points, 3.0, [1, 10, 100]),
        (points, 10**6, list(range(1, 101))),
        (points, [7, 3, 7], [3, 7, 100]),
        (points, np.array([100, 1]), [1, 100]),
        (points, (), [100]),
    ],
)
def test_what_is_meant_comes_back_in_its_plain_type(check: Callable[[Any], Any], value: Any, plain: Any) -> None:
    found = check(value)
    assert found == plain
    assert type(found) is type(plain)


REFUSED: list[tuple[Callable[[Any], Any], list[Any]]] = [
    (unit, [-0.1, 1.1, math.nextafter(1, 2), NAN, INF, -INF, HUGE, -HUGE, "0.5", None, True, np.True_, 1j, [0.5]]),
    (inner, [0, 1, -0.0, 2, NAN]),
    (validation.budget, [-1, NAN, "1", None, False]),
    (finite_budget, [INF, HUGE]),
    (validation.delta, [0, 1, NAN, "none", True]),
    (whole, [0, 10, 1.5, NAN, INF, HUGE, -HUGE, "1", None, True, np.float64(2.5)]),
    (arm_of_three, [3, -1, 0.5]),
    (flag, [0, 1, "true", None]),
    (
        validation.means,
        [[], [2], [0.5, NAN], [[0.5]], "0.5", b"1", 0.5, None, {0.5}, np.array(0.5), np.ones((2, 2))],
    ),
    (size, [(0, 5), (5, 0), (3, 2), (10**6 + 1, 10**7), (2, 10**15 + 1), (1.5, 5), ("2", 5)]),
    (validation.seed, [-1, 1.0, "1", None, True]),
    (points, [0, -1, 10**6 + 1, 1.5, NAN, True, None, "3", b"3", [0], [101], [1.5], ["1"], [[1]], np.array(5)]),
]


@pytest.mark.parametrize(
    ("check", "value"),
    [pytest.param(check, value, id=f"{check.__name__}-{value!r:.20}") for check, values in REFUSED for value in values],
)
def test_what_cannot_be_meant_is_refused(check: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^[\w\[\]]+: expected .+, got (?s:.+)$"):
        check(value)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("tigth", UnknownName, "unknown radius 'tigth'; did you mean 'tight'?"),
        ("zzz", UnknownName, "unknown radius 'zzz'; known: paper, tight"),
        (3, InvalidParameter, "radius: expected one of paper, tight, got 3"),
        (None, InvalidParameter, "radius: expected one of paper, tight, got None"),
        (["paper"], InvalidParameter, "radius: expected one of paper, tight, got ['paper']"),
        (np.array([1, 2]), InvalidParameter, "radius: expected one of paper, tight, got array([1, 2])"),
    ],
    ids=repr,
)
def test_a_word_that_is_not_known(value: Any, kind: type[VambraceError], message: str) -> None:
    with pytest.raises(kind) as caught:
        word(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("horizon", [1, 2, 7, 10**6, 10**15])
@pytest.mark.parametrize("wanted", [1, 2, 64])
def test_checkpoints_rise_from_one_to_the_horizon(horizon: int, wanted: int) -> None:
    rounds = validation.checkpoints(wanted, horizon)
    assert len(rounds) <= wanted
    assert (np.diff(rounds) > 0).all()
    assert rounds[0] == (1 if wanted > 1 else horizon)
    assert rounds[-1] == horizon
