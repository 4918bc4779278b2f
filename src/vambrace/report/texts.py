"""Tables as text: LaTeX with booktabs, and Markdown. Policies are rows and games columns, or the other way round."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from vambrace.report.figures import RAISED, number

WIDEST = 5  # columns of numbers side by side; what is left follows below
LOWERED = {chr(raised): chr(plain) for plain, raised in RAISED.items()}
ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
SIGNS = {"…": r"\dots{}", "·": r"$\cdot$", "β": r"$\beta$", "−": "$-$", "×": r"$\times$"}  # noqa: RUF001


class Value(NamedTuple):
    """A cell: a mean, its interval if there is one, and whether it is the best of its game."""

    mean: float
    low: float | None
    high: float | None
    best: bool


Grid = dict[str, dict[str, Value]]  # by policy, and then by game


def turned(grid: Mapping[str, Mapping[str, Value]]) -> tuple[str, Grid]:
    """The heading of the rows and the grid with fewer columns than rows, if that is possible."""
    games = [*dict.fromkeys(game for row in grid.values() for game in row)]
    if len(games) <= max(len(grid), WIDEST):
        return "policy", {policy: dict(row) for policy, row in grid.items()}
    return "game", {game: {policy: row[game] for policy, row in grid.items() if game in row} for game in games}


def _blocks(grid: Grid) -> Iterator[list[str]]:
    columns = [*dict.fromkeys(column for row in grid.values() for column in row)]
    width = ceil(len(columns) / ceil(len(columns) / WIDEST))  # as even as possible
    for k in range(0, len(columns), width):
        yield columns[k : k + width]


def latex(caption: str, label: str, grid: Mapping[str, Mapping[str, Value]]) -> str:
    r"""A table with its caption; it needs ``\usepackage{booktabs}``."""
    heading, rows = turned(grid)
    lines = [r"\begin{table}", r"\centering\small", rf"\caption{{{tex(caption)}}}", rf"\label{{tab:{label}}}"]
    for columns in _blocks(rows):
        lines.append(r"\par\medskip")
        lines += [rf"\begin{{tabular}}{{l{'r' * len(columns)}}}", r"\toprule"]
        lines += [" & ".join([heading, *map(tex, columns)]) + r" \\", r"\midrule"]
        for name, row in rows.items():
            values = [row.get(column) for column in columns]
            lines.append(" & ".join([tex(name), *map(_mean, values)]) + r" \\")
            if any(value is not None and value.low is not None for value in values):
                lines.append(" & ".join(["", *map(_interval, values)]) + r" \\[2pt]")
        lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _mean(value: Value | None) -> str:
    if value is None:
        return ""
    text = tex(number(value.mean))
    return rf"\textbf{{{text}}}" if value.best else text


def _interval(value: Value | None) -> str:
    if value is None or value.low is None or value.high is None:
        return ""
    return rf"{{\scriptsize [{tex(number(value.low))}, {tex(number(value.high))}]}}"


def tex(text: str) -> str:
    """A text for LaTeX: its special signs, powers of ten, and C and T as mathematics.

    >>> print(tex("se_1 & 100 %, C = T^0.5"), tex("3·10¹¹"))
    se\\_1 \\& 100 \\%, $C = T^{0.5}$ $3\\cdot10^{11}$
    """
    raised = "".join(LOWERED)
    kept: list[str] = []  # mathematics, which must not be escaped

    def keep(formula: str) -> str:
        kept.append(formula)
        return f"\0{len(kept) - 1}\0"

    def power(found: re.Match[str]) -> str:
        exponent = "".join(LOWERED[sign] for sign in found[2])
        return keep(f"${found[1].replace('·', chr(92) + 'cdot') if found[1] else ''}10^{{{exponent}}}$")

    text = re.sub(rf"((?:\d[\d.]*·)?)10([{raised}]+)", power, text)
    text = re.sub(r"\b([CT]) = T\^([\d.]+)", lambda found: keep(f"${found[1]} = T^{{{found[2]}}}$"), text)
    text = re.sub(r"\b([CT]) = (?=[\d\0])", lambda found: keep(f"${found[1]} =$ "), text)
    text = "".join(ESCAPES.get(sign) or (f"\\{sign}" if sign in "&%$#_{}" else SIGNS.get(sign, sign)) for sign in text)
    return re.sub("\0(\\d+)\0", lambda found: kept[int(found[1])], text)


def markdown(caption: str, grid: Mapping[str, Mapping[str, Value]]) -> str:
    """A table in Markdown, with its caption below."""
    heading, rows = turned(grid)
    blocks = []
    for columns in _blocks(rows):
        lines = [_row([heading, *columns]), "|---|" + "--:|" * len(columns)]
        lines += [_row([name, *(_cell(row.get(column)) for column in columns)]) for name, row in rows.items()]
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, caption]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    text = f"**{number(value.mean)}**" if value.best else number(value.mean)
    return text if value.low is None or value.high is None else f"{text} [{number(value.low)}, {number(value.high)}]"
