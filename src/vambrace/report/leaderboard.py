"""The leaderboard as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from vambrace.redteam import board
from vambrace.redteam.board import Row
from vambrace.redteam.contests import BUDGETS, CONTESTS, GOAL, Contest
from vambrace.redteam.entries import Entry, Figure
from vambrace.report import page

OVERALL = ("bandit", "no attack", *(f"{each:,} fakes" for each in BUDGETS), "breaks with")
HEADINGS = (*OVERALL, "ratio to the price of armour")


class Cell(NamedTuple):
    """A figure of a table: its text, its interval, what it is sorted by, and the share of all that can be lost."""

    text: str
    interval: str
    key: float | None  # None: last
    share: float | None = None


class Line(NamedTuple):
    """A row of a table."""

    name: str
    library: str
    cells: Sequence[Cell]


class Section(NamedTuple):
    """A contest: its answer, and its table."""

    contest: Contest
    answer: str
    everything: str
    lines: Sequence[Line]


def save(entries: Sequence[Entry], path: Path, *, made_by: str) -> None:
    """Write the page of the leaderboard, whole or not at all.

    Args:
        entries: The entries.
        path: The file.
        made_by: The program and its version.
    """
    rows = board.overall(entries)
    page.write(
        path,
        "leaderboard.html",
        title="Leaderboard: bandits under attack",
        answer=board.answer(rows),
        ranked_by=f"{board.RANKED_BY:,}",
        overall=[_line(row) for row in rows],
        overall_headings=OVERALL,
        sections=[section(entries, each) for each in CONTESTS.values()],
        headings=HEADINGS,
        waiting=[each.name for each in entries if not {*CONTESTS} <= {*each.contests}],
        slow=any(".py:" in each.bandit for each in entries),
        goal=GOAL.words,
        footer=made_by,
    )


def section(entries: Sequence[Entry], contest: Contest) -> Section:
    """What the page says about a contest.

    Args:
        entries: The entries.
        contest: The contest.
    """
    rows = board.ranked(entries, contest)
    everything = f"{contest.rounds * (max(contest.means) - min(contest.means)):,.0f}"
    if not rows:
        return Section(contest, "nobody has played it yet", everything, [])
    best = rows[0].lost[board.RANKED_BY].value
    words = f"{rows[0].entry.name} loses least to {board.RANKED_BY:,} fake events, {100 * best:.0f} %"
    return Section(contest, words, everything, [_line(row) for row in rows])


def table(rows: Sequence[Row]) -> list[list[str]]:
    """One row of texts for each bandit.

    Args:
        rows: Rows of the board.
    """
    return [[row.entry.name, *(f"{cell.text} {cell.interval}".strip() for cell in _line(row).cells)] for row in rows]


def entry_table(entry: Entry) -> list[list[str]]:
    """One row of texts for each contest of an entry, for a terminal.

    Args:
        entry: The entry.
    """
    found = []
    for contest in CONTESTS.values():
        found += [[contest.title, *cells[1 : len(OVERALL)]] for cells in table(board.ranked([entry], contest))]
    return found


def _line(row: Row) -> Line:
    cells = [_lost(row, budget) for budget in (0, *BUDGETS)]
    cells.append(_events(row.broken))
    if row.regret is not None:
        cells.append(_ratio(row.ratio))
    return Line(row.entry.name, row.entry.library, cells)


def _lost(row: Row, budget: float) -> Cell:
    share = row.lost[budget]
    if row.regret is None:
        text, ends = f"{100 * share.value:.1f} %", f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    else:
        regret = row.regret[budget]
        text, ends = f"{regret.value:,.0f}", f"[{regret.low:,.0f}, {regret.high:,.0f}]"
    return Cell(text, ends, share.value, min(share.value, 1.0))


def _events(events: Figure) -> Cell:
    if events.value == 0:
        return Cell("0", "by itself", 0.0)
    if events.value == inf:
        return Cell("not found", "", None)
    high = "more" if events.high == inf else f"{events.high:,.0f}"
    return Cell(f"{events.value:,.0f}", f"[{events.low:,.0f}, {high}]", events.value)


def _ratio(ratio: Figure | None) -> Cell:
    if ratio is None:
        return Cell("none", "", None)
    high = "more" if ratio.high == inf else f"{ratio.high:.2f}"
    return Cell(f"{ratio.value:.2f}", f"[{ratio.low:.2f}, {high}]", ratio.value)
