"""Copies of a state: kernels for attacks that try things on a copy of the attacked policy.

A kernel cannot make arrays, so a copy needs a second state of the same shape, whose arrays are overwritten. There is
one kernel for each type of state, put together from kernels for its fields.
"""

from functools import cache
from typing import Any

import numpy as np

from vambrace.kernels import kernel
from vambrace.signatures import Copy


@kernel
def _number(value: Any, into: Any) -> Any:
    return value


@kernel
def _line(value: Any, into: Any) -> Any:
    for i in range(len(value)):
        into[i] = value[i]
    return into


@kernel
def _table(value: Any, into: Any) -> Any:
    for i in range(value.shape[0]):
        for k in range(value.shape[1]):
            into[i, k] = value[i, k]
    return into


@kernel
def _nothing(value: Any, into: Any) -> Any:
    return ()


@cache  # the same kernel for the same type of state, so that nothing is compiled twice
def _pair(first: Copy, others: Copy) -> Copy:
    @kernel
    def copy(value: Any, into: Any) -> Any:
        return (first(value[0], into[0]), *others(value[1:], into[1:]))

    return copy


@cache
def _tuple(make: Any, fields: Copy) -> Copy:
    @kernel
    def copy(value: Any, into: Any) -> Any:
        return make(*fields(value, into))

    return copy


def copier(state: Any) -> Copy:
    """The kernel copy(state, into) -> state: the same numbers, in the arrays of `into`.

    Args:
        state: A state of the type that is to be copied.

    >>> from vambrace.policies import UCB1
    >>> from vambrace.protocols import Game
    >>> one, other = UCB1().init(Game(2)), UCB1().init(Game(2))
    >>> one.totals[0] = 5.0
    >>> same = copier(one)(one, other)
    >>> same.totals.tolist(), same.totals is other.totals
    ([5.0, 0.0], True)
    """
    if hasattr(state, "_fields"):
        fields: Copy = _nothing
        for value in reversed(state):
            fields = _pair(copier(value), fields)
        make: Any = type(state)
        return _tuple(make, fields)
    if isinstance(state, np.ndarray):
        return _line if state.ndim == 1 else _table
    return _number
