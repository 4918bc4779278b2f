"""Names: kebab-case name -> class, and spec strings <-> objects.

A spec is a name with parameters: ``se-wr:budget=100,radius=tight``; a list of numbers is joined with slashes:
``bernoulli:means=0.9/0.8``. Other packages add their own through the entry point groups ``vambrace.policies``,
``vambrace.adversaries`` and ``vambrace.environments``.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from vambrace import adversaries, environments, policies
from vambrace.errors import InvalidParameter, MissingExtra, UnknownName, VambraceError
from vambrace.protocols import Adversary, Environment, Policy

Thing = TypeVar("Thing", Policy, Adversary, Environment)

_MODULES = {"policy": policies, "adversary": adversaries, "environment": environments}
_GROUPS = {"policy": "vambrace.policies", "adversary": "vambrace.adversaries", "environment": "vambrace.environments"}


@cache
def known(kind: str) -> Mapping[str, type[Any]]:
    """Every registered class of a kind ("policy", "adversary" or "environment") by its name, sorted."""
    from importlib import metadata  # slow to import, and seldom needed

    module = _MODULES[kind]
    classes = {thing.name: thing for thing in (getattr(module, name) for name in module.__all__)}
    for entry in metadata.entry_points(group=_GROUPS[kind]):
        try:
            classes.setdefault(entry.name, entry.load())
        except Exception as error:
            raise MissingExtra(f"entry point {entry.value}: expected a class, got {error!r}") from error
    return dict(sorted(classes.items()))


def policy(spec: str) -> Policy:
    """The policy of a spec string.

    >>> from vambrace import registry
    >>> registry.policy("se-wr:budget=100,radius=tight")
    SEWR(budget=100.0, delta=None, radius='tight')
    """
    return _parse("policy", spec)


def adversary(spec: str) -> Adversary | None:
    """The adversary of a spec string; "none" is no adversary."""
    return None if spec == "none" else _parse("adversary", spec)


def environment(spec: str) -> Environment:
    """The environment of a spec string."""
    return _parse("environment", spec)


def spec_of(thing: Policy | Adversary | Environment) -> str:
    """The spec string of an object: what is not its default, in the order of its parameters."""
    types = get_type_hints(type(thing))
    parts = [
        f"{field.name}={_text(getattr(thing, field.name), types[field.name])}"
        for field in dataclasses.fields(thing)  # type: ignore[arg-type]
        if is_required(field) or getattr(thing, field.name) != _default(field)
    ]
    return f"{thing.name}:{','.join(parts)}" if parts else thing.name


def is_required(field: "dataclasses.Field[Any]") -> bool:
    """Whether a parameter has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _parse(kind: str, spec: str) -> Any:
    if not isinstance(spec, str):
        raise InvalidParameter(f"{kind}: expected a text such as name:key=value, got {spec!r}")
    name, _, rest = spec.partition(":")
    classes = known(kind)
    if name not in classes:
        raise UnknownName(kind, name, classes)
    types = {field.name: get_type_hints(classes[name])[field.name] for field in dataclasses.fields(classes[name])}
    values = {}
    for part in filter(None, rest.split(",")):
        key, equals, text = part.partition("=")
        if not equals:
            raise InvalidParameter(f"{kind} {name}: expected key=value, got {part!r}")
        if key not in types:
            raise UnknownName(f"parameter of {name}", key, types)
        if key in values:
            raise InvalidParameter(f"{kind} {name}: expected each parameter once, got {key!r} twice")
        values[key] = _value(f"{name}: {key}", types[key], text)
    missing = [
        field.name for field in dataclasses.fields(classes[name]) if is_required(field) and field.name not in values
    ]
    if missing:
        raise InvalidParameter(f"{kind} {name}: expected {name}:{missing[0]}=…, got no {missing[0]}")
    try:
        return classes[name](**values)
    except VambraceError as error:
        raise type(error)(f"{name}: {error}") if type(error) is InvalidParameter else error from None


def _value(where: str, kind: Any, text: str) -> Any:
    """A text as what the parameter's type says."""
    if get_origin(kind) is UnionType or type(None) in get_args(kind):
        if text == "none":
            return None
        kind = next(each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) in (Sequence, tuple):
        return tuple(_value(where, get_args(kind)[0], each) for each in text.split("/"))
    if kind is str:
        return text
    if kind is bool:
        if text not in ("true", "false"):
            raise InvalidParameter(f"{where}: expected true or false, got {text!r}")
        return text == "true"
    try:
        return int(text) if kind is int else float(text)
    except ValueError:
        expected = "a whole number" if kind is int else "a number"
        raise InvalidParameter(f"{where}: expected {expected}, got {text!r}") from None


def _text(value: Any, kind: Any) -> str:
    """A value as `_value` reads it; numbers in one way each, so that equal objects have equal specs."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "/".join(_text(each, *get_args(kind)[:1]) for each in value)
    if isinstance(value, str):
        return value
    if int in (kind, *get_args(kind)):
        return repr(int(value))
    number = float(value)
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
