import dataclasses
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vambrace as vb
from effort import examples
from vambrace import registry
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.parameters import Kind

PARSE: dict[str, Callable[[str], Any]] = {
    "policy": registry.policy,
    "adversary": registry.adversary,
    "environment": registry.environment,
}
REGISTERED = [(kind, cls) for kind in PARSE for cls in registry.known(kind).values()]


def values(kind: Kind) -> st.SearchStrategy[Any]:
    """Values of a parameter: what its declaration allows."""
    if kind.optional:
        return st.none() | values(kind._replace(optional=False))
    if kind.items is not None:
        return st.lists(values(kind.items), min_size=1, max_size=4).map(tuple)
    if kind.base is float:
        low, high, open_low, open_high = kind.range
        return st.floats(low, min(high, 1e300), exclude_min=open_low, exclude_max=open_high)
    if kind.base is int:
        return st.integers(int(kind.range.low), int(kind.range.high))
    return {bool: st.booleans(), str: st.sampled_from(kind.choices or ("text",))}[kind.base]


@st.composite
def replays(draw: st.DrawFn) -> vb.Replay:
    """Logs of a few events; the names of the arms may be any texts."""
    events = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    counts = [draw(st.integers(0, most)) for most in events]
    rewards = draw(st.none() | st.lists(st.floats(0, 1), min_size=sum(events), max_size=sum(events)))
    texts = st.sampled_from(["none", "a/b", "a,b=c:d", "100 %", "%6E", "\t"]) | st.text(min_size=1)
    labels = draw(st.none() | st.lists(texts, min_size=len(events), max_size=len(events), unique=True))
    return vb.Replay(
        mode=draw(st.sampled_from(["exact", "bootstrap"])),
        events=events,
        successes=counts if rewards is None else None,
        rewards=rewards,
        labels=labels,
    )


