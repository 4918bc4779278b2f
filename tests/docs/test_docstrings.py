"""Every parameter of every public callable is described in Google style, where editors and the reference find it."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe
import pytest

import vambrace

PUBLIC = ("vambrace", "vambrace.theory", "vambrace.testing", "vambrace.lab")
INHERITED = {"init", "migrate", "standing", "widen", "arm_means", "bad_draw"}  # described once, in vambrace.protocols


@cache
def load(source: Path = Path(__file__).parents[2] / "src", name: str = "vambrace") -> griffe.Module:
    """A package as its source has it; nothing of it is run."""
    found = griffe.load(name, search_paths=[source], docstring_parser="google", allow_inspection=False)
    assert isinstance(found, griffe.Module)
    return found


@pytest.fixture(scope="module", params=PUBLIC)
def module(request: pytest.FixtureRequest) -> griffe.Module:
    found = load()[".".join(request.param.split(".")[1:])] if "." in request.param else load()
    assert isinstance(found, griffe.Module)
    return found


def public(module: griffe.Module) -> Iterator[griffe.Class | griffe.Function]:
    """What a module exports, and the public methods of its classes; vambrace itself exports when it is asked."""
    lazy = vambrace._HOME if module.path == "vambrace" else {}
    names = [f"{home.removeprefix('vambrace.')}.{name}" for name, home in lazy.items()] or module.exports or ()
    for name in names:
        thing = module[str(name)]
        thing = thing.final_target if thing.is_alias else thing
        if isinstance(thing, griffe.Function):
            yield thing
        if isinstance(thing, griffe.Class):
            yield thing
            yield from (
                method
                for name, method in thing.members.items()
                if isinstance(method, griffe.Function) and not name.startswith("_") and not is_inherited(thing, name)
            )


def is_inherited(owner: griffe.Class, method: str) -> bool:
    """Whether it is one of the methods that every policy, adversary and environment has, and not the first."""
    return method in INHERITED and owner.module.path != "vambrace.protocols"


def named(thing: griffe.Class | griffe.Function) -> set[str]:
    """The parameters in the docstring that have a description."""
    sections = thing.docstring.parsed if thing.docstring else []
    return {
        entry.name
        for section in sections
        if section.kind in (griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes)
        for entry in section.value
        if entry.description.strip()
    }


def parameters(thing: griffe.Class | griffe.Function) -> set[str]:
    """The parameters in the signature: of a class, what makes one."""
    return {each.name.lstrip("*") for each in thing.parameters} - {"self", "cls"}


def undescribed(module: griffe.Module) -> list[str]:
    return [f"{thing.path}({name})" for thing in public(module) for name in sorted(parameters(thing) - named(thing))]


def unknown(module: griffe.Module) -> list[str]:
    """Names in `Args:` and `Attributes:` that nothing bears."""
    found = []
    for thing in public(module):
        known = parameters(thing) | ({*thing.all_members} if isinstance(thing, griffe.Class) else set())
        found += [f"{thing.path}({name})" for name in sorted(named(thing) - known)]
    return found


def test_every_parameter_has_a_description(module: griffe.Module) -> None:
    assert len(list(public(module))) > 2, "nothing would be checked"
    assert undescribed(module) == []


def test_every_described_parameter_exists(module: griffe.Module) -> None:
    assert unknown(module) == []


def test_what_is_missing_is_found(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(SMALL, encoding="utf-8")
    module = load(tmp_path, "small")
    assert undescribed(module) == ["small.f(b)", "small.C(y)", "small.C.m(z)"]
    assert unknown(module) == ["small.f(gone)"]


SMALL = '''
from dataclasses import dataclass

__all__ = ["f", "C"]


def f(a: int, b: int) -> None:
    """F.

    Args:
        a: One.
        gone: Two.
    """


@dataclass
class C:
    """C.

    Attributes:
        x: One.
    """

    x: int
    y: int

    def m(self, z: int) -> None:
        """M."""


def hidden(a: int) -> None:
    """Not exported."""
'''
