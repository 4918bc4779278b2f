"""`@kernel`: one source, run compiled by the simulator and interpreted by the live learner.

The decorator only marks a function: importing vambrace does not import Numba, and calling a kernel runs plain Python.
`compiled` turns a kernel and every kernel it calls into machine code; `interpreted` gives the same function as plain
Python. Both bind *slots*: global names that a kernel uses and that get their values for one use (the game loop's
`select`, `update`, `draw`, ...). Every Numba option of the package is set here.

Why slots and not arguments: Numba's disk cache never hits for a function that takes other compiled functions, because
their identity is random. Here each combination gets its own name, which ends in a fingerprint of everything it is made
of (its module and bytecode, the constants it uses, and the same of each kernel it calls). A second process therefore
finds the machine code on disk and compiles nothing, and after a change of the source an old file is never used. The
parts have such names too: programs from disk are linked by name, and two processes would otherwise use one name for two
parts.
"""

import dis
import re
import time
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from vambrace.errors import InvalidParameter, KernelMistake, shorten
from vambrace.files import try_lock

Function = TypeVar("Function", bound=Callable[..., Any])

# Without reference counting ("_nrt") a round of SE-WR takes 9 ns instead of 63. In return a kernel cannot create
# arrays; it works on those that it is given.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
PIPELINE = 2  # counts the changes of `_part_compiler`: programs on disk that an older one made are not taken
PART = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only kernels call it: compiles faster

LOOK_AGAIN = 0.05  # seconds: how often to look whether another process has compiled a program

_parts: dict[Any, tuple[Any, str]] = {}  # (kernel, slots) -> (dispatcher, fingerprint)
_programs: dict[Any, Any] = {}  # (kernel, slots) -> dispatcher
_absent: set[Any] = set()  # programs that were looked for on disk in vain: looking takes longer than a short game
_bound: dict[Any, Any] = {}  # (kernel, slots) -> plain Python with its slots bound
_MARK = "__vambrace_kernel__"

MISTAKES = (  # what Numba reports -> what the author of a kernel should do
    (r"NRT required|Only accept returning of array", "creates an array; make it in init and change it in place"),
    (r"[Uu]nsupported array index type float64", "a float where a whole number is needed: use int(...)"),
    (r"Untyped global name '(\w+)'", "{0!r} is no number, NamedTuple or @kernel function"),
    (r"Unknown attribute '(\w+)' of type", "there is no attribute {0!r} here"),
    (r"Cannot unify (\S+) and (\S+) for '(\w+)", "{2!r} is of two types: {0} and {1}"),
)


