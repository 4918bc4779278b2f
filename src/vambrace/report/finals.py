"""How the games of a panel ended: for a page in rows, for a paper with a row for each policy, and as plain numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vambrace.lab.experiment import Panel
from vambrace.lab.panels import spots
from vambrace.lab.study import Play, share_of_best, worst
from vambrace.parameters import spec_of
from vambrace.report.bands import bootstrap, promise
from vambrace.report.figures import number
from vambrace.report.page import Table
from vambrace.report.texts import Grid, Value, latex, markdown

LEGEND = {  # what the headings of a table mean
    "95 %": "Regret: the mean; 95 %: the interval of that mean",
    "best arm": "Best arm: how often it was pulled",
    "bound": "Bound: what the theory promises",
}
BOLD = "Bold: the least regret of each game"


class Final(NamedTuple):
    """How one game ended."""

    policy: str
    attack: str
    budget: float  # what the attack could spend
    regret: float
    low: float | None  # the ends of the interval of 95 %; None: one replication has none
    high: float | None
    best_arm: float  # how often it was pulled
    horizon: int
    spent: float
    bound: float | None
    arms: str
    row: str  # in a table for a paper: the policy as in the file
    column: str  # likewise: the game
    best: bool  # nobody lost less in this game


def finals(panel: Panel, plays: Sequence[Play], environments: Mapping[str, str]) -> list[Final]:
    """How each game of a panel ended; if it shows the worst only, of games that differ in arms and attack the worst."""
    if panel.worst:
        keys = ("line", "budget", "power", "horizon")
        plays = [*worst(plays, lambda play: tuple(getattr(play.game, key) for key in keys)).values()]
    places = spots(panel.model_copy(update={"axis": "round"}), [play.game for play in plays], environments, number)
    found = [_final(play, row=spot.line, column=spot.facet) for play, (spot,) in zip(plays, places, strict=True)]
    games: dict[str, list[float]] = {}
    for each in found:
        games.setdefault(each.column, []).append(each.regret)
    return [
        each._replace(best=len(games[each.column]) > 1 and each.regret == min(games[each.column])) for each in found
    ]


def _final(play: Play, *, row: str, column: str) -> Final:
    values, bound = play.result.pseudo_regret[:, -1:], promise(play)
    band = bootstrap(values)
    several = len(values) > 1
    return Final(
        policy=spec_of(play.game.policy),
        attack=play.game.attack,
        budget=play.spendable,
        regret=play.regret,
        low=float(band.low[0]) if several else None,
        high=float(band.high[0]) if several else None,
        best_arm=share_of_best(play),
        horizon=play.game.horizon,
        spent=float(play.result.cost[:, -1].mean()),
        bound=bound.value if bound else None,
        arms=play.game.place,
        row=row,
        column=column,
        best=False,
    )


def page_table(title: str, found: Sequence[Final], name: str) -> Table:
    """The most important columns first; what all rows share stands in the caption only."""
    rows = [_texts(each) for each in found]
    one_for_all = {key for key in ("attack", "C", "T", "arms") if len({row[key] for row in rows}) == 1}
    shared = [f"{key} = {rows[0][key]}" for key in ("C", "T") if key in one_for_all]
    shared += [rows[0]["attack"]] if "attack" in one_for_all and rows[0]["C"] != "0" else []
    headings = [key for key in rows[0] if key not in one_for_all and any(row[key] for row in rows)]
    legend = [text for key, text in LEGEND.items() if key in headings]
    legend += [BOLD] if any(each.best for each in found) else []
    caption = ". ".join([title, *([", ".join(shared)] if shared else []), *legend])
    numbers = [k for k, key in enumerate(headings) if key not in ("policy", "attack", "arms")]
    sizes = [_sizes(each) for each in found]
    return Table(
        f"{caption}.",
        headings,
        [[row[key] for key in headings] for row in rows],
        numbers,
        sizes=[[each.get(key) for key in headings] for each in sizes],
        best={(k, headings.index("regret")) for k, each in enumerate(found) if each.best},
        files=files(title, found, name),
        name=name,
    )


def _texts(each: Final) -> dict[str, str]:
    interval = f"{number(each.low)} … {number(each.high)}" if each.low is not None and each.high is not None else ""
    return {
        "policy": each.policy,
        "attack": each.attack,
        "C": number(each.budget, 6),
        "regret": number(each.regret),
        "95 %": interval,
        "best arm": f"{100 * each.best_arm:.1f} %",
        "T": number(each.horizon, 6),
        "spent": number(each.spent),
        "bound": "" if each.bound is None else number(each.bound),
        "arms": each.arms,
    }


def _sizes(each: Final) -> dict[str, float | None]:
    """By what the rows of a page are sorted: the numbers themselves."""
    found = {"C": each.budget, "regret": each.regret, "95 %": each.low, "best arm": each.best_arm, "T": each.horizon}
    return found | {"spent": each.spent, "bound": each.bound}


def files(title: str, found: Sequence[Final], name: str) -> dict[str, str]:
    """The table as CSV, LaTeX and Markdown, by the ending of the file."""
    shared = _shared([each.column for each in found])
    grid: Grid = {}
    for each in found:
        column = each.column.removeprefix(shared) or "regret"
        grid.setdefault(each.row, {})[column] = Value(each.regret, each.low, each.high, each.best)
    several = any(each.low is not None for each in found)
    legend = ["mean regret", *(["in brackets the 95 % interval of that mean"] if several else [])]
    legend += ["bold: the least of each game"] if any(each.best for each in found) else []
    more = [shared.removesuffix(", ")] if shared else []
    more += [f"T = {number(found[0].horizon, 6)}"] if len({each.horizon for each in found}) == 1 else []
    caption = f"{title.rstrip('.')}{' (' + ', '.join(more) + ')' if more else ''}: {'; '.join(legend)}."
    records: list[dict[str, Any]] = [each._asdict() for each in found]
    frame = pl.DataFrame(records, infer_schema_length=None).drop("row", "column")
    return {"csv": frame.write_csv(), "tex": latex(caption, name, grid), "md": markdown(caption, grid)}


def _shared(columns: Sequence[str]) -> str:
    """What the headings of all columns begin with: whole parts of them, with the comma behind."""
    parts = [column.split(", ") for column in columns]
    first = parts[0]
    count = next((k for k in range(len(first)) if any(each[: k + 1] != first[: k + 1] for each in parts)), len(first))
    return "".join(f"{part}, " for part in first[:count]) if count < len(first) else ", ".join(first)
