import dataclasses
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest

import vambrace as vb
from vambrace import registry
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.parameters import PER_ARM, Arm, Budget, Chance, Kind, Means, Range, Share

ROOT = Path(__file__).parent.parent
EVERY = [cls for kind in ("policy", "adversary", "environment") for cls in registry.known(kind).values()]
DECLARED = [
    pytest.param(cls, parameter, id=f"{cls.name}-{parameter.name}")
    for cls in EVERY
    for parameter in registry.declared(cls)
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plain(vb.Policy):
    """What a user writes without knowing of ranges.

    Args:
        budget: What it may
            spend: all.
        often: How often.

    Guarantee: none.
    """

    budget: float
    often: int = 3
    grid: Sequence[float] = ()
    pair: tuple[int, str] = (1, "a")
    call: Callable[[], int] | None = None
    kept: int = dataclasses.field(default=0, init=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unresolved(vb.Policy):
    budget: "OnlyForTypeCheckers"  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("hint", "value", "plain"),
    [
        (float, np.float64(5), 5.0),
        (float, 5, 5.0),
        (float, -math.inf, -math.inf),
        (int, np.int64(-2), -2),
        (int, 1e6, 10**6),
        (int, 10**400, 10**400),
        (bool, np.True_, True),
        (str, "text", "text"),
        (Budget, 1e18, 1e18),
        (Arm, 10**15, 10**15),
        (Chance | None, None, None),
        (Chance | None, np.float32(0.5), 0.5),
        (Literal["a", "b"], np.str_("b"), "b"),
        (Literal["a", "b"] | None, None, None),
        (Means, np.array([1.0, 0.0]), (1.0, 0.0)),
        (Means, [1, 0], (1.0, 0.0)),
        (Annotated[Sequence[Chance], PER_ARM], [0.5], (0.5,)),
        (Sequence[str], ["a"], ("a",)),
        (Sequence[int], [], ()),
        (tuple[int, ...], [1.0], (1,)),
    ],
)
def test_the_plain_value_is_stored(hint: Any, value: Any, plain: Any) -> None:
    found = Kind.of(hint).check("x", value)
    assert found == plain
    assert type(found) is type(plain)
    if isinstance(plain, tuple):
        assert [*map(type, found)] == [*map(type, plain)]


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (Budget, -1, "x: expected a number in [0, 1e+18], got -1"),
        (Chance, 1, "x: expected a number in (0, 1), got 1"),
        (Chance, None, "x: expected a number in (0, 1), got None"),
        (float, math.nan, "x: expected a number, got nan"),
        (float, True, "x: expected a number, got True"),
        (float, -(10**400), "x: expected a number, got -1000"),
        (int, 2.5, "x: expected a whole number, got 2.5"),
        (int, math.inf, "x: expected a whole number, got inf"),
        (Annotated[int, Range(1, 9)], 10, "x: expected a whole number in [1, 9], got 10"),
        (bool, 1, "x: expected true or false, got 1"),
        (str, 1, "x: expected a text, got 1"),
        (Literal["a", "b"], 1, "x: expected one of a, b, got 1"),
        (Sequence[float], "0.5", "x: expected a sequence, got '0.5'"),
        (Means, "0.5", "x: expected a sequence, one value for each arm, got '0.5'"),
        (Means, [], "x: expected at least one arm, got none"),
        (Means, [0.5, 1.5], "x[1]: expected a number in [0, 1], got 1.5"),
        (Means, [0.5, math.nan], "x[1]: expected a number in [0, 1], got nan"),
        (Annotated[Sequence[Chance], PER_ARM], [0.5, 1.0], "x[1]: expected a number in (0, 1), got 1.0"),
        (Sequence[Share], [0, "1"], "x[1]: expected a number in [0, 1], got '1'"),
    ],
)
def test_what_cannot_be_meant_is_refused(hint: Any, value: Any, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Kind.of(hint).check("x", value)
    assert str(caught.value).startswith(message)


def test_a_word_that_is_not_known_is_met_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="unknown radius 'tigth'; did you mean 'tight'"):
        vb.SEWR(budget=1, radius="tigth")  # type: ignore[arg-type]


