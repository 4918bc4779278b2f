"""Measure the rates and write docs/rates.md with its figures: `make studies`."""

from math import log
from typing import Any

import altair
import numpy as np

import pages
from vambrace import theory
from vambrace.lab import rates, separation
from vambrace.report.figures import COLOURS

PAGE = """\
# Rates, measured

*This page is written by `make studies` ({seconds}); every number on it is measured or computed by the code it names.*

The paper's claims are about growth: in the horizon T, in the budget C, in the number of arms K. The leap engine plays up
to 10¹⁵ rounds, so they can be seen. {replications} replications each; intervals are 95 %, from resampling them.

## SE-WR grows like ln T

Ten arms, gap 0.1, Conceal spends what SE-WR was told. The attack takes C from the sum of the best arm and SE-WR waits for
another 2C, so an arm is dropped when n·gap − C = 2√(nL) + 2C, that is after n = ((√L + √(L + 3·C·gap))/gap)² pulls with
L = ln(2T²). Without attack that is 4L/gap², and the regret grows by 8/gap for each arm and unit of ln T: 720 in all. The
bound of Theorem 6 has nine times that.

{horizon_table}

Slope of the regret in ln T: **{clean.slope:.0f}** [{clean.low:.0f}, {clean.high:.0f}] without attack, {clean_expected:.0f} expected;
**{attacked.slope:.0f}** [{attacked.low:.0f}, {attacked.high:.0f}] at C = 1000, {attacked_expected:.0f} expected. A line explains
{clean.explained:.2%} and {attacked.explained:.2%} of the variation.

## and linearly in C, K times over

T = 10¹², gap 0.1. By the same formula each of the K − 1 other arms costs 3C, and a term in √C that fades. The bound of
Theorem 6 has 6C.

{budget_table}

## PE-WR at C = T^β

Two arms, the worst over attacks (none, Conceal, phase burst, elimination rush) and over gaps: around √(K/T), where
arms are hardest to tell apart, at the edge where a burst just succeeds, and up to 0.5. T = 10⁹ … 10¹⁵, six decades.
Theory: max(½, 2β), at most 1.

{exponent_table}

![Fitted exponent of PE-WR's worst regret against beta, beside the theory's line: on it up to one quarter and from one half
on, below it at 0.3 and 0.35, close to it at 0.4 and 0.45](images/exponents.svg)

**Where the C² term can be seen at all.** A burst drops the best arm in phase h only if C ≥ n_h·gap + 2√(λn_h) + 2Ĉ_h, so it
needs Ĉ_h < C/2 *and* 2√(λn_h) < C. Below its cap Ĉ_h = 2^(H−h−1), which is under T^β only once 2^h > T^(1−β); then
√n_h > T^((1−β)/2), which is under T^β only for **β > 1/3**. So for 1/4 < β ≤ 1/3 the bound max(½, 2β) is an upper bound that no
burst attains, and the measured exponent stays at ½. For 1/3 < β < 1/2 the exponent is attained, but late: the constants
(2√λ ≈ 12 and the 2 before Ĉ_h) must be outgrown first. The same formula, evaluated without playing, gives

{formula_table}

At β = 0.45 bursts succeed all the way, and the measured slope is near the formula's in this range; it is above 0.9 because the part
of the budget that the constants eat shrinks as T grows. At β = 0.4 the first burst succeeds only in the last two decades:
the regret is that of √T before and rises steeply then, so the fitted 0.76 is a line through a kink (see "explained"), not an
exponent. At β = 0.5 the same shrinking part makes 1.01 of 1. The intervals are those of chance only.

## Attack and corruption

The least budget at which the regret reaches half of always playing the worse arm; two arms, 0.9 and 0.6, 10 replications,
budgets to a factor of 2^(1/4). The attacker conceals the best arm when it is pulled; the corrupter does the same to it in every round, since
it does not see the pull.

![Least budget for linear regret against the horizon, for five policies, under attack and under corruption](images/separation.svg)

{separation_table}

Against UCB1 an attacker needs a few dozen fake events, growing like ln T, a corrupter nearly half of all rounds. Policies
made against corruption (MLAAER, BARBAR) cost an attacker more than UCB1 does, some thousand events, but that grows slowly,
while a corrupter's price grows nearly with the horizon. SE never looks at a dropped arm again, so both need only get it
dropped once.
"""


