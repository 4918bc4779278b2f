"""How often a test repeats: a part in `make test`, which people wait for, and all of it in `make test-slow`."""

import os
from typing import TypeVar

from hypothesis import settings

Value = TypeVar("Value")
THOROUGH = os.environ.get("VAMBRACE_TESTS") == "thorough"  # set by `make test-slow`


def repeated(thorough: Value, *, quick: Value) -> Value:
    """One of two numbers of repetitions."""
    return thorough if THOROUGH else quick


def examples(thorough: int) -> settings:
    """This number of examples of Hypothesis, or a fifth of it."""
    return settings(max_examples=repeated(thorough, quick=max(5, thorough // 5)))
