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
such names too: programs from disk are linked by name, and two processes would otherwise name different parts alike.
"""

import re
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from vambrace.errors import InvalidParameter, KernelMistake, shorten

Function = TypeVar("Function", bound=Callable[..., Any])

# Without reference counting ("_nrt") a round of SE-WR takes 9 ns instead of 63. The price: a kernel cannot create
# arrays, it works on those that it is given.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
PIPELINE = 2  # counts the changes of `_part_compiler`: programs on disk that an older one made are not taken
PART = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only kernels call it: compiles faster

_parts: dict[Any, tuple[Any, str]] = {}  # (kernel, slots) -> (dispatcher, fingerprint)
_programs: dict[Any, Any] = {}  # (kernel, slots) -> dispatcher
_bound: dict[Any, Any] = {}  # (kernel, slots) -> plain Python with its slots bound
_MARK = "__vambrace_kernel__"

MISTAKES = (  # what Numba reports -> what the author of a kernel should do
    (
        r"NRT required|Only accept returning of array",
        "creates an array; make it in init and change it in place",
    ),
    (r"[Uu]nsupported array index type float64", "a float where a whole number is needed: use int(...)"),
    (r"Untyped global name '(\w+)'", "{0!r} is no number, NamedTuple or @kernel function"),
    (r"Unknown attribute '(\w+)' of type", "there is no attribute {0!r} here"),
    (r"Cannot unify (\S+) and (\S+) for '(\w+)", "{2!r} is of two types: {0} and {1}"),
)


class Slot:
    """A place that is filled in when a program is made: `select = Slot("select")`.

    A slot for a constant is true until it is filled in, so that plain Python has every branch.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        return True

    def __call__(self, *_: Any) -> Any:
        """A slot is only called when somebody runs a kernel that was never made into a program."""
        raise NotImplementedError(f"the slot {self.name!r} was not bound")


def kernel(function: Function) -> Function:
    """Mark a function of a policy, an adversary or an environment of your own, to be run as machine code.

    It stays an ordinary function, to be called and debugged as such. Inside, use numbers, NamedTuples of numbers and
    arrays, and other kernels; make arrays outside, in `init`. Calls to it are inlined; use `rare_kernel` for what
    seldom runs.

    Args:
        function: The function to mark; a lambda will not do.

    >>> import vambrace as vb
    >>> @vb.kernel
    ... def middle(low, high):
    ...     return 0.5 * (low + high)
    >>> middle(0.25, 0.75)
    0.5
    """
    return _marked(function, "inline")


def rare_kernel(function: Function) -> Function:
    """`kernel` for what seldom runs: called, not inlined, which keeps the hot loop small and compiling quick.

    Args:
        function: The function to mark.

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
    return _marked(function, "call")


def _marked(function: Function, how: str) -> Function:
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>":
        found = f"a lambda ({place(function)})" if isinstance(function, types.FunctionType) else repr(function)
        raise InvalidParameter(f"kernel: expected a function made with def, got {found}")
    setattr(function, _MARK, how)
    return function


def place(function: Callable[..., Any]) -> str:
    """Where a function stands in its source: file and line."""
    code = function.__code__
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


def is_kernel(thing: object) -> bool:
    """Whether a function was marked with `@kernel` or `@rare_kernel`."""
    return hasattr(thing, _MARK)


def interpreted(function: Function, slots: Mapping[str, Any]) -> Function:
    """The function as plain Python, with its slots bound, and likewise every kernel that it calls."""
    filled = _slots_of(function, slots)
    if not filled:
        return function
    key = (function, filled)
    if key not in _bound:
        fillings = {name: _filled(value, slots) for name, value in _mentions(function)}
        parts = {name: interpreted(each, slots) if is_kernel(each) else each for name, each in fillings.items()}
        _bound[key] = _rebuilt(function, parts, function.__qualname__)
    bound: Function = _bound[key]
    return bound


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


def is_ready(program: Any) -> bool:
    """Whether a compiled function runs at once: its machine code is in memory or on disk."""
    if program.signatures:
        return True
    folder = program.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*.{program.py_func.__qualname__}-*.nbi"))


def compile_now(call: Callable[[], Any]) -> None:
    """Make the first call of a program, which compiles it; a mistake in a kernel becomes one sentence."""
    from numba.core.errors import NumbaError

    try:
        call()
    except NumbaError as error:
        raise KernelMistake(_in_one_sentence(str(error))) from None


def _in_one_sentence(report: str) -> str:
    """What Numba's report says, with the innermost line of the kernels that it names."""
    report = re.sub(r"\x1b\[[0-9;]*m", "", report)
    places = re.findall(r'^File "([^"]+)", line (\d+):', report, re.M)
    where = next((f"{Path(file).name}, line {n}" for file, n in places if "site-packages" not in file), "a kernel")
    for pattern, sentence in MISTAKES:
        if found := re.search(pattern, report):
            return f"{where}: {sentence.format(*found.groups())}"
    return f"{where}: cannot be compiled; Numba says: {shorten(' '.join(report.split()[9:]))}"


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
    digest = hashlib.sha256(repr((made_of, defaults, OPTIONS, PIPELINE)).encode())
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
        options = {**PART, "forceinline": inline, "pipeline_class": _part_compiler()}
        _parts[key] = (numba.njit(**options)(part), f"{fingerprint}{inline}")
    return _parts[key]


@cache
def _part_compiler() -> type:
    """A compiler for functions that only other compiled functions call.

    Numba would optimise each of them and turn it into machine code, and then do it all again where it is called. Here
    both are left to the program. A quarter of the time for compiling goes.
    """
    from numba.core import codegen, compiler, compiler_machinery, typed_passes

    library: Any = codegen.JITCodeLibrary
    lowering: Any = typed_passes.NativeLowering
    builder: Any = compiler.DefaultPassBuilder
    standard: Any = compiler.Compiler
    register: Any = compiler_machinery.register_pass

    class PartLibrary(library):  # type: ignore[misc]
        codegen = property(lambda self: types.SimpleNamespace(set_env=lambda name, environment: None))

        def _optimize_final_module(self) -> None:
            for function in self._final_module.functions:  # a rare kernel, inlined into the loop, slows it threefold
                own = not function.is_declaration and self.name[-16:] in function.name
                if own and b"alwaysinline" not in b" ".join(function.attributes):
                    function.add_function_attribute("noinline")

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0

    @register(mutates_CFG=True, analysis_only=False)
    class PartLowering(lowering):  # type: ignore[misc]
        _name = "part_lowering"

        def run_pass(self, state: Any) -> bool:
            state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            return bool(super().run_pass(state))

    class PartCompiler(standard):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            manager = builder.define_nopython_pipeline(self.state)
            manager.passes = [(PartLowering if each is lowering else each, why) for each, why in manager.passes]
            manager.finalize()
            return [manager]

    return PartCompiler


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
    copy.__dict__.update(function.__dict__)  # its mark
    return copy
