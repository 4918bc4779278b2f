"""Small formulas in an experiment's file, such as ``{sqrt(horizon / 10)}``: read as a tree, never run as a program."""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping

from vambrace.errors import InvalidParameter, UnknownName, shorten


def _least(*values: float) -> float:
    return min(values)


def _largest(*values: float) -> float:
    return max(values)


FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "ln": math.log, "min": _least, "max": _largest}
OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda base, power: math.pow(base, power),  # of floats: what is too large is an error, not a long wait
    ast.USub: operator.neg,
}
EXPECTED = f"numbers, names, + - * / **, and {', '.join(FUNCTIONS)}"


def calculate(formula: str, known: Mapping[str, float]) -> float:
    """The value of a formula over known names.

    >>> from vambrace.lab.arithmetic import calculate
    >>> calculate("sqrt(horizon / 10)", {"horizon": 1000})
    10.0
    """
    shown = f"{{{shorten(formula)}}}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about programs that look odd
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
