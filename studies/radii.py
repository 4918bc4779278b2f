"""Measure what the radii gain and write docs/radii.md: `make studies`.

The headline tests are read from the file given with --headlines (columns test, arm, impressions, clicks: the Upworthy
Research Archive, which is not shipped); without it that part of the page is left as it is.
"""

import argparse
from pathlib import Path

import polars

import pages
import vambrace as vb
from vambrace.lab import radii

MARK = "<!-- headlines -->"
PAGE = """\
# What `tight` and `kl` gain

*This page is written by `make studies`.* The radii of SE-WR keep the same promise (see `help(vb.SEWR)`); they differ in
how soon they believe what they see. Mean regret over {replications} replications of 10⁶ rounds; Conceal spends the budget that SE-WR was
told. "Drops" is how many arms are dropped by the end.

## Synthetic arms

{synthetic}

Where the horizon suffices, `tight` has about a quarter of the paper's regret without attack and half of it under a large one.
`kl` is the one for small rates, since its width shrinks with the variance; near one half, where there is nothing to gain
from that, `tight` is better. Where a radius drops nothing, its regret is that of uniform play.

## Real headline tests

{mark}
{headlines}
"""
HEADLINES = """\
Tests of the Upworthy Research Archive (Matias, Munger, Le Quere and Ebersole, 2021), replayed. The one with click rates
.0152/.0134/.0131/.0073 and the five with the most impressions. *Exact replay* draws every impression at most once, so it
can last no longer than the smallest arm allows; *bootstrap* draws with replacement and lasts 10⁶ or 10⁷ rounds. Budget 100.

{table}

At the length of the real tests no radius can drop anything: a budget of 100 fake clicks is more than what separates the
arms. At a million rounds `kl` drops arms in most of these tests, where the paper's rule drops none, and at ten million in all.
"""
KNOWN = "54d4caab66336500260f0000"  # rates .0152, .0134, .0131, .0073


def cells(row: dict[str, float]) -> list[str]:
    regrets = [f"{row[radius]:,.0f}" for radius in radii.RADII]
    ratios = [f"{row['paper'] / row[radius]:.1f}" for radius in ("tight", "kl")]
    drops = [f"{row[f'{radius} drops']:.1f}" for radius in radii.RADII]
    return [*regrets, *ratios, " / ".join(drops), f"{min(row[f'{radius} keeps best'] for radius in radii.RADII):.0%}"]


COLUMNS = ["paper", "tight", "kl", "paper/tight", "paper/kl", "drops (paper / tight / kl)", "best arm kept, least"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headlines", type=Path, help="a table of test, arm, impressions, clicks")
    arguments = parser.parse_args()
    page = pages.DOCS / "radii.md"
    if arguments.headlines is not None and arguments.headlines.exists():
        headlines = headline_tests(arguments.headlines)
    else:
        print(f"headline tests: expected a file, got {arguments.headlines}; that part stays as it is")
        headlines = page.read_text(encoding="utf-8").split(MARK, 1)[1].strip() if page.exists() else ""
    synthetic = pages.table(
        ["means, budget", *COLUMNS], ([f"{row['arms']}, C = {row['budget']}", *cells(row)] for row in radii.synthetic())
    )
    text = PAGE.format(replications=radii.REPLICATIONS, synthetic=synthetic, mark=MARK, headlines=headlines)
    pages.write("radii.md", text.rstrip() + "\n")


def headline_tests(path: Path) -> str:
    frame = polars.read_csv(path, schema_overrides={"test": polars.String, "arm": polars.String})
    sizes = frame.group_by("test").agg(polars.col("impressions").sum()).sort("impressions", descending=True)
    largest = [KNOWN, *(test for test in sizes["test"].to_list()[:5] if test != KNOWN)]
    rows = []
    for test in largest:
        exact, bootstrap = (vb.Replay.from_table(frame, test, mode=mode) for mode in ("exact", "bootstrap"))
        rates = "/".join(f"{mean:.4f}".lstrip("0") for mean in sorted(exact.arm_means(), reverse=True))
        shown = rates if len(rates) < 40 else f"{rates[:34]}… ({exact.n_arms} arms)"
        for environment, horizon in ((exact, min(exact.events)), (bootstrap, 10**6), (bootstrap, 10**7)):
            row = radii.compare(environment, 100, horizon)
            label = "exact replay" if environment is exact else "bootstrap"
            rows.append([f"{shown}: {label}, T = {horizon:,}", *cells(row)])
    return HEADLINES.format(table=pages.table(["click rates", *COLUMNS], rows)).strip()


if __name__ == "__main__":
    main()
