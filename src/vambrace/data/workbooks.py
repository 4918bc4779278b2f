"""Excel files: one sheet, whose header is the first row with at least two filled cells."""

from pathlib import Path

import polars

from vambrace.data.extras import imported
from vambrace.errors import InvalidParameter

FIRST_ROWS = 50  # the header is one of these


def sheet_of(name: str, path: Path, sheet: str | None) -> tuple[polars.DataFrame, frozenset[str]]:
    """The rows below the header of a sheet, and the names that several columns have."""
    excel = imported("fastexcel", "excel", ".xlsx files")
    try:
        book = excel.read_excel(str(path))
    except excel.FastExcelError as error:
        line = str(error).partition("\n")[0]
        raise InvalidParameter(f"{name}: expected an Excel workbook (.xlsx), got {line}") from None
    names: list[str] = book.sheet_names
    if sheet is None and len(names) > 1:
        raise InvalidParameter(f"{name}: expected the name of one of its sheets (sheet), got none; {_listed(names)}")
    if sheet is not None and sheet not in names:
        raise InvalidParameter(f"sheet: expected one of the sheets of {name}, got {sheet!r}; {_listed(names)}")
    chosen = names[0] if sheet is None else sheet

    def load(skip: int, most: int | None) -> polars.DataFrame:
        options = {"dtypes": "string"} if most else {"schema_sample_rows": None}
        loaded = book.load_sheet(chosen, header_row=None, skip_rows=skip, n_rows=most, **options)
        return _with_whole_numbers(loaded.to_polars())

    top = load(0, FIRST_ROWS).rows()
    header = next((at for at, row in enumerate(top) if sum(bool(cell and cell.strip()) for cell in row) > 1), None)
    if header is None:
        raise InvalidParameter(f"{name}: expected a header with at least two columns, got none in sheet {chosen!r}")
    if header + 1 == len(top) < FIRST_ROWS:
        raise InvalidParameter(f"{name}: expected at least one row, got none")
    frame = load(header + 1, None)
    found: dict[str, int] = {}
    repeated = set()
    for at, cell in enumerate(top[header][: frame.width]):
        title = cell or ""
        repeated |= {title} & found.keys()
        found[f"{title} (column {at + 1})" if title in found else title] = at
    return frame.select(polars.nth(at).alias(title) for title, at in found.items()), frozenset(repeated)


def _with_whole_numbers(frame: polars.DataFrame) -> polars.DataFrame:
    """Excel knows no whole numbers: 1.0 becomes 1, so that an arm is called 1."""
    floats = [column for column in frame if column.dtype == polars.Float64]
    whole = [column.name for column in floats if ((column == column.round()) & (column.abs() < 2**53)).all()]
    return frame.with_columns(polars.col(whole).cast(polars.Int64))


def _listed(names: list[str]) -> str:
    return f"it has {', '.join(map(repr, names[:20]))}"
