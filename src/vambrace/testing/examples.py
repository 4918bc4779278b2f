"""One object of every registered class, for tests that run over the registry."""

import dataclasses
from typing import Any

from vambrace import registry

REQUIRED: dict[str, Any] = {"budget": 5.0, "means": (0.8, 0.5, 0.2)}


def examples(kind: str) -> list[Any]:
    """Every registered "policy", "adversary" or "environment" with its defaults; what has none gets a small value.

    >>> from vambrace.testing import examples
    >>> [policy.name for policy in examples("policy")][:2]
    ['ms-se-wr', 'pe-wr']
    """
    return [_example(thing) for thing in registry.known(kind).values()]


def _example(thing: type[Any]) -> Any:
    needed = [field.name for field in dataclasses.fields(thing) if registry.is_required(field)]
    return thing(**{name: REQUIRED[name] for name in needed})
