import pytest

from vambrace.errors import InvalidParameter, UnknownName
from vambrace.lab.arithmetic import calculate


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("budget", 9.0),
        (" 2 + 3 * 4 ", 14.0),
        ("-budget ** 2 / 3 - 1", -28.0),
        ("sqrt(horizon / 10)", 10.0),
        ("min(0.25, budget, max(1, 2))", 0.25),
        ("ln(1)", 0.0),
    ],
)
def test_formulas_are_worked_out(formula: str, value: float) -> None:
    assert calculate(formula, {"budget": 9.0, "horizon": 1000}) == value


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("budgt", "unknown placeholder 'budgt'; did you mean 'budget'?"),
        ("__import__('os')", "unknown function '__import__'; known: ln, max, min, sqrt"),
        ("sqr(4)", "unknown function 'sqr'; did you mean 'sqrt'?"),
    ],
)
def test_the_nearest_name_is_offered(formula: str, message: str) -> None:
    with pytest.raises(UnknownName) as caught:
        calculate(formula, {"budget": 1, "horizon": 2})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "2 +",
        "'text'",
        "True",
        "2j",
        "[1]",
        "budget.real",
        "os.system('x')",
        "(lambda: 1)()",
        "1 < 2",
        "sqrt(x=1)",
        "~1",
    ],
)
def test_what_is_no_formula_is_refused(formula: str) -> None:
    with pytest.raises(InvalidParameter, match="expected a formula of numbers, names"):
        calculate(formula, {"budget": 1.0})


@pytest.mark.parametrize("formula", ["1 / 0", "sqrt(-1)", "10 ** 10 ** 10", "sqrt(1, 2)", "ln(0)", "min()", 4000 * "9"])
def test_what_has_no_value_is_said(formula: str) -> None:
    with pytest.raises(InvalidParameter, match="expected a formula with a value, got"):
        calculate(formula, {})


@pytest.mark.parametrize("formula", ["1 if 1 else 2", "2 // 1", "~1", "sqrt(x=1)", "(" * 10_000, "-" * 100_000 + "1"])
def test_neither_is_what_is_too_deep(formula: str) -> None:
    with pytest.raises(InvalidParameter, match="expected a formula of numbers, names"):
        calculate(formula, {})


@pytest.mark.filterwarnings("error")
def test_python_has_no_say_in_what_looks_odd() -> None:
    with pytest.raises(InvalidParameter, match="expected a formula of numbers, names"):
        calculate("1is 1", {})
    assert calculate("min(3)", {}) == 3.0
