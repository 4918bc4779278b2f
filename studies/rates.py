"""Write docs/rates.md with its figures, from the suites exponents and separation: `make studies`."""

from math import log, sqrt
from typing import Any

import altair
import numpy as np

import breaking
import pages
from vambrace import theory
from vambrace.lab.study import Play, Study, worst
from vambrace.paper.claims import exponents, fit, least_linear
from vambrace.policies import PEWR
from vambrace.protocols import Game
from vambrace.report.style import COLOURS

SEPARATION = "Regret against the budget for six policies, under attack and under corruption"

PAGE = """\
# Rates, measured

*This page is written by `make studies` from the suites `exponents` and `separation`, which `vambrace run` plays.*

The paper's claims are about growth: in the horizon T, in the budget C, in the number of arms K. The leap engine plays up
to 10¹⁵ rounds, so they can be seen. {replications} replications each; intervals are 95 %, from resampling them.

## SE-WR grows like ln T

Ten arms, gap 0.1, Conceal spends the budget that SE-WR is given. The attack takes C from the sum of the best arm and SE-WR waits for
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

Two arms, the worst over attacks (no attack, Conceal, phase burst, elimination rush) and over gaps: around √(K/T), where
arms are hardest to tell apart, around C²/T, where a burst may just succeed, and 0.5. T = 10⁹, 10¹¹, 10¹³ and 10¹⁵.
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
of the budget that the constants eat shrinks as T grows. At β = 0.4 the first burst succeeds only in the last decades:
the regret is that of √T before and rises steeply then, so the fitted {kink:.2f} is a line through a kink (see "explained"), not
an exponent. At β = 0.5 the measured exponent is {above:.2f}, where the theory has 1. The intervals are those of chance only.

## Attack and corruption

Two arms, 0.9 and 0.6, 100,000 rounds, {games} replications. The attacker conceals the best arm when it is pulled; the corrupter does
the same to it in every round, since it does not see the pull.

![{separation_alt}](images/separation.svg)

The least budget at which the regret reaches half of always playing the worse arm: on a grid of threefold steps, and for
the attacker also by a search over all attacks that we know ([`vb.breakdown`](reference/redteam.md#vambrace.breakdown)), with
its interval:

{separation_table}

The search needs no more than hiding the best arm does. Up to a factor of three is the grid's (UCB1 and BARBAR: the search
found nothing better); SE and PE-WR fall to an attack that gets the best arm dropped with much less. Policies made against
corruption (MLAAER, BARBAR) cost an attacker more than UCB1 does, but far less than they cost a corrupter. SE never looks
at a dropped arm again, so both need only get it dropped once.
"""


def main() -> None:
    rates = pages.finished("exponents")
    clean, attacked = ([play for play in se_wr(rates, "horizon") if play.game.budget == budget] for budget in (0, 1000))
    lines = [
        fit([log(play.game.horizon) for play in plays], [play.final for play in plays]) for plays in (clean, attacked)
    ]
    separation = pages.finished("separation")
    pages.draw("exponents.svg", exponent_figure(rates))
    pages.draw("separation.svg", separation_figure(separation))
    text = PAGE.format(
        replications=rates.experiment.replications,
        horizon_table=horizon_table(clean, attacked),
        clean=lines[0],
        clean_expected=expected_slope(clean),
        attacked=lines[1],
        attacked_expected=expected_slope(attacked),
        budget_table=budget_table(rates),
        exponent_table=exponent_table(rates),
        kink=exponents(rates)[0.4].slope,
        above=exponents(rates)[0.5].slope,
        formula_table=formula_table(),
        separation_alt=SEPARATION,
        games=separation.experiment.replications,
        separation_table=separation_table(separation),
    )
    pages.write("rates.md", text)


def se_wr(study: Study, panel: str) -> list[Play]:
    """The games of SE-WR with the paper's radius, given what the attack may spend."""
    return [play for play in study.panel(panel) if play.game.line == "se-wr:budget=C"]


def expected(play: Play) -> float:
    """SE-WR's regret by its line alone: Conceal takes the budget from the best arm, SE-WR waits for twice as much.

    n gap - C = 2 sqrt(n L) + 2 C, so n = ((sqrt(L) + sqrt(L + 3 C gap)) / gap)^2 pulls of each of the other arms.
    """
    level = log(2.0) + 2.0 * log(play.game.horizon)
    return sum(gap * ((sqrt(level) + sqrt(level + 3.0 * play.game.budget * gap)) / gap) ** 2 for gap in play.gaps)


def expected_slope(plays: list[Play]) -> float:
    """The slope in ln T of the regret that the line alone gives."""
    return fit([log(play.game.horizon) for play in plays], [np.array([expected(play)]) for play in plays]).slope


def horizon_table(clean: list[Play], attacked: list[Play]) -> str:
    columns = ["T", *(f"C = {budget}: {name}" for budget in (0, 1000) for name in ("regret", "expected", "bound"))]
    rows = []
    for pair in zip(clean, attacked, strict=True):
        row = [f"10^{round(log(pair[0].game.horizon, 10))}"]
        for play in pair:
            game = play.game
            bound = theory.promises(game.policy, play.gaps, horizon=game.horizon, budget=game.budget)[0]
            row += [f"{play.regret:,.0f}", f"{expected(play):,.0f}", f"{bound.value:,.0f}"]
        rows.append(row)
    return pages.table(columns, rows)


