"""Parameters are declared once: the type and the range in the annotation, the meaning in `Args:` of the docstring.

    budget: Budget                                  a number in [0, 1e+18]
    delta: Chance | None = None                     a number in (0, 1), or None
    radius: Literal["paper", "tight"] = "paper"     one of these words

The check of each value, the plain value that is stored, spec strings, `vambrace list` and the tables of the docs follow
from the declaration. Values of types that are not known here are stored unchanged. In a spec string, spaces and special
characters of a text are written as in a web address: %2C. Kernels are declared too: `HasKernels` checks them.
"""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from functools import cache
from math import inf
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, unquote

import numpy as np

from vambrace import validation
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.kernels import is_kernel, place

TYPES = {float: ("number", "numbers"), int: ("whole number", "whole numbers"), str: ("text", "texts")}
TYPES[bool] = ("true or false", "true or false")
PER_ARM = "one for each arm"  # a sequence that is not empty
Kernels = dict[str, str]  # name -> parameters
OLD_NAMES = ("pending", "t")  # second parameters of kernels in version 0.1


class Range(NamedTuple):
    """The range of a number, or of each number of a sequence; a number may be infinite only if an end is."""

    low: float = -inf
    high: float = inf
    open_low: bool = False  # whether the end itself is excluded
    open_high: bool = False


class Kind(NamedTuple):
    """What an annotation says."""

    base: Any  # float, int, bool or str; tuple for a sequence; any other type is not checked
    range: Range = Range()  # of a number
    choices: tuple[str, ...] = ()  # the allowed words, if there are only a few
    items: Any = None  # the kind of each value of a sequence
    per_arm: bool = False  # whether a sequence has one value for each arm
    optional: bool = False  # whether None is a value too

    @classmethod
    def of(cls, hint: Any) -> "Kind":
        """Read an annotation."""
        origin, parts = get_origin(hint), get_args(hint)
        if origin is Annotated:
            limits = next((note for note in parts[1:] if isinstance(note, Range)), Range())
            return cls.of(parts[0])._replace(range=limits, per_arm=PER_ARM in parts[1:])
        if origin in (Union, UnionType) and NoneType in parts and len(parts) == 2:
            return cls.of(parts[parts[0] is NoneType])._replace(optional=True)
        if origin is Literal and all(isinstance(word, str) for word in parts):
            return cls(str, choices=parts)
        if origin is Sequence or (origin is tuple and parts[1:] == (...,)):
            return cls(tuple, items=cls.of(parts[0]))
        return cls(hint)

    def check(self, name: str, value: Any) -> Any:
        """The value in its plain type; an error shows the name."""
        if self.optional and value is None:
            return None
        if self.items is not None:
            return self._check_each(name, value)
        if self.choices:
            return validation.choice(name, value, self.choices)
        if self.base is bool:
            return validation.flag(name, value)
        if self.base is str and not isinstance(value, str):
            raise InvalidParameter(f"{name}: expected a text, got {value!r}")
        if self.base is float:
            return validation.number(name, value, **self.range._asdict())
        if self.base is int:
            return validation.whole(name, value, low=self.range.low, high=self.range.high)
        return value

    def _check_each(self, name: str, values: Any) -> tuple[Any, ...]:
        if self.per_arm:
            validation.listed(name, values)
        elif not validation.is_sequence(values):
            raise InvalidParameter(f"{name}: expected a sequence, got {values!r}")
        low, high, *opened = self.items.range
        if self.items.base is float and not any(opened) and {*map(type, values)} == {float}:  # there may be millions
            array = np.array(values)
            if ((low <= array) & (array <= high)).all():
                return tuple(values)
        return tuple(self.items.check(f"{name}[{k}]", value) for k, value in enumerate(values))

    def parse(self, where: str, text: str) -> Any:
        """The value of a text, not checked yet; an error says `where` it is."""
        if self.optional and text == "none":
            return None
        if self.items is not None:
            return tuple(self.items.parse(where, each) for each in text.split("/"))
        if self.base is str:
            return unquote(text)
        if self.base is bool:
            if text not in ("true", "false"):
                raise InvalidParameter(f"{where}: expected true or false, got {text!r}")
            return text == "true"
        try:
            return int(text) if self.base is int else float(text)
        except ValueError:
            expected = "a whole number" if self.base is int else "a number"
            raise InvalidParameter(f"{where}: expected {expected}, got {text!r}") from None

    def text(self, value: Any) -> str:
        """A value as a text for `parse`; equal numbers give equal texts, so that equal objects have equal specs."""
        if value is None:
            return "none"
        if isinstance(value, bool | np.bool_):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return "/".join((self.items or self).text(each) for each in value)
        if isinstance(value, str):  # "none" has its own meaning
            return "%6Eone" if value == "none" else re.sub(r"[%,/=\s]", lambda found: quote(found[0], safe=""), value)
        if self.base is int:
            return repr(int(value))
        number = float(value)
        return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)

    def __str__(self) -> str:
        """The type in words."""
        if self.items is not None:
            words = f"{TYPES.get(self.items.base, ('', 'values'))[1]}{f', {PER_ARM}' if self.per_arm else ''}"
        elif self.choices:
            words = f"one of {', '.join(self.choices)}"
        else:
            words = TYPES.get(self.base, (getattr(self.base, "__name__", str(self.base)),))[0]
        return f"{words} or none" if self.optional else words

    @property
    def interval(self) -> str:
        """The range in words; empty if every number is allowed."""
        limits = self.range if self.items is None else self.items.range
        return "" if limits == Range() else validation.interval(*limits)


