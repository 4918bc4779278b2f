"""`@kernel`: one source, run compiled by the simulator and interpreted by the live learner.

A kernel is an ordinary Python function on numbers, arrays and NamedTuples. The decorator only marks it, so importing
vambrace does not import Numba, and calling a kernel runs plain Python. `compiled` turns a kernel and every kernel it
calls into machine code; `interpreted` gives the same function as plain Python. Both can bind *slots*: global names
that the function mentions and that are filled in for one use (the game loop's `select`, `update`, `draw`, ...).

Every Numba option of the package lives here, and nowhere else.

Why slots and not arguments: Numba's disk cache never hits for a function that takes other compiled functions, because
their identity is random. Here each combination gets a name of its own that ends in a fingerprint of everything it was
made of (its bytecode, the constants it mentions, and the same of each kernel it calls). A second process therefore
finds the machine code on disk and compiles nothing, and a changed source can never meet a stale file.
"""

import hashlib
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Without reference counting ("_nrt") a round of SE-WR takes 9 ns instead of 63. The price: a kernel cannot create
# arrays, it works on those that it is given.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}

_parts: dict[Any, tuple[Any, str]] = {}  # kernel -> (dispatcher, fingerprint)
_programs: dict[Any, Any] = {}  # (kernel, slots) -> dispatcher
_MARK = "__vambrace_kernel__"


def kernel(function: Function) -> Function:
    """Mark a function as compilable, and its calls to be inlined. It stays an ordinary function."""
    setattr(function, _MARK, "inline")
    return function


def rare_kernel(function: Function) -> Function:
    """The same for what seldom runs: called, not inlined, which keeps the hot loop small and compiling quick."""
    setattr(function, _MARK, "call")
    return function


def is_kernel(thing: object) -> bool:
    """Whether a function was marked with `@kernel` or `@rare_kernel`."""
    return hasattr(thing, _MARK)


def interpreted(function: Callable[..., Any], slots: Mapping[str, Any]) -> Callable[..., Any]:
    """The function as plain Python, with its slots bound."""
    return _with_globals(function, slots, function.__qualname__)


def compiled(function: Callable[..., Any], slots: Mapping[str, Any]) -> Callable[..., Any]:
    """The function as machine code, with its slots bound; kept in memory and, where Numba can, on disk."""
    key = (function, tuple(sorted(slots.items())))
    if key not in _programs:
        import numba

        bound, fingerprint = _bind(function, slots)
        program = _with_globals(function, bound, f"{function.__qualname__}_{fingerprint[:16]}")
        try:
            _programs[key] = numba.njit(cache=True, **OPTIONS)(program)
        except RuntimeError:  # no place on disk for this function: it was typed into a console
            _programs[key] = numba.njit(**OPTIONS)(program)
    return _programs[key]


def cache_statistics() -> tuple[int, int]:
    """How many programs of this process came from disk, and how many had to be compiled."""
    statistics = [program.stats for program in _programs.values()]
    return (
        sum(sum(each.cache_hits.values()) for each in statistics),
        sum(sum(each.cache_misses.values()) for each in statistics),
    )


def _bind(function: Callable[..., Any], slots: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """What each global name stands for in the compiled form, and a fingerprint of it all."""
    code = function.__code__
    digest = hashlib.sha256(repr((code.co_code, code.co_consts, code.co_varnames, OPTIONS)).encode())
    bound: dict[str, Any] = {}
    for name in code.co_names:
        if name in slots:
            value = slots[name]
        elif name in function.__globals__:
            value = function.__globals__[name]
        else:
            digest.update(name.encode())  # an attribute or a builtin
            continue
        if is_kernel(value):
            value, identity = _part(value)
        else:
            identity = _identity(value)
        bound[name] = value
        digest.update(f"{name}={identity};".encode())
    return bound, digest.hexdigest()


def _part(function: Callable[..., Any]) -> tuple[Any, str]:
    """A kernel as it is called by another one, and its fingerprint."""
    if function not in _parts:
        import numba

        bound, fingerprint = _bind(function, {})
        inline = getattr(function, _MARK) == "inline"
        part = _with_globals(function, bound, function.__qualname__)
        _parts[function] = (numba.njit(forceinline=inline, **OPTIONS)(part), f"{fingerprint}{inline}")
    return _parts[function]


def _identity(value: Any) -> str:
    """A text that changes when a global that a kernel mentions changes its meaning."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__qualname__}{getattr(value, '_fields', '')}"
    if callable(value):  # not a kernel: a builtin, or an attribute that shares its name with a global
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "tobytes"):
        return hashlib.sha256(value.tobytes()).hexdigest()
    return repr(value)


def _with_globals(function: Callable[..., Any], replaced: Mapping[str, Any], qualname: str) -> Callable[..., Any]:
    scope = {**function.__globals__, **replaced}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    copy.__qualname__ = qualname
    copy.__module__ = function.__module__
    return copy
