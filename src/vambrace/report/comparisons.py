"""What a report says of the differences between policies: a table of ranks, and one of paired differences."""

from typing import Any, NamedTuple

from vambrace.comparison import compare
from vambrace.lab.study import Study
from vambrace.report.figures import number
from vambrace.report.page import Table

SURE = 0.05  # an adjusted p below this is bold


class Compared(NamedTuple):
    """The two tables, and how they were made."""

    tables: list[Table]
    method: str


def tables(study: Study) -> Compared | None:
    """The policies of an experiment compared with its first one; None: it has only one."""
    if len({play.game.line for play in study.plays}) < 2:
        return None
    found = compare(study)
    made = []
    if found.critical_difference is not None:
        rows = found.ranks.to_dicts()
        caption = (
            f"Mean ranks over {rows[0]['games']:,} games that every policy played, 1 is the least regret. Critical "
            f"difference at 5 %: {found.critical_difference:.2f}. Bold: not surely behind the first."
        )
        made.append(_table(study, "ranks", caption, rows, RANKS, [not row["differs"] for row in rows], found.ranks))
    rows = found.table.to_dicts()
    if rows:
        caption = (
            f"Regret minus that of {found.baseline} in the same game, with an interval of 95 %; below zero is better. "
            "Won: the share of games with less regret. Bold: adjusted p below 5 %."
        )
        sure = [row["adjusted_p"] is not None and row["adjusted_p"] < SURE for row in rows]
        made.append(_table(study, "differences", caption, rows, DIFFERENCES, sure, found.table))
    return Compared(made, found.method) if made else None


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _chance(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}"


def _interval(row: dict[str, Any]) -> str:
    return "" if row["low"] is None else f"{_signed(row['low'])} … {_signed(row['high'])}"


RANKS = {  # for each heading its text and the number to sort by
    "policy": (lambda row: row["policy"], None),
    "mean rank": (lambda row: f"{row['rank']:.2f}", "rank"),
    "behind": (lambda row: f"{row['behind']:.2f}", "behind"),
    "best in games": (lambda row: f"{row['best']:,g}", "best"),
}
DIFFERENCES = {
    "policy": (lambda row: row["policy"], None),
    "attack": (lambda row: row["attack"] or "no attack", None),
    "C": (lambda row: number(row["budget"], 6), "budget"),
    "difference": (lambda row: _signed(row["difference"]), "difference"),
    "95 %": (_interval, "low"),
    "won": (lambda row: _percent(row["won"]), "won"),
    "adjusted p": (lambda row: _chance(row["adjusted_p"]), "adjusted_p"),
    "T": (lambda row: number(row["horizon"], 6), "horizon"),
    "arms": (lambda row: row["environment"], None),
}
ALWAYS = ("policy", "difference", "mean rank", "95 %", "won", "adjusted p", "behind", "best in games")


def _table(
    study: Study,
    name: str,
    caption: str,
    rows: list[dict[str, Any]],
    columns: dict[str, Any],
    bold: list[bool],
    frame: Any,
) -> Table:
    """A table of the columns that differ between rows, and of those that are always shown."""
    texts = [{heading: make(row) for heading, (make, _) in columns.items()} for row in rows]
    headings = [key for key in columns if key in ALWAYS or len({text[key] for text in texts}) > 1]
    headings = [key for key in headings if any(text[key] for text in texts)]
    keys = [columns[heading][1] for heading in headings]
    marked = headings.index("difference" if "difference" in headings else "mean rank")
    return Table(
        caption,
        headings,
        [[text[key] for key in headings] for text in texts],
        [k for k, key in enumerate(keys) if key],
        sizes=[[row[key] if key else None for key in keys] for row in rows],
        best={(k, marked) for k, sure in enumerate(bold) if sure},
        files={"csv": frame.write_csv()},
        name=f"{study.name}-{name}",
    )