class Slot:
    """A global name that gets its value when a program is made, such as `select = Slot("select")`; true until then."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: Any) -> Any:
        """Raise: a slot is only called if a kernel runs that was not made into a program."""
        raise NotImplementedError(f"the slot {self.name!r} was not bound")


def kernel(function: Function) -> Function:
    """Mark a function of your own policy, attack or environment, to be run as machine code.

    It stays an ordinary function that you can call and debug. Inside, use numbers, NamedTuples of numbers and arrays,
    and other kernels; make arrays outside, in `init`. Calls are inlined; use `rare_kernel` for code that runs rarely.

    Args:
        function: The function to mark, not a lambda.

    >>> import vambrace as vb
    >>> @vb.kernel
    ... def middle(low, high):
    ...     return 0.5 * (low + high)
    >>> middle(0.25, 0.75)
    0.5
    """
    return _marked(function, "inline")


def rare_kernel(function: Function) -> Function:
    """`kernel` for code that runs rarely: called, not inlined, which keeps the loop small and compiling fast.

    Args:
        function: The function to mark.

    >>> import vambrace as vb
    >>> @vb.rare_kernel
    ... def share(part, whole):
    ...     return part / whole if whole > 0 else 0.0
    >>> share(1.0, 4.0)
    0.25
    """
    return _marked(function, "call")


def _marked(function: Function, how: str) -> Function:
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>":
        found = f"a lambda ({place(function)})" if isinstance(function, types.FunctionType) else repr(function)
        raise InvalidParameter(f"kernel: expected a function made with def, got {found}")
    setattr(function, _MARK, how)
    return function


def place(function: Callable[..., Any]) -> str:
    """The file and line of a function."""
    code = function.__code__
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


def is_kernel(thing: object) -> bool:
    """Whether a function was marked with `@kernel` or `@rare_kernel`."""
    return hasattr(thing, _MARK)


def interpreted(function: Function, slots: Mapping[str, Any]) -> Function:
    """The function as plain Python, with its slots bound, also in every kernel that it calls."""
    key = (function, _used_slots(function, tuple(slots.items())))
    if not key[1]:
        return function
    if key not in _bound:
        used = _mentions(function, slots)
        parts = {name: interpreted(each, slots) if is_kernel(each) else each for name, _, each in used}
        _bound[key] = _rebuilt(function, parts, function.__qualname__)
    return cast(Function, _bound[key])


def compiled(function: Callable[..., Any], slots: Mapping[str, Any]) -> Callable[..., Any]:
    """The function as machine code, with its slots bound; kept in memory and, if Numba can, on disk."""
    key = (function, _used_slots(function, tuple(slots.items())))
    if key not in _programs:
        import numba

        program, _ = _bind(function, slots)
        try:
            _programs[key] = numba.njit(cache=True, **OPTIONS)(program)
        except RuntimeError:  # a function typed into a console cannot be cached on disk
            _programs[key] = numba.njit(**OPTIONS)(program)
    return _programs[key]


def is_loaded(program: Any) -> bool:
    """Whether a function runs at once: it is plain Python, or its machine code is in memory."""
    return bool(getattr(program, "overloads", True))  # `signatures` makes a list of them at each call


def is_ready(program: Any) -> bool:
    """Whether a compiled function need not be compiled: its machine code is in memory or on disk."""
    if is_loaded(program):
        return True
    folder = program.stats.cache_path
    if program in _absent or folder is None:
        return False
    found = any(Path(folder).glob(f"*.{program.py_func.__qualname__}-*.nbi"))
    if not found:
        _absent.add(program)
    return found


def compile_now(program: Any, call: Callable[[], Any]) -> None:
    """Make the first call of a program, which compiles it; an error in a kernel is reported in one sentence.

    If another process compiles the same program now, its result is awaited and taken from disk.
    """
    from numba.core.errors import NumbaError

    try:
        with _alone(program):
            call()
    except NumbaError as error:
        raise KernelMistake(_in_one_sentence(str(error))) from None


@contextmanager
def _alone(program: Any) -> Iterator[None]:
    """Keep other processes from compiling the same program, where it is kept on disk."""
    folder = program.stats.cache_path
    if folder is None:
        yield
        return
    path = Path(folder, f"{program.py_func.__qualname__}.lock")
    try:
        with path.open("a", encoding="utf-8") as file:
            while not try_lock(file):
                time.sleep(LOOK_AGAIN)
            yield
    finally:
        with suppress(OSError):  # another process has opened it, or removed it: then one of them compiles once more
            path.unlink()


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
    hits, misses = (each.cache_hits for each in statistics), (each.cache_misses for each in statistics)
    return sum(sum(each.values()) for each in hits), sum(sum(each.values()) for each in misses)


def _mentions(function: Callable[..., Any], slots: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each global and closed-over name that a function uses, its value, and what fills it if that is a slot."""
    code, scope = function.__code__, function.__globals__
    used = [(name, scope[name]) for name in _globals_of(code) if name in scope]
    used += [
        (name, cell.cell_contents) for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    ]
    for name, value in used:
        yield name, value, slots.get(value.name, value) if isinstance(value, Slot) else value


