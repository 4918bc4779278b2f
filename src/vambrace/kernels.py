"""`@kernel`: one source, run compiled by the simulator and interpreted by the live learner.

A kernel is an ordinary Python function on numbers, arrays and NamedTuples. The decorator only marks it, so importing
vambrace does not import Numba, and calling a kernel runs plain Python. `compiled` turns a kernel and every kernel it
calls into machine code; `interpreted` gives the same function as plain Python. Both bind *slots*: global names that
a kernel mentions and that are filled in for one use (the game loop's `select`, `update`, `draw`, ...).

Every Numba option of the package lives here, and nowhere else.

Why slots and not arguments: Numba's disk cache never hits for a function that takes other compiled functions, because
their identity is random. Here each combination gets a name of its own that ends in a fingerprint of everything it was
made of (its bytecode, the constants it mentions, and the same of each kernel it calls). A second process therefore
finds the machine code on disk and compiles nothing, and a changed source can never meet a stale file. The parts carry
such names too: programs from disk are linked by name, and two processes would else name different parts alike.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Without reference counting ("_nrt") a round of SE-WR takes 9 ns instead of 63. The price: a kernel cannot create
# arrays, it works on those that it is given.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
PART = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only kernels call it: compiles faster

_parts: dict[Any, tuple[Any, str]] = {}  # (kernel, slots) -> (dispatcher, fingerprint)
_programs: dict[Any, Any] = {}  # (kernel, slots) -> dispatcher
_MARK = "__vambrace_kernel__"


class Slot:
    """A place that is filled in when a program is made: `select = Slot("select")`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: Any) -> Any:
        """A slot is only called when somebody runs a kernel that was never made into a program."""
        raise NotImplementedError(f"the slot {self.name!r} was not bound")


def kernel(function: Function) -> Function:
    """Mark a function of a policy, an adversary or an environment of your own, to be run as machine code.

    It stays an ordinary function, to be called and debugged as such. Inside, use numbers, NamedTuples of numbers and
    arrays, and other kernels; make arrays outside, in `init`. Calls to it are inlined; use `rare_kernel` for what
    seldom runs.

    >>> import vambrace as vb
    >>> @vb.kernel
    ... def middle(low, high):
    ...     return 0.5 * (low + high)
    >>> middle(0.25, 0.75)
    0.5
    """
    setattr(function, _MARK, "inline")
    return function


def rare_kernel(function: Function) -> Function:
    """`kernel` for what seldom runs: called, not inlined, which keeps the hot loop small and compiling quick.

    >>> import vambrace as vb
    >>> @vb.rare_kernel
    ... def total(values):
    ...     found = 0.0
    ...     for value in values:
    ...         found += value
    ...     return found
    >>> total([0.25, 0.5])
    0.75
    """
    setattr(function, _MARK, "call")
    return function


def is_kernel(thing: object) -> bool:
    """Whether a function was marked with `@kernel` or `@rare_kernel`."""
    return hasattr(thing, _MARK)


def interpreted(function: Callable[..., Any], slots: Mapping[str, Any]) -> Callable[..., Any]:
    """The function as plain Python, with its slots bound, and likewise every kernel that it calls."""
    if not _slots_of(function, slots):
        return function
    fillings = {name: _filled(value, slots) for name, value in _mentions(function)}
    bound = {name: interpreted(each, slots) if is_kernel(each) else each for name, each in fillings.items()}
    return _rebuilt(function, bound, function.__qualname__)


def compiled(function: Callable[..., Any], slots: Mapping[str, Any]) -> Callable[..., Any]:
    """The function as machine code, with its slots bound; kept in memory and, where Numba can, on disk."""
    key = (function, _slots_of(function, slots))
    if key not in _programs:
        import numba

        bound, fingerprint = _bind(function, slots)
        program = _rebuilt(function, bound, f"{function.__qualname__}_{fingerprint[:16]}")
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


def _mentions(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Each name from outside that a function mentions, with what it stands for there: globals and closed-over names."""
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _filled(value: Any, slots: Mapping[str, Any]) -> Any:
    """What a slot is filled with; a slot that nobody filled, and anything else, stays as it is."""
    return slots.get(value.name, value) if isinstance(value, Slot) else value


def _slots_of(function: Callable[..., Any], slots: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The slots that a function or a kernel that it calls, however deep, mentions, with their fillings."""
    found: dict[str, Any] = {}
    waiting, seen = [function], {function}
    while waiting:
        for _, value in _mentions(waiting.pop()):
            filling = _filled(value, slots)
            if isinstance(value, Slot):
                found[value.name] = filling
            if is_kernel(filling) and filling not in seen:
                seen.add(filling)
                waiting.append(filling)
    return tuple(sorted(found.items()))


def _bind(function: Callable[..., Any], slots: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """What each global name stands for in the compiled form, and a fingerprint of it all."""
    import hashlib  # here and not above: a live learner needs no compiler

    code = function.__code__
    made_of = (code.co_code, code.co_consts, code.co_names, code.co_varnames)
    defaults = (function.__defaults__, function.__kwdefaults__)
    digest = hashlib.sha256(repr((made_of, defaults, OPTIONS)).encode())
    bound: dict[str, Any] = {}
    for name, value in _mentions(function):
        filling = _filled(value, slots)
        bound[name], identity = _part(filling, slots) if is_kernel(filling) else (filling, _identity(filling))
        if isinstance(filling, types.ModuleType):  # constants that are mentioned through a module
            identity += str([_identity(getattr(filling, each, "")) for each in code.co_names])
        digest.update(f"{name}={identity};".encode())
    return bound, digest.hexdigest()


def _part(function: Callable[..., Any], slots: Mapping[str, Any]) -> tuple[Any, str]:
    """A kernel as it is called by another one, and its fingerprint."""
    key = (function, _slots_of(function, slots))
    if key not in _parts:
        import numba

        bound, fingerprint = _bind(function, slots)
        inline = getattr(function, _MARK) == "inline"
        part = _rebuilt(function, bound, f"{function.__qualname__}_{fingerprint[:16]}")
        _parts[key] = (numba.njit(forceinline=inline, **PART)(part), f"{fingerprint}{inline}")
    return _parts[key]


def _identity(value: Any) -> str:
    """A text that changes when a global that a kernel mentions changes its meaning."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type):  # Numba stores its module with the program, and imports it from there
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, Slot):
        return f"slot {value.name}"
    if hasattr(value, "py_func"):  # compiled by Numba itself
        return _identity(value.py_func) + repr((value.py_func.__code__.co_code, value.py_func.__code__.co_consts))
    if callable(value):  # not a kernel: a builtin, or an attribute that shares its name with a global
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "tobytes"):
        return f"{value.dtype}{value.shape}{value.tobytes()}"
    return repr(value)


def _rebuilt(function: Callable[..., Any], bound: Mapping[str, Any], qualname: str) -> Callable[..., Any]:
    """A copy of a function in which the names that it mentions stand for something else."""
    closure = tuple(types.CellType(bound[name]) for name in function.__code__.co_freevars)
    scope = {**function.__globals__, **bound}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = qualname
    copy.__module__ = function.__module__
    return copy