def budget_table(study: Study) -> str:
    rows = []
    plays = se_wr(study, "budget")
    for name in dict.fromkeys(play.game.place for play in plays):
        arms = [play for play in plays if play.game.place == name]
        line = fit([play.game.budget for play in arms], [play.final for play in arms])
        others = arms[0].game.environment.n_arms - 1
        regrets = [f"{play.regret:,.0f}" for play in arms]
        rows.append(
            [f"{others + 1}", *regrets, f"{line.slope:.2f}", f"{line.slope / others:.2f}", f"{line.explained:.2%}"]
        )
    budgets = dict.fromkeys(play.game.budget for play in plays)
    return pages.table(
        ["K", *(f"C = {each:,.0f}" for each in budgets), "slope in C", "slope / (K − 1)", "explained"], rows
    )


def exponent_table(study: Study) -> str:
    hardest = worst(study.panel("pe-wr"), lambda play: (play.game.power, play.game.horizon))
    rows = []
    for beta, line in exponents(study).items():
        attacks = dict.fromkeys(play.game.attack for (power, _), play in hardest.items() if power == beta)
        interval = f"{line.low:.3f} … {line.high:.3f}"
        bound = f"{theory.exponent('additive', beta):.2f}"
        rows.append(
            [f"{beta:g}", f"**{line.slope:.3f}**", interval, bound, f"{line.explained:.2%}", ", ".join(attacks)]
        )
    columns = ["β", "measured", "95 %", "theory", "explained", "worst attacks, from 10⁹ to 10¹⁵"]
    return pages.table(columns, rows)


def separation_table(study: Study) -> str:
    budgets, game = least_linear(study), study.plays[0].game
    means = game.environment.arm_means().tolist()
    rows = []
    for line in dict.fromkeys(play.game.line for play in study.panel("attack")):
        row = [f"{budgets[who][line]:,.0f}" if line in budgets[who] else "more" for who in budgets]
        found = breaking.broken(line, means, game.horizon, "loss 50%")
        rows.append([line, row[0], breaking.shown(found), row[1]])
    return pages.table(["least budget", "attack: hide the best arm", "attack: searched", "corruption"], rows)


def formula_table() -> str:
    columns = ["slope of ln(T · largest burst gap) in ln T", *(f"T = 10^{a} … 10^{b}" for a, b in SPANS), "theory"]
    rows = []
    for beta in (0.35, 0.4, 0.45):
        slopes = [formula_slope(beta, a, b) for a, b in SPANS]
        rows.append([f"β = {beta:g}", *slopes, f"{theory.exponent('additive', beta):.2f}"])
    return pages.table(columns, rows)


SPANS = ((9, 15), (30, 36), (100, 106), (250, 256))


def formula_slope(beta: float, low: int, high: int) -> str:
    """The slope of the regret that the best burst causes, between two powers of ten, by its price alone."""
    heights = []
    for power in (low, high):
        gaps = burst_gaps(10**power, 10.0 ** (power * beta))
        heights.append(None if not gaps else log(max(gaps)) + power * log(10.0))
    if heights[0] is None or heights[1] is None:
        return "no burst yet"
    return f"{(heights[1] - heights[0]) / ((high - low) * log(10.0)):.3f}"


def burst_gaps(horizon: int, budget: float, n_arms: int = 2) -> list[float]:
    """The largest gap at which a burst of this budget drops PE-WR's best arm, one for each phase in which one can.

    In phase h the price is n_h gap + 2 sqrt(lambda n_h) + 2 C_h; what the budget leaves of it, less a twentieth so that
    noise does not save the arm, buys the gap. That is of the order of C^2 / T where C_h < C/2 and 2 sqrt(lambda n_h) is
    below C, and there is none where no phase has both.
    """
    state = PEWR().init(Game(n_arms, horizon))
    gaps = []
    for phase in range(horizon.bit_length()):
        pulls = 2**phase
        guess = min(state.cap, state.first_guess * 0.5**phase)
        line = 2.0 * (sqrt(state.rule.log_single * pulls) + guess)
        if n_arms * (2 * pulls - 1) <= horizon and 0.95 * budget > line:
            gaps.append((0.95 * budget - line) / pulls)
    return gaps


def exponent_figure(study: Study) -> Any:
    """Measured points with intervals over the theory's line."""
    points = [
        {"beta": beta, "exponent": line.slope, "low": line.low, "high": line.high, "what": "measured"}
        for beta, line in exponents(study).items()
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


def separation_figure(study: Study) -> Any:
    titles = {
        "title": "Regret under attack and under corruption",
        "x": "budget (fake events)",
        "y": "regret after 100,000 rounds",
        "policy": "policy",
        "adversary": "adversary",
    }
    rows = [
        {"policy": play.game.line, "adversary": play.game.panel, "budget": play.game.budget, "regret": play.regret}
        for play in study.plays
        if play.game.budget > 0
    ]
    return pages.lines(rows, x="budget", y="regret", colour="policy", dash="adversary", titles=titles, alt=SEPARATION)


if __name__ == "__main__":
    main()
