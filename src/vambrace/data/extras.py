"""Optional dependencies, imported where they are needed."""

from importlib import import_module
from typing import Any

from vambrace.errors import MissingExtra


def imported(module: str, extra: str, what: str) -> Any:
    """A module that comes with an extra; `what` it reads is named in the error if it is missing."""
    try:
        return import_module(module)
    except ImportError:
        needed = f"the extra {extra} (pip install 'vambrace[{extra}]')"
        raise MissingExtra(f"{what}: expected {needed}, got no module named {module!r}") from None
