"""Parameters as text: the spec string of an object, and a text as the value that a parameter's type asks for.

In a text that is a parameter, the signs that a spec is made of and blanks are written as in a web address: %2C.
"""

import dataclasses
import re
from collections.abc import Sequence
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import quote, unquote

import numpy as np

from vambrace.errors import InvalidParameter


def spec_of(thing: Any) -> str:
    """The spec string of an object: what is not its default, in the order of its parameters."""
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):  # a foreign object: its name is all there is
        return str(getattr(thing, "name", thing))
    types = _types(type(thing))
    parts = [
        f"{field.name}={_text(getattr(thing, field.name), types[field.name])}"
        for field in dataclasses.fields(thing)
        if is_required(field) or getattr(thing, field.name) != _default(field)
    ]
    name: str = getattr(thing, "name", type(thing).__name__)
    return f"{name}:{','.join(parts)}" if parts else name


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def is_required(field: "dataclasses.Field[Any]") -> bool:
    """Whether a parameter has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def value_of(where: str, kind: Any, text: str) -> Any:
    """A text as what the parameter's type says."""
    if get_origin(kind) is UnionType or type(None) in get_args(kind):
        if text == "none":
            return None
        kind = next(each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) in (Sequence, tuple):
        return tuple(value_of(where, get_args(kind)[0], each) for each in text.split("/"))
    if kind is str or get_origin(kind) is Literal:
        return unquote(text)
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
    """A value as `value_of` reads it; numbers in one way each, so that equal objects have equal specs."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "/".join(_text(each, *get_args(kind)[:1]) for each in value)
    if isinstance(value, str):  # "none" is a word of its own
        return "%6Eone" if value == "none" else re.sub(r"[%,/=\s]", lambda found: quote(found[0], safe=""), value)
    if int in (kind, *get_args(kind)):
        return repr(int(value))
    number = float(value)
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
