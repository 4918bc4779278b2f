"""Write docs/radii.md, what the radii gain, from the suite radii: `make studies`.

The headline tests are read from the file given with --headlines (columns test, arm, impressions, clicks: the Upworthy
Research Archive, which is not shipped) and run as an experiment; without it that part of the page is left as it is.
"""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars

import pages
import vambrace as vb
from vambrace import lab
from vambrace.lab.study import Play
from vambrace.parameters import spec_of
from vambrace.policies.radii import RADII

MARK = "<!-- headlines -->"
PAGE = """\
# What `tight` and `kl` gain

*This page is written by `make studies` from the suite `radii`, which `vambrace run` plays.* The radii of SE-WR keep the
same promise (see `help(vb.SEWR)`); they differ in how soon they believe what they see. Mean regret over {replications} replications
of 10⁶ rounds; Conceal spends the budget that SE-WR is given. "Drops" is how many arms are dropped by the end.

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


def dropped(play: Play) -> Any:
    """Which arms each replication has dropped: an active arm is at most one sweep behind the most pulled one."""
    pulls = play.result.pulls
    return pulls < pulls.max(axis=1, keepdims=True) - 1


def row(plays: list[Play]) -> list[str]:
    """The cells of a game with each of the radii paper, tight and kl."""
    paper, *others = regrets = [play.regret for play in plays]
    best = plays[0].game.environment.arm_means().argmax()
    drops = [f"{dropped(play).sum(axis=1).mean():.1f}" for play in plays]
    kept = min(1.0 - dropped(play)[:, best].mean() for play in plays)
    ratios = [f"{paper / other:.1f}" for other in others]
    return [*(f"{regret:,.0f}" for regret in regrets), *ratios, " / ".join(drops), f"{kept:.0%}"]


def rows(plays: Iterable[Play], label: Callable[[Play], str]) -> list[list[str]]:
    games: dict[str, list[Play]] = {}
    for play in plays:
        games.setdefault(label(play), []).append(play)
    return [[name, *row(radii)] for name, radii in games.items()]


def means(play: Play) -> str:
    arms = "/".join(f"{mean:g}" for mean in play.game.environment.arm_means())
    return f"{arms}, C = {play.game.budget:,.0f}"


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
    study = pages.finished("radii")
    synthetic = pages.table(["means, budget", *COLUMNS], rows(study.plays, means))
    text = PAGE.format(replications=study.experiment.replications, synthetic=synthetic, mark=MARK, headlines=headlines)
    pages.write("radii.md", text.rstrip() + "\n")


def headline_tests(path: Path) -> str:
    study = pages.played(lab.parse(headline_experiment(path)), pages.ROOT / "out" / "studies" / "headlines")
    return HEADLINES.format(table=pages.table(["click rates", *COLUMNS], rows(study.plays, click_rates))).strip()


def headline_experiment(path: Path) -> dict[str, Any]:
    """Each test as it was, as long as its smallest arm allows, and drawn with replacement."""
    frame = polars.read_csv(path, schema_overrides={"test": polars.String, "arm": polars.String})
    sizes = frame.group_by("test").agg(polars.col("impressions").sum()).sort("impressions", descending=True)
    environments, panels = {}, []
    for test in [KNOWN, *(test for test in sizes["test"].to_list()[:5] if test != KNOWN)]:
        exact, bootstrap = (vb.Replay.from_table(frame, test, mode=mode) for mode in ("exact", "bootstrap"))
        for name, arms, horizons in (
            (f"exact-{test}", exact, [min(exact.events)]),
            (f"bootstrap-{test}", bootstrap, [10**6, 10**7]),
        ):
            environments[name] = spec_of(arms)
            panels.append({"name": name, "environments": [name], "horizons": horizons})
    shared = {"name": "headlines", "seed": 2026, "replications": 40, "checkpoints": 1, "budgets": [100.0]}
    radii = {"policies": [f"se-wr:budget={{budget}},radius={each}" for each in RADII], "adversaries": ["conceal"]}
    return shared | radii | {"environments": environments, "panels": panels}


def click_rates(play: Play) -> str:
    arms = play.game.environment
    shown = "/".join(f"{mean:.4f}".lstrip("0") for mean in sorted(arms.arm_means(), reverse=True))
    shown = shown if len(shown) < 40 else f"{shown[:34]}… ({arms.n_arms} arms)"
    kind = "exact replay" if play.game.place.startswith("exact") else "bootstrap"
    return f"{shown}: {kind}, T = {play.game.horizon:,}"


if __name__ == "__main__":
    main()
