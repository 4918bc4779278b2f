"""Parameters as text: from an object to its spec string, and from a text to the value of a parameter.

In a text parameter, spaces and the special characters of a spec are written as in a web address: %2C.
"""

import dataclasses
import re
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from vambrace.errors import InvalidParameter
from vambrace.parameters import Kind, declared


def spec_of(thing: Any, *, without: str = "") -> str:
    """The spec string of an object: the parameters that differ from their defaults, in order, except `without`.

    No attack, that is None, is "none".
    """
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):  # a foreign object has only a name
        return "none" if thing is None else str(getattr(thing, "name", thing))
    values = [(each, getattr(thing, each.name)) for each in declared(type(thing)) if each.name != without]
    parts = [
        f"{each.name}={_text(value, each.kind)}" for each, value in values if each.required or value != each.default
    ]
    name: str = getattr(thing, "name", type(thing).__name__)
    return f"{name}:{','.join(parts)}" if parts else name


def value_of(where: str, kind: Any, text: str) -> Any:
    """The value of a text for a parameter of this kind, a type or a `Kind`; an error says `where` it is."""
    kind = kind if isinstance(kind, Kind) else Kind.of(kind)
    if kind.optional and text == "none":
        return None
    if kind.items is not None:
        return tuple(value_of(where, kind.items, each) for each in text.split("/"))
    if kind.base is str:
        return unquote(text)
    if kind.base is bool:
        if text not in ("true", "false"):
            raise InvalidParameter(f"{where}: expected true or false, got {text!r}")
        return text == "true"
    try:
        return int(text) if kind.base is int else float(text)
    except ValueError:
        expected = "a whole number" if kind.base is int else "a number"
        raise InvalidParameter(f"{where}: expected {expected}, got {text!r}") from None


def _text(value: Any, kind: Kind) -> str:
    """A value as a text for `value_of`; equal numbers give equal texts, so that equal objects have equal specs."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "/".join(_text(each, kind.items or kind) for each in value)
    if isinstance(value, str):  # "none" has its own meaning
        return "%6Eone" if value == "none" else re.sub(r"[%,/=\s]", lambda found: quote(found[0], safe=""), value)
    if kind.base is int:
        return repr(int(value))
    number = float(value)
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
