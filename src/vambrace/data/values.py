"""Names and numbers as they stand in a source, and what to do about those that are written in another way."""

import re

import polars

from vambrace.data.columns import Columns
from vambrace.data.sources import ROW, Source
from vambrace.errors import InvalidParameter, displayed

MISSING = ("", "nan", "null", "<na>", "n/a", "#n/a")  # what programs write for a missing name
GROUPS = r"[1-9]\d{0,2}(?:([.,'_ \u2019\u00a0\u202f])\d{3})(?:\1\d{3})*"  # 10,000 or 1.234.567
ADVICE = {  # how a number may be written that is not read, and what to do
    r".*%": "write 0.02 for 2%",
    rf"[+-]?{GROUPS}(?:[.,]\d+)?": "write 10000, without signs between thousands",
    r"[+-]?\d*,\d+": "write 0.5 for 0,5, with a point",
    r"(?i)yes|no|y|n|ja|nein|oui|non|si|sí|on|off|wahr|falsch": "write 1 for yes and 0 for no",
    r"[+-]?\W{0,2}\s*[$€£¥₹]\s*[\d.,]+|[\d.,]+\s*(?:[$€£¥₹]|EUR|USD|GBP|CHF)": "write the number without the currency",
    r"#\w+[/!?\w]*": "correct the formula in the spreadsheet",
}


def numbers(source: Source, column: str, *, plain: bool = False) -> polars.Expr:
    """A column as numbers, null for other values. Unless `plain`, true and false count, and spaces are ignored."""
    kind, value = source.frame.collect_schema()[column], polars.col(column)
    if not (kind.is_numeric() or kind in (polars.Boolean, polars.String, polars.Null)):
        raise InvalidParameter(f"{source.name}: column {column!r}: expected numbers, got {kind}")
    if kind != polars.String or plain:
        return value.cast(polars.Float64, strict=False)
    text = value.str.strip_chars()
    yes, no = (text.is_in([word, word.title(), word.upper()]) for word in ("true", "false"))
    truth = polars.when(yes).then(1.0).when(no).then(0.0)  # not `replace`, which would hold the file in memory
    return polars.coalesce(text.cast(polars.Float64, strict=False), truth)


def grouped(source: Source, column: str) -> polars.Expr:
    """Whether a text such as 1.000 may be one or a thousand."""
    if source.frame.collect_schema()[column] != polars.String:
        return polars.lit(False)
    return polars.col(column).str.strip_chars().str.contains(r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$").fill_null(False)


def names(chosen: Columns) -> dict[str, polars.Expr]:
    """The tests and arms, as strings."""
    return {key: polars.col(column).cast(polars.String) for key, column in chosen.keys.items()}


def is_missing(key: str) -> polars.Expr:
    """Whether a name is missing."""
    name = polars.col(key)
    return name.is_null() | name.str.strip_chars().str.to_lowercase().is_in(list(MISSING))


def demand(
    source: Source, rows: polars.DataFrame | polars.LazyFrame, good: polars.Expr, key: str, column: str, expected: str
) -> None:
    """Raise an error that names the first row that is not good, if there is one."""
    bad = rows.filter(~good.fill_null(False)).head(1).select(ROW, key).lazy()
    for row, value in source.collect(bad).iter_rows():
        came = "nothing" if value is None else displayed(value)
        raise InvalidParameter(
            f"{source.name}: column {column!r}: expected {expected}, got {came} in row {row:,}{advice(value)}"
        )


def advice(value: object) -> str:
    """What to do about a number that is written in a way that is not read, in parentheses."""
    if isinstance(value, str):
        for pattern, what in ADVICE.items():
            if re.fullmatch(pattern, value.strip()):
                return f" ({what})"
    return ""