@pytest.mark.parametrize(("cls", "parameter"), DECLARED)
def test_every_parameter_is_described_and_checked(cls: Any, parameter: Any) -> None:
    """The range holds its default; just outside of it, and with another type, nothing is taken."""
    name, kind, default, meaning = parameter
    assert meaning.endswith(".")
    assert not meaning.endswith("..")
    assert str(kind)
    others = {"budget": 1, "means": (0.5,), "events": (9,), "successes": (1,), "modes": "-"}
    given = {each.name: others[each.name] for each in registry.declared(cls) if each.required}
    if not parameter.required:
        assert kind.check(name, default) == default
    wrong: list[Any] = [object(), {}, 1j]
    if kind.base in (float, int):
        wrong += [math.nan, True, "1", math.nextafter(kind.range.low, -math.inf)]
        wrong += [kind.range.low] if kind.range.open_low else []
        wrong += [kind.range.high] if kind.range.open_high else []
        wrong += [2 * kind.range.high] if kind.range.high < math.inf else []
    for value in wrong:
        with pytest.raises(InvalidParameter, match=rf"^{name}: expected "):
            cls(**{**given, name: value})


def test_numbers_are_stored_plain_and_equal_objects_look_alike() -> None:
    given = vb.SEWR(budget=np.int64(5), delta=np.float64(0.5))  # type: ignore[arg-type]
    assert repr(given) == "SEWR(budget=5.0, delta=0.5, radius='paper')"
    assert given == vb.SEWR(budget=5, delta=0.5)


def test_classes_of_users_need_no_ranges() -> None:
    thing = Plain(budget=math.inf, often=np.int64(2), grid=[1, 2], pair=(2, "b"))  # type: ignore[arg-type]
    assert (thing.budget, thing.often, thing.grid, thing.pair) == (math.inf, 2, (1.0, 2.0), (2, "b"))
    with pytest.raises(InvalidParameter, match=r"often: expected a whole number, got 2\.5"):
        Plain(budget=1, often=2.5)  # type: ignore[arg-type]
    meanings = {parameter.name: parameter.meaning for parameter in registry.declared(Plain)}
    assert meanings == {"budget": "What it may spend: all.", "often": "How often.", "grid": "", "pair": "", "call": ""}


def test_a_name_that_only_type_checkers_know_is_not_checked() -> None:
    assert Unresolved(budget="anything").budget == "anything"


def test_types_and_ranges_in_words() -> None:
    words = {each.name: (str(each.kind), each.kind.interval) for each in registry.declared(vb.SEWR)}
    assert words == {
        "budget": ("number", "[0, 1e+18]"),
        "delta": ("number or none", "(0, 1)"),
        "radius": ("one of paper, tight, kl", ""),
    }
    words = {each.name: (str(each.kind), each.kind.interval) for each in registry.declared(vb.Replay)}
    assert words["events"] == ("whole numbers, one for each arm", "[1, 1e+15]")
    assert words["rewards"] == ("numbers or none", "[0, 1]")
    assert str(Kind.of(bool)) == "true or false"


WRONG = (  # one call a line, each with one mistake
    'vb.SEWR(budget=1, radius="tigth")',
    'vb.simulate(vb.UCB1(), vb.Bernoulli([0.5]), horizon=10, engine="leaps")',
    'vb.certify({"arm": [0]}, threat="altr")',
    "vb.certify(42)",
    'vb.SEWR(budget="5")',
    "vb.SEWRR",
)
RIGHT = (
    'vb.SEWR(budget=1, radius="tight", delta=None)',
    'vb.simulate(vb.UCB1(), vb.Bernoulli([0.5]), vb.Conceal(), horizon=10, engine="leap").pulls',
    "vb.certify({'arm': [0], 'events': [5], 'successes': [1]}, threat='alter')",
    "vb.kernel, vb.Policy, vb.plan, vb.Learner, vb.attack_suite",
)


def test_type_checkers_find_wrong_calls(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text("\n".join(["import vambrace as vb", *WRONG, *RIGHT, ""]), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", ""]
    command += ["--cache-dir", str(ROOT / ".mypy_cache" / "user"), str(user)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT / "src", timeout=300)
    places = [int(line.split(":")[1]) for line in done.stdout.splitlines() if "user.py" in line and ": error:" in line]
    assert places == [*range(2, 2 + len(WRONG))], done.stdout + done.stderr