class Parameter(NamedTuple):
    """A declared parameter."""

    name: str
    kind: Kind
    default: Any  # `inspect.Parameter.empty` if it has none
    meaning: str  # what the docstring says about it

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

    def words(self) -> dict[str, str]:
        """Everything as text, for tables."""
        default = "must be given" if self.required else str(self.default).lower()
        about = {"type": str(self.kind), "range": self.kind.interval, "default": default, "meaning": self.meaning}
        return {"parameter": self.name} | about


def declared(make: Any) -> tuple[Parameter, ...]:
    """The parameters of a dataclass or a function, in order."""
    return _declared(make)


@cache  # whose types would refuse classes, which it takes
def _declared(make: Any) -> tuple[Parameter, ...]:
    try:
        hints = get_type_hints(make, include_extras=True)
    except NameError:  # a name that only type checkers import
        hints = {}
    defaults = {name: each.default for name, each in inspect.signature(make).parameters.items()}
    for field in dataclasses.fields(make) if dataclasses.is_dataclass(make) else ():
        if field.init and field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
    kinds, meanings = {name: Kind.of(hints.get(name, Any)) for name in defaults}, _meanings(make)
    return tuple(Parameter(name, kinds[name], defaults[name], meanings.get(name, "")) for name in defaults)


def _meanings(make: Any) -> dict[str, str]:
    """The descriptions under `Args:` of a function, or of a class and its base classes."""
    found: dict[str, str] = {}
    for each in reversed(getattr(make, "__mro__", (make,))):
        section = re.search(r"^Args:\n((?: .*\n?|\n)*)", inspect.cleandoc(each.__doc__ or ""), re.MULTILINE)
        entries = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section[1] if section else "", re.MULTILINE)
        found |= {name: " ".join(words.split()) for name, words in entries}
    return found


def spec_of(thing: Any, *, without: str = "") -> str:
    """The spec string of an object: the parameters that differ from their defaults, in order, except `without`.

    No attack, that is None, is "none".
    """
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):  # a foreign object has only a name
        return "none" if thing is None else str(getattr(thing, "name", thing))
    values = [(each, getattr(thing, each.name)) for each in declared(type(thing)) if each.name != without]
    parts = [f"{each.name}={each.kind.text(value)}" for each, value in values if each.required or value != each.default]
    name: str = getattr(thing, "name", type(thing).__name__)
    return f"{name}:{','.join(parts)}" if parts else name


class HasParameters:
    """The base of dataclasses whose parameters are checked and stored as plain values."""

    def __post_init__(self) -> None:
        for name, kind, *_ in declared(type(self)):
            object.__setattr__(self, name, kind.check(name, getattr(self, name)))


Budget = Annotated[float, Range(0.0, validation.LARGEST_BUDGET)]  # of a policy
AttackBudget = Annotated[float, Range(0.0, inf)]
Chance = Annotated[float, Range(0.0, 1.0, open_low=True, open_high=True)]
Positive = Annotated[float, Range(0.0, 1e12, open_low=True)]
Share = Annotated[float, Range(0.0, 1.0)]
Arm = Annotated[int, Range(0, validation.MOST_ROUNDS)]
Rounds = Annotated[int, Range(0, validation.MOST_ROUNDS)]
Means = Annotated[Sequence[Share], PER_ARM]


class HasKernels(HasParameters):
    """The base of policies, attacks and environments: checks their kernels when a class is made."""

    name: ClassVar[str]
    kernels: ClassVar[Kernels] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in vars(cls).items():
            function = value.__func__ if isinstance(value, staticmethod) else None
            if is_kernel(function) and name not in cls.kernels:
                raise UnknownName(f"kernel of {cls.__name__}", name, cls.kernels)
            if isinstance(function, FunctionType) and name in cls.kernels:
                _check_parameters(f"{cls.__name__}.{name}", function, cls.kernels[name])
        if isinstance(init := vars(cls).get("init"), FunctionType):
            first = next(vars(base)["init"] for base in reversed(cls.__mro__) if "init" in vars(base))
            _check_parameters(f"{cls.__name__}.init", init, ", ".join(_parameters(first)))


def _parameters(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _check_parameters(name: str, function: FunctionType, wanted: str) -> None:
    found = _parameters(function)
    if len(found) != len(wanted.split(", ")) or {*found[1:2]} & {*OLD_NAMES}:
        came = f"({', '.join(found)}); what was written for version 0.1 is easily changed: see CHANGELOG"
        raise InvalidParameter(f"{name} ({place(function)}): expected the parameters ({wanted}), got {came}")