def things(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Objects of a class; parameters that have a default are given or left out."""
    if cls is vb.Replay:
        return replays()
    needed: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for parameter in registry.declared(cls):
        (needed if parameter.required else optional)[parameter.name] = values(parameter.kind)
    if issubclass(cls, vb.Script):
        needed["modes"] = st.text("-0+", min_size=1, max_size=4).map(lambda signs: f"-{signs}")
    return st.fixed_dictionaries(needed, optional=optional).map(lambda parameters: cls(**parameters))


@pytest.mark.parametrize(("kind", "cls"), REGISTERED, ids=lambda part: getattr(part, "name", part))
@examples(50)
@given(data=st.data())
def test_a_spec_gives_back_the_object_that_it_was_made_of(kind: str, cls: type[Any], data: st.DataObject) -> None:
    thing = data.draw(things(cls))
    spec = registry.spec_of(thing)
    again = PARSE[kind](spec)
    assert again == thing
    assert type(again) is cls
    assert registry.spec_of(again) == spec
    assert " " not in spec


@pytest.mark.parametrize(
    ("thing", "spec"),
    [
        (vb.SEWR(budget=100.0, radius="tight"), "se-wr:budget=100,radius=tight"),
        (vb.SEWR(budget=0.5, delta=1e-9), "se-wr:budget=0.5,delta=1e-09"),
        (vb.UCB1(alpha=2), "ucb1"),
        (vb.MSSEWR(share=np.True_, smoothing=np.False_), "ms-se-wr:share=true,smoothing=false"),  # type: ignore[arg-type]
        (vb.Conceal(budget=float("inf"), arm=np.int64(1)), "conceal:arm=1"),  # type: ignore[arg-type]
        (vb.Conceal(budget=10**20), "conceal:budget=1e+20"),
        (vb.Bernoulli(np.array([1.0, 0.25])), "bernoulli:means=1/0.25"),  # type: ignore[arg-type]
        (vb.Replay(events=[3, 2], successes=[1, 0]), "replay:events=3/2,successes=1/0"),
        (
            vb.Replay(mode="bootstrap", events=[2], successes=None, rewards=[0.5, 1], labels=["a b"]),
            "replay:mode=bootstrap,events=2,successes=none,labels=a%20b,rewards=0.5/1",
        ),
    ],
    ids=repr,
)
def test_a_spec_says_what_is_not_the_default_in_plain_words(thing: Any, spec: str) -> None:
    assert registry.spec_of(thing) == spec
    (parsed,) = (PARSE[kind](spec) for kind, cls in REGISTERED if cls is type(thing))
    assert parsed == thing


def test_none_is_a_word() -> None:
    assert registry.adversary("none") is None
    assert registry.policy("se:delta=none") == vb.SE(delta=None)
    assert registry.adversary("conceal:arm=none,budget=inf") == vb.Conceal()


def test_names_are_sorted_kebab_case_and_those_of_the_classes() -> None:
    for kind in PARSE:
        known = registry.known(kind)
        assert list(known) == sorted(known)
        assert all(cls.name == name == name.lower() and "_" not in name for name, cls in known.items())


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("policy", "sewr:budget=1", "unknown policy 'sewr'; did you mean 'se-wr'?"),
        ("policy", "", "unknown policy ''; known: barbar, "),
        ("policy", "none", "unknown policy 'none'; "),
        ("policy", "SE", "unknown policy 'SE'; "),
        ("adversary", "conseal", "unknown adversary 'conseal'; did you mean 'conceal'?"),
        ("environment", "bernouli:means=1", "unknown environment 'bernouli'; did you mean 'bernoulli'?"),
        ("environment", "zzz", "unknown environment 'zzz'; known: bernoulli, beta, "),
        ("policy", "se-wr:budgt=1", "unknown parameter of se-wr 'budgt'; did you mean 'budget'?"),
        ("policy", "ucb1:name=1", "unknown parameter of ucb1 'name'; "),
        ("policy", "se:radius=tigth", "unknown radius 'tigth'; did you mean 'tight'?"),
    ],
)
def test_an_unknown_name_is_met_with_the_nearest_one(kind: str, spec: str, message: str) -> None:
    with pytest.raises(UnknownName) as caught:
        PARSE[kind](spec)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("policy", "se-wr", "policy se-wr: expected se-wr:budget=…, got no budget"),
        ("environment", "beta:concentration=1", "environment beta: expected beta:means=…, got no means"),
        ("policy", "ucb1:alpha=1,alpha=1", "policy ucb1: expected each parameter once, got 'alpha' twice"),
        ("policy", "ucb1:alpha", "policy ucb1: expected key=value, got 'alpha'"),
        ("policy", "ucb1:alpha=", "ucb1: alpha: expected a number, got ''"),
        ("policy", "se-wr:budget=x", "se-wr: budget: expected a number, got 'x'"),
        ("policy", "se-wr:budget=none", "se-wr: budget: expected a number, got 'none'"),
        ("policy", "se-wr:budget=-1", "se-wr: budget: expected a number in [0, 1e+18], got -1.0"),
        ("policy", "se-wr:budget=nan", "se-wr: budget: expected a number in [0, 1e+18], got nan"),
        ("policy", "se:delta=1", "se: delta: expected a number in (0, 1), got 1.0"),
        ("policy", "ms-se-wr:share=yes", "ms-se-wr: share: expected true or false, got 'yes'"),
        ("adversary", "conceal:arm=1.5", "conceal: arm: expected a whole number, got '1.5'"),
        ("environment", "bernoulli:means=0.5//1", "bernoulli: means: expected a number, got ''"),
        ("environment", "bernoulli:means=0.5/1.5", "bernoulli: means[1]: expected a number in [0, 1], got 1.5"),
        ("policy", 3, "policy: expected a text such as name:key=value, got 3"),
        ("environment", None, "environment: expected a text such as name:key=value, got None"),
        ("adversary", vb.Conceal(), "adversary: expected a text such as name:key=value, got Conceal("),
    ],
)
def test_a_wrong_spec_is_met_with_what_was_expected(kind: str, spec: Any, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        PARSE[kind](spec)
    assert str(caught.value).startswith(message)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guest(vb.UCB1):
    name = "guest"

    shades: Sequence[int] = dataclasses.field(default_factory=lambda: (1, 2))


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that brings a policy of its own and another one under a name that is taken."""
    entries = [SimpleNamespace(name=name, load=lambda: Guest) for name in ("guest", "ucb1")]

    def entry_points(*, group: str) -> list[SimpleNamespace]:
        return entries if group == "vambrace.policies" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.setattr(registry, "entry_points", entry_points, raising=False)
    registry.known.cache_clear()
    yield
    registry.known.cache_clear()


@pytest.mark.usefixtures("guests")
def test_other_packages_add_names_but_replace_none() -> None:
    assert registry.known("policy")["guest"] is Guest
    assert registry.known("policy")["ucb1"] is vb.UCB1
    assert "guest" not in registry.known("adversary")
    assert registry.policy("guest:alpha=1,shades=3/4") == Guest(alpha=1, shades=(3, 4))
    assert registry.spec_of(Guest(shades=(3,))) == "guest:shades=3"
    with pytest.raises(UnknownName, match="did you mean 'guest'"):
        registry.policy("gest")


@pytest.mark.usefixtures("guests")
def test_a_default_factory_is_a_default() -> None:
    assert registry.policy("guest") == Guest()
    assert registry.spec_of(Guest()) == "guest"