@cache  # reading the code of all kernels of a short game would take longer than the game
def _globals_of(code: types.CodeType) -> tuple[str, ...]:
    """The names that a function looks up in its module; `co_names` has attributes as well."""
    return tuple(dict.fromkeys(each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"))


@lru_cache(1024)  # the same games are played again and again, and short ones would spend their time here
def _used_slots(function: Callable[..., Any], filled: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """The slots that a function uses, directly or through the kernels that it calls, with their values."""
    found: dict[str, Any] = {}
    slots = dict(filled)
    waiting, seen = [function], {function}
    while waiting:
        for _, value, filling in _mentions(waiting.pop(), slots):
            if isinstance(value, Slot):
                found[value.name] = filling
            if is_kernel(filling) and filling not in seen:
                seen.add(filling)
                waiting.append(filling)
    return tuple(sorted(found.items()))


def _bind(function: Callable[..., Any], slots: Mapping[str, Any]) -> tuple[Callable[..., Any], str]:
    """A copy of a function that calls compiled kernels, named after the fingerprint of all it is made of, and that."""
    import hashlib  # here and not above: a live learner needs no compiler

    code = function.__code__
    made_of = (function.__module__, code.co_code, code.co_consts, code.co_names, code.co_varnames)
    defaults = (function.__defaults__, function.__kwdefaults__)
    digest = hashlib.sha256(repr((made_of, defaults, OPTIONS, PIPELINE)).encode())
    bound: dict[str, Any] = {}
    for name, _, filling in _mentions(function, slots):
        bound[name], identity = _part(filling, slots) if is_kernel(filling) else (filling, _identity(filling))
        if isinstance(filling, types.ModuleType):  # constants that are used through a module
            identity += str([_identity(getattr(filling, each, "")) for each in code.co_names])
        digest.update(f"{name}={identity};".encode())
    fingerprint = digest.hexdigest()
    return _rebuilt(function, bound, f"{function.__qualname__}_{fingerprint[:16]}"), fingerprint


def _part(function: Callable[..., Any], slots: Mapping[str, Any]) -> tuple[Any, str]:
    """A kernel in the form in which other kernels call it, and its fingerprint."""
    key = (function, _used_slots(function, tuple(slots.items())))
    if key not in _parts:
        import numba

        part, fingerprint = _bind(function, slots)
        inline = getattr(function, _MARK) == "inline"
        options = {**PART, "forceinline": inline, "pipeline_class": _part_compiler()}
        _parts[key] = (numba.njit(**options)(part), f"{fingerprint}{inline}")
    return _parts[key]


@cache
def _part_compiler() -> type:
    """A compiler for functions that only other compiled functions call, and which are optimised there.

    Numba would optimise them twice, alone and in the caller; without the first compiling takes a quarter less.
    """
    import numba

    core: Any = numba.core  # which is typed in part
    lowering: Any = core.typed_passes.NativeLowering

    class PartLibrary(core.codegen.JITCodeLibrary):  # type: ignore[misc]
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

    @core.compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
    class PartLowering(lowering):  # type: ignore[misc]
        _name = "part_lowering"

        def run_pass(self, state: Any) -> bool:
            state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            return bool(super().run_pass(state))

    class PartCompiler(core.compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            manager = core.compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes = [(PartLowering if each is lowering else each, why) for each, why in manager.passes]
            manager.finalize()
            return [manager]

    return PartCompiler


def _identity(value: Any) -> str:
    """A string that changes if the value of a global that a kernel uses changes."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, Slot):
        return f"slot {value.name}"
    if hasattr(value, "py_func"):  # compiled by Numba itself
        return _identity(value.py_func) + repr((value.py_func.__code__.co_code, value.py_func.__code__.co_consts))
    if callable(value):  # a class, which Numba imports from its module, or a builtin
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if hasattr(value, "tobytes"):
        return f"{value.dtype}{value.shape}{value.tobytes()}"
    return repr(value)


def _rebuilt(function: Callable[..., Any], bound: Mapping[str, Any], qualname: str) -> Callable[..., Any]:
    """A copy of a function with other values for the names that it uses."""
    closure = tuple(types.CellType(bound[name]) for name in function.__code__.co_freevars)
    scope = {**function.__globals__, **bound}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__, copy.__qualname__, copy.__module__ = function.__kwdefaults__, qualname, function.__module__
    copy.__dict__.update(function.__dict__)  # its mark
    return copy
