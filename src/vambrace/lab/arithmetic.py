"""Small formulas in the spec strings of an experiment's file, such as ``se-wr:budget={sqrt(horizon / 10)}``.

They are parsed into a syntax tree and never run as a program.
"""

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping

from vambrace.errors import InvalidParameter, UnknownName, shorten

FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "ln": math.log,
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
}
OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # of floats: too large a number is an error, not a long wait
}
FORMULA = re.compile(r"\{([^{}]*)\}")
EXPECTED = f"numbers, names, + - * / **, and {', '.join(FUNCTIONS)}"


def filled(spec: str, known: Mapping[str, float]) -> str:
    """A spec with its formulas replaced by their values."""

    def value(found: re.Match[str]) -> str:
        number = calculate(found[1], known)
        return str(int(number)) if number.is_integer() else repr(number)

    return FORMULA.sub(value, spec)


def mentions(spec: str, name: str) -> bool:
    """Whether a formula of a spec uses a name."""
    return any(re.search(rf"\b{name}\b", formula) for formula in FORMULA.findall(spec))


def shown(spec: str) -> str:
    """A spec as it is shown to readers: the budget of the game is C, its horizon T."""
    letters = {"budget": "C", "horizon": "T", " ": ""}
    return FORMULA.sub(lambda found: re.sub(r"\b(budget|horizon)\b| ", lambda word: letters[word[0]], found[1]), spec)


def calculate(formula: str, known: Mapping[str, float]) -> float:
    """The value of a formula over known names.

    >>> calculate("sqrt(horizon / 10)", {"horizon": 1000})
    10.0
    """
    shown = f"{{{shorten(formula)}}}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's warnings about odd syntax
            tree = ast.parse(formula.strip(), mode="eval")
        return float(_value(tree.body, known))
    except (SyntaxError, RecursionError, MemoryError):
        raise InvalidParameter(f"{shown}: expected a formula of {EXPECTED}, got something else") from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise InvalidParameter(f"{shown}: expected a formula with a value, got {error}") from None


def _value(node: ast.AST, known: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=bool() | complex()):
            pass
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            if name not in known:
                raise UnknownName("placeholder", name, known)
            return known[name]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
            return OPERATORS[type(sign)](_value(left, known), _value(right, known))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                raise UnknownName("function", name, FUNCTIONS)
            return FUNCTIONS[name](*(_value(each, known) for each in arguments))
    raise SyntaxError