def main() -> None:
    horizon_rows, fits = [], []
    for budget in (0.0, 1000.0):
        rows, line = rates.in_horizon(budget)
        horizon_rows += rows
        fits.append(line)
    horizon_table = pages.table(
        ["T", *(f"C = {budget:g}: regret | expected | bound" for budget in (0, 1000))],
        (
            [f"10^{round(log(horizon, 10))}"]
            + [
                f"{row['regret']:,.0f} | {row['expected']:,.0f} | {row['bound']:,.0f}"
                for row in horizon_rows
                if row["horizon"] == horizon
            ]
            for horizon in rates.HORIZONS
        ),
    ).replace("|---|--:|--:|", "|---|--:|--:|--:|--:|--:|--:|")
    budget_rows = [(n_arms, *rates.in_budget(n_arms)) for n_arms in (2, 5, 10, 20)]
    budget_table = pages.table(
        ["K", *(f"C = {row['budget']:,}" for row in budget_rows[0][1]), "slope in C", "slope / (K − 1)", "explained"],
        (
            [
                str(n_arms),
                *(f"{row['regret']:,.0f}" for row in rows),
                f"{line.slope:.2f}",
                f"{line.slope / (n_arms - 1):.2f}",
                f"{line.explained:.2%}",
            ]
            for n_arms, rows, line in budget_rows
        ),
    )
    exponents = list(rates.pe_wr_exponents(watch=pages.watcher("PE-WR's exponents")))
    exponent_table = pages.table(
        ["β", "measured", "95 %", "theory", "explained", "worst attacks, from 10⁹ to 10¹⁵"],
        (
            [
                f"{e.beta:g}",
                f"**{e.line.slope:.3f}**",
                f"{e.line.low:.3f} … {e.line.high:.3f}",
                f"{e.theory:.2f}",
                f"{e.line.explained:.2%}",
                ", ".join(dict.fromkeys(row["attack"] for row in e.rows)),
            ]
            for e in exponents
        ),
    )
    pages.draw("exponents.svg", exponent_figure(exponents))
    formula_table = pages.table(
        ["slope of ln(T · largest burst gap) in ln T", *(f"T = 10^{a} … 10^{b}" for a, b in SPANS), "theory"],
        (
            [
                f"β = {beta:g}",
                *(formula_slope(beta, a, b) for a, b in SPANS),
                f"{theory.exponent('additive', beta):.2f}",
            ]
            for beta in (0.35, 0.4, 0.45)
        ),
    )
    rows = separation.budgets(watch=pages.watcher("attack and corruption"))
    pages.draw("separation.svg", separation_figure(rows))
    separation_table = pages.table(
        ["least budget", *(f"T = {horizon:,}" for horizon in separation.HORIZONS)],
        (
            [f"{policy}, {who}"]
            + [
                "more than T" if row["budget"] is None else f"{row['budget']:,.0f}"
                for row in rows
                if (row["policy"], row["adversary"]) == (policy, who)
            ]
            for policy in dict.fromkeys(row["policy"] for row in rows)
            for who in ("attack", "corruption")
        ),
    )
    page = PAGE.format(
        seconds="about three minutes on two cores",
        replications=rates.REPLICATIONS,
        horizon_table=horizon_table,
        clean=fits[0],
        clean_expected=expected_slope(horizon_rows[: len(rates.HORIZONS)]),
        attacked_expected=expected_slope(horizon_rows[len(rates.HORIZONS) :]),
        attacked=fits[1],
        budget_table=budget_table,
        exponent_table=exponent_table,
        formula_table=formula_table,
        separation_table=separation_table,
    )
    pages.write("rates.md", page)


def expected_slope(rows: list[dict[str, Any]]) -> float:
    """The slope in ln T of the regret that the line alone gives."""
    return rates.fit([log(row["horizon"]) for row in rows], [np.array([row["expected"]]) for row in rows]).slope


SPANS = ((9, 15), (30, 36), (100, 106), (250, 256))


def formula_slope(beta: float, low: int, high: int) -> str:
    """The slope of the regret that the best burst causes, between two powers of ten, by its price alone."""
    heights = []
    for power in (low, high):
        gaps = rates.burst_gaps(10**power, 10.0 ** (power * beta))
        heights.append(None if not gaps else log(max(gaps)) + power * log(10.0))
    if heights[0] is None or heights[1] is None:
        return "no burst yet"
    return f"{(heights[1] - heights[0]) / ((high - low) * log(10.0)):.3f}"


def exponent_figure(exponents: list[rates.Exponent]) -> Any:
    """Measured points with intervals over the theory's line."""
    points = [
        {"beta": e.beta, "exponent": e.line.slope, "low": e.line.low, "high": e.line.high, "what": "measured"}
        for e in exponents
    ]
    curve = [
        {"beta": i / 100, "exponent": theory.exponent("additive", i / 100), "what": "theory: max(1/2, 2 beta)"}
        for i in range(61)
    ]
    alt = "Exponent of PE-WR's worst regret in T against beta, C = T^beta: measured from 10^9 to 10^15 and theory"
    names = ["measured", "theory: max(1/2, 2 beta)"]
    colour = altair.Color("what:N", title=None, sort=names, scale=altair.Scale(domain=names, range=COLOURS[:2]))
    y = altair.Y("exponent:Q", title="exponent of the regret in T", scale=altair.Scale(domain=[0.4, 1.05]))
    x = altair.X("beta:Q", title="beta: the attack spends C = T^beta")
    theory_line = altair.Chart(altair.Data(values=curve)).mark_line(strokeDash=[6, 3]).encode(x=x, y=y, color=colour)  # type: ignore[no-untyped-call]
    base = altair.Chart(altair.Data(values=points))  # type: ignore[no-untyped-call]
    measured = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour)
    bars = base.mark_rule(strokeWidth=2).encode(x=x, y=altair.Y("low:Q"), y2="high:Q", color=colour)
    figure = altair.layer(theory_line, bars, measured)
    return figure.properties(width=420, height=280, title="PE-WR: worst regret at C = T^beta", description=alt)


def separation_figure(rows: list[dict[str, Any]]) -> Any:
    titles = {
        "title": "Least budget for linear regret",
        "x": "horizon T (rounds)",
        "y": "budget (fake events)",
        "policy": "policy",
        "adversary": "adversary",
    }
    known = [row for row in rows if row["budget"] is not None]
    alt = "Least budget for linear regret against the horizon for five policies, under attack and under corruption"
    return pages.lines(known, x="horizon", y="budget", colour="policy", dash="adversary", titles=titles, alt=alt)


if __name__ == "__main__":
    main()
