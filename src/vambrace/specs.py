"""Parameters as text: the spec string of an object, and a text as the value that a parameter's type asks for.

In a text that is a parameter, the signs that a spec is made of and blanks are written as in a web address: %2C.
"""

import dataclasses
import re
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from vambrace.errors import InvalidParameter
from vambrace.parameters import Kind, declared


def spec_of(thing: Any) -> str:
    """The spec string of an object: what is not its default, in the order of its parameters."""
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):  # a foreign object: its name is all there is
        return str(getattr(thing, "name", thing))
    values = [(each, getattr(thing, each.name)) for each in declared(type(thing))]
    parts = [
        f"{each.name}={_text(value, each.kind)}" for each, value in values if each.required or value != each.default
    ]
    name: str = getattr(thing, "name", type(thing).__name__)
    return f"{name}:{','.join(parts)}" if parts else name


def value_of(where: str, kind: Any, text: str) -> Any:
    """A text as what a parameter's type says.

    Args:
        where: What an error calls the parameter.
        kind: Its type, or a `Kind`.
        text: The text.
    """
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
    """A value as `value_of` reads it; numbers in one way each, so that equal objects have equal specs."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "/".join(_text(each, kind.items or kind) for each in value)
    if isinstance(value, str):  # "none" is a word of its own
        return "%6Eone" if value == "none" else re.sub(r"[%,/=\s]", lambda found: quote(found[0], safe=""), value)
    if kind.base is int:
        return repr(int(value))
    number = float(value)
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
