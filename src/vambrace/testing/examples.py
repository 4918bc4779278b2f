"""One object of every registered class, for tests that run over the registry."""

from typing import Any

from vambrace import registry


def examples(kind: str) -> list[Any]:
    """Every registered "policy", "adversary" or "environment"; parameters without default get a small value.

    >>> from vambrace.testing import examples
    >>> "se-wr" in [policy.name for policy in examples("policy")]
    True
    """
    found = registry.specimens(kind, budget=5.0, means=(0.8, 0.5, 0.2), events=(300, 200), successes=(90, 20))
    missing = [name for name in registry.known(kind) if name not in found]
    if missing:
        raise AssertionError(f"{missing[0]}: give its parameters defaults, or a value for examples here")
    return list(found.values())
