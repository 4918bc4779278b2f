"""Certify every headline test, draw docs/images/certify.svg and write the study in docs/certify.md: `make studies`.

The tests are read from the file given with --headlines (columns test, arm, impressions, clicks: the Upworthy Research
Archive, which is not shipped); without it the page is left as it is.
"""

import argparse
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

import altair

import pages
import vambrace as vb
from vambrace.audit.certification import BUDGETS, standing
from vambrace.audit.questions import DESIGNS, THREATS
from vambrace.report.style import COLOURS

MARK = "<!-- written by make studies -->"
Found = dict[tuple[str, str], list[vb.Certificate]]
STUDY = """\
The {tests:,} headline tests of the Upworthy Research Archive (Matias, Munger, Le Quere and Ebersole, 2021): {arms:,} headlines,
{events:,} impressions, each viewer assigned at random. "Stands at C" counts the winners that are certified although C
events may be fake; the last columns are how many fakes end the guarantee of a certified winner. δ = 0.05 for each test
by itself.

{table}

![{alt}](images/certify.svg)

{verdict}
"""


def certified(path: Path) -> Found:
    return {
        (threat, design): list(vb.certify(path, group="test", threat=threat, design=design).values())
        for design in DESIGNS[::-1]
        for threat in THREATS
    }


def needed(certificates: list[vb.Certificate]) -> list[int]:
    """How many fake events end the guarantee of each certified winner, at least."""
    return sorted(int(each.budget) + 1 for each in certificates if each.budget is not None)


def cells(certificates: list[vb.Certificate]) -> list[str]:
    fakes = needed(certificates)
    ends = [f"{median(fakes):,.0f}", f"{fakes[-1]:,}"] if fakes else ["–", "–"]
    return [*(f"{standing(certificates, budget):,}" for budget in BUDGETS), *ends]


def figure(found: Found, alt: str) -> Any:
    """Winners that stand against fake events, as steps."""
    furthest = max((needed(each) or [1])[-1] for each in found.values())
    rows = []
    for (threat, design), certificates in found.items():
        fakes = needed(certificates)
        rows += [
            {"threat": threat, "design": design, "C": budget, "winners": sum(each > budget for each in fakes)}
            for budget in (1, *sorted({*fakes}), furthest)
        ]
    threats = altair.Scale(domain=list(THREATS), range=COLOURS)
    designs = altair.Scale(domain=list(DESIGNS[::-1]), range=[[1, 0], [6, 3]])
    stroke = altair.Legend(symbolType="stroke", symbolSize=300, symbolStrokeColor="black", symbolStrokeWidth=2)
    scale = altair.Scale(type="log", domain=[1, furthest], nice=False)
    ticks = [value for power in range(6) for value in (10**power, 3 * 10**power) if value <= furthest]
    return (
        altair.Chart(altair.Data(values=rows))  # type: ignore[no-untyped-call]
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=altair.X("C:Q", title="fake events C", scale=scale, axis=altair.Axis(values=ticks)),
            y=altair.Y("winners:Q", title="winners that stand"),
            color=altair.Color("threat:N", title="threat", sort=list(THREATS), scale=threats),
            strokeDash=altair.StrokeDash("design:N", title="design", scale=designs, legend=stroke),
        )
        .properties(width=420, height=260, title="Headline tests whose winner C fake events cannot overturn")
        .properties(description=alt)
    )


def verdict(found: Found, tests: int) -> str:
    fixed, adaptive = found["alter", "fixed"], found["alter", "adaptive"]
    fakes = needed(fixed)
    few = sum(each <= 10 for each in fakes)
    clicks = f"for {few:,} of these {len(fakes):,} winners ten altered clicks or fewer end the guarantee, for the median one "
    clicks += f"{median(fakes):,.0f}"
    words = (
        f"Judged once, at sizes set in advance, {len(fakes):,} of {tests:,} tests ({len(fakes) / tests:.1%}) have a certified "
        f"winner; {clicks}. If someone may have looked early, or a bandit chose the arms (`adaptive`), {standing(adaptive, 0):,} "
        f"{'is' if standing(adaptive, 0) == 1 else 'are'} left. Tests with a few thousand views per headline seldom "
        "separate the best headline from all others, and where they do, a few dozen fake clicks may have hidden a better "
        "one. Two reservations: the "
        "archive's authors report faulty randomisation in some weeks of 2013 and 2014, which the file does not mark; and with an "
        "error probability of 0.05 for each test, some of these winners may be wrong."
    )
    return fill(words, width=120, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headlines", type=Path, help="a table of test, arm, impressions, clicks")
    arguments = parser.parse_args()
    if arguments.headlines is None or not arguments.headlines.exists():
        print(f"headline tests: expected a file, got {arguments.headlines}; docs/certify.md stays as it is")
        return
    found = certified(arguments.headlines)
    any_of = found["alter", "fixed"]
    columns = ["threat, design", *(f"stands at C = {budget:,}" for budget in BUDGETS), "median to end it", "largest"]
    table = pages.table(columns, ([f"{threat}, {design}", *cells(each)] for (threat, design), each in found.items()))
    alt = "Winners that stand against the number of fake events: a hundred fakes end the guarantee of all but a few"
    study = STUDY.format(
        tests=len(any_of),
        arms=sum(1 + len(each.rivals) for each in any_of),
        events=sum(each.events for each in any_of),
        table=table,
        alt=alt,
        verdict=verdict(found, len(any_of)),
    )
    pages.draw("certify.svg", figure(found, alt))
    page = pages.DOCS / "certify.md"
    words = page.read_text(encoding="utf-8").split(MARK, 1)[0]
    pages.write("certify.md", f"{words}{MARK}\n{study}")


if __name__ == "__main__":
    main()
