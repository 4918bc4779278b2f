"""What the studies share: where they write, tables, and the look of their figures."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import altair

from vambrace import lab
from vambrace.files import whole_file
from vambrace.lab.study import Study
from vambrace.paper.suites import find
from vambrace.report.figures import LABEL, save
from vambrace.report.style import COLOURS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def finished(suite: str) -> Study:
    """A suite as `make reproduce` leaves it; what is missing of it is played first."""
    return played(lab.read(find(suite)), ROOT / "out" / "reproduce" / suite)


def played(experiment: lab.Experiment, folder: Path) -> Study:
    """An experiment with all of its games."""
    status = lab.run(experiment, folder)
    if len(status.done) < status.total:
        raise ValueError(f"{folder}: expected all cells, got {status.total - len(status.done)} that failed")
    return lab.load(folder)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is a text, the others are numbers."""
    lines = [f"| {' | '.join(columns)} |", "|---|" + "--:|" * (len(columns) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def write(name: str, text: str) -> None:
    """A page of the documentation, whole or not at all."""
    with whole_file(DOCS / name) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    print(DOCS / name)


def between(page: str, mark: str, text: str) -> str:
    """A page with `text` between the two comments that carry a mark."""
    begin, end = f"<!-- {mark}: written by the code -->", f"<!-- end of {mark} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"page: expected {begin} and {end} once each, got {page.count(begin)} and {page.count(end)}")
    return f"{page.split(begin)[0]}{begin}\n\n{text}\n\n{end}{page.split(end)[1]}"


def draw(name: str, figure: Any) -> None:
    """A figure of the documentation, with room at the right: texts are wider in a reader's font than in the one here."""
    save(figure.properties(padding={"left": 5, "top": 5, "right": 40, "bottom": 5}), DOCS / "images" / name)
    print(DOCS / "images" / name)


def remembered(name: str, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was measured before, from a file of JSON lines in out/; measured and added to it if it is not there."""
    file = ROOT / "out" / f"{name}.jsonl"
    known = _known(file)
    if key not in known:
        known[key] = measure()
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"key": key, **known[key]}) + "\n")
    return known[key]


@cache
def _known(file: Path) -> dict[str, dict[str, Any]]:
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()
    return {row["key"]: row for row in rows}


def watcher(title: str) -> Callable[[int, int], None]:
    """One line of progress on standard error."""

    def watch(done: int, total: int) -> None:
        print(f"\r{title}: {done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return watch


def lines(
    rows: Sequence[dict[str, Any]], *, x: str, y: str, colour: str, dash: str, titles: dict[str, str], alt: str
) -> Any:
    """Lines with points on log scales, one for each colour and dash."""
    names = list(dict.fromkeys(row[colour] for row in rows))
    kinds = list(dict.fromkeys(row[dash] for row in rows))
    log = altair.Scale(type="log")
    decades = [10**power for power in range(16)]
    legend = altair.Legend(symbolType="stroke", symbolSize=300, symbolStrokeColor="black", symbolStrokeWidth=2)
    base = altair.Chart(altair.Data(values=list(rows))).encode(  # type: ignore[no-untyped-call]
        x=altair.X(f"{x}:Q", title=titles["x"], scale=log, axis=altair.Axis(labelExpr=LABEL, values=decades)),
        y=altair.Y(f"{y}:Q", title=titles["y"], scale=log, axis=altair.Axis(labelExpr=LABEL, values=decades)),
        color=altair.Color(
            f"{colour}:N",
            title=titles[colour],
            sort=names,
            scale=altair.Scale(domain=names, range=COLOURS),
            legend=altair.Legend(labelLimit=0),
        ),
    )
    dashes = altair.StrokeDash(f"{dash}:N", title=titles[dash], sort=kinds, legend=legend)
    figure = altair.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=dashes), base.mark_point(filled=True, size=40)
    )
    return figure.properties(width=420, height=300, title=titles["title"], description=alt)
