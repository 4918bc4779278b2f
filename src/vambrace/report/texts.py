"""Tables as text: LaTeX with booktabs, and Markdown. Policies are rows and games columns, or the other way round."""

import re
from collections.abc import Mapping, Sequence
from math import ceil, inf
from typing import NamedTuple

from vambrace.report.figures import RAISED, number

WIDEST = 5  # columns of numbers side by side; what is left follows below
COLUMN, PAGE = 229, 345  # points: how wide one of two columns is in LaTeX's article, and a page of one
LETTER, SMALL, GAP = 4.6, 3.5, 12  # points: the width of a letter in its tables, and in intervals; between columns
LINES, RULES = 44, 3  # lines of a table on a page, and how many of them a heading and rules need
LOWERED = {chr(raised): chr(plain) for plain, raised in RAISED.items()}
ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
GREEK += "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
SIGNS = {"…": r"\dots{}", "·": r"$\cdot$", "−": "$-$", "×": r"$\times$"}  # noqa: RUF001
SIGNS |= {"≤": r"$\le$", "≥": r"$\ge$", "≈": r"$\approx$", "±": r"$\pm$", "<": "$<$", ">": "$>$", "|": "$|$"}
SIGNS |= {sign: rf"$\{name}$" for sign, name in zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", GREEK.split(), strict=True)}


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


def _blocks(grid: Grid, room: float = inf) -> list[list[str]]:
    """The columns that are side by side, as evenly as possible, and such that they fit, if that is possible."""
    columns = [*dict.fromkeys(column for row in grid.values() for column in row)]
    most = WIDEST
    while True:
        each = ceil(len(columns) / ceil(len(columns) / most))
        found = [columns[k : k + each] for k in range(0, len(columns), each)]
        if each == 1 or max(_width(grid, block) for block in found) <= room:
            return found
        most = each - 1


def _width(grid: Grid, columns: Sequence[str]) -> float:
    """About how wide a table with these columns is in LaTeX, in points."""
    total = LETTER * max(map(len, grid))
    for column in columns:
        values = [row[column] for row in grid.values() if column in row]
        means = max(LETTER * len(number(value.mean)) for value in values)
        total += max(LETTER * len(column), means, *(SMALL * len(_limits(value)) for value in values)) + GAP
    return total + GAP


def latex(caption: str, label: str, grid: Mapping[str, Mapping[str, Value]]) -> str:
    r"""A table with its caption, or several if one would be longer than a page; needs ``\usepackage{booktabs}``."""
    heading, rows = turned(grid)
    blocks = _blocks(rows, PAGE)
    place = "table*" if max(_width(rows, columns) for columns in blocks) > COLUMN else "table"  # across both columns
    height = 2 if any(_interval(value) for row in rows.values() for value in row.values()) else 1
    names, step = [*rows], (LINES - RULES) // height
    pages: list[list[str]] = []
    left = 0
    for columns in blocks:
        for k in range(0, len(names), step):
            part = {name: rows[name] for name in names[k : k + step]}
            needed = height * len(part) + RULES
            if needed > left:
                pages.append([])
                left = LINES
            left -= needed
            pages[-1] += _tabular(heading, columns, part)
    lines = []
    for k, page in enumerate(pages):
        words = [
            rf"\caption{{{tex(caption)}{' (Continued.)' if k else ''}}}",
            *([] if k else [rf"\label{{tab:{label}}}"]),
        ]
        lines += [rf"\begin{{{place}}}", r"\centering\small", *words, *page, rf"\end{{{place}}}"]
    return "\n".join(lines) + "\n"


def _tabular(heading: str, columns: Sequence[str], rows: Grid) -> list[str]:
    lines = [r"\par\medskip", rf"\begin{{tabular}}{{l{'r' * len(columns)}}}", r"\toprule"]
    lines += [" & ".join([heading, *map(tex, columns)]) + r" \\", r"\midrule"]
    for name, row in rows.items():
        values = [row.get(column) for column in columns]
        lines.append(" & ".join([tex(name), *map(_mean, values)]) + r" \\")
        if any(map(_interval, values)):
            lines.append(" & ".join(["", *map(_interval, values)]) + r" \\[2pt]")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _mean(value: Value | None) -> str:
    if value is None:
        return ""
    text = tex(number(value.mean))
    return rf"\textbf{{{text}}}" if value.best else text


def _interval(value: Value | None) -> str:
    return rf"{{\scriptsize {tex(limits)}}}" if value is not None and (limits := _limits(value)) else ""


def _limits(value: Value) -> str:
    return "" if value.low is None or value.high is None else f"[{number(value.low)}, {number(value.high)}]"


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


def prose(text: str) -> str:
    """A paragraph for LaTeX, in which the names of policies and arms may be divided between lines.

    >>> print(prose("on two:means=0.9/0.8: 5 %"))
    on two:\\allowbreak{}means=0.9/\\allowbreak{}0.8: 5 \\%
    """
    return re.sub(r"([:/])(?=\S)", r"\1\\allowbreak{}", tex(text))


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
    return f"{f'**{number(value.mean)}**' if value.best else number(value.mean)} {_limits(value)}".rstrip()
