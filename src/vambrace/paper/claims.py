"""The paper's claims, and what the suites say of them: it holds, it does not, or what was corrected holds.

A claim that an experiment cannot decide says so. All words, those of the evidence too, and the paper's table of results
stand in claims.toml. A judge here says whether a claim holds, and the numbers that its evidence quotes.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vambrace import theory
from vambrace.lab.study import Play, Study, worst
from vambrace.paper import price
from vambrace.paper.suites import is_suite
from vambrace.policies import SEWR
from vambrace.protocols import Floats
from vambrace.report.experiments import Claim

RESAMPLES = 400  # for the interval of a slope
SEED = 2026
Judged = tuple[bool | None, dict[str, Any]]

_TEXT = tomllib.loads((Path(__file__).parent / "claims.toml").read_text(encoding="utf-8"))
CLAIMS = tuple(Claim(id=name, **rest) for name, rest in _TEXT["claims"].items())
RESULTS = tuple((each["row"], each["known"], each["unknown"]) for each in _TEXT["results"])


def verdict(claim: Claim, studies: Mapping[str, Study]) -> Claim:
    """The claim, judged; undecided without its suite as it is shipped, or where cells of the suite are missing."""
    study = None
    if claim.suite is not None:
        study = studies.get(claim.suite)
        if study is None:
            return claim._replace(evidence=f"The suite {claim.suite} was not run.")
        if not is_suite(study):
            return claim._replace(evidence=f"The experiment {claim.suite} is not the suite of that name.")
        missing = study.status.total - len(study.status.done)
        if missing:
            return claim._replace(evidence=f"{missing:,} cells of the suite {claim.suite} are missing.")
    holds, numbers = JUDGES[claim.id](study)
    return claim._replace(holds=holds, evidence=claim.evidence.format(**numbers))


def explicit(play: Play) -> list[float]:
    """What SE-WR's bounds with explicit constants promise of a game: gap-dependent, additive, multiplicative."""
    found = theory.promises(play.game.policy, play.gaps, horizon=play.game.horizon, budget=play.spendable)
    return [bound.value for bound in found]


class Line(NamedTuple):
    """A fitted line: its slope with an interval of 95 %, and how much of the variation it explains."""

    slope: float
    low: float
    high: float
    explained: float


def fit(x: Sequence[float], samples: Sequence[Floats], transform: Callable[[Any], Any] = lambda y: y) -> Line:
    """Least squares through the means of the samples, one for each x, after a transform such as a logarithm."""
    design = np.column_stack([np.ones(len(x)), x])
    rng = np.random.default_rng(SEED)
    resampled = [[transform(rng.choice(sample, len(sample)).mean()) for sample in samples] for _ in range(RESAMPLES)]
    heights = np.array([[transform(sample.mean()) for sample in samples], *resampled]).T
    lines = np.linalg.lstsq(design, heights, rcond=None)[0]
    low, high = np.quantile(lines[1, 1:], [0.025, 0.975])
    residual = heights[:, 0] - design @ lines[:, 0]
    return Line(float(lines[1, 0]), float(low), float(high), float(1.0 - residual.var() / heights[:, 0].var()))


def _concealment(study: Study) -> Judged:
    positions = worst(study.plays, lambda play: (play.game.line, play.game.budget))
    ratios = {
        (line, budget): play.regret / theory.concealment(8, horizon=play.game.horizon, budget=budget).value
        for (line, budget), play in positions.items()
        if budget > 0
    }
    (line, budget), least = min(ratios.items(), key=lambda item: item[1])
    policies = len({line for line, _ in ratios})
    return least >= 1.0, {"games": len(ratios), "policies": policies, "least": least, "line": line, "budget": budget}


def _se_wr_plays(study: Study) -> list[Play]:
    """Those of SE-WR with the paper's radius, given at least what the attack may spend."""
    return [play for play in study.plays if isinstance(play.game.policy, SEWR) and len(explicit(play)) == 3]


def _gap_dependent(study: Study) -> Judged:
    plays = _se_wr_plays(study)
    ratio = max(float(play.final.max()) / explicit(play)[0] for play in plays)
    clean = [play for play in plays if play.game.panel == "horizon" and play.game.budget == 0]
    in_time = fit([log(play.game.horizon) for play in clean], [play.final for play in clean])
    expected = sum(8.0 / gap for gap in clean[0].gaps)
    slopes = []
    for place in dict.fromkeys(play.game.place for play in plays if play.game.panel == "budget"):
        spent = [play for play in plays if play.game.panel == "budget" and play.game.place == place]
        line = fit([play.game.budget for play in spent], [play.final for play in spent])
        slopes.append(line.slope / (spent[0].game.environment.n_arms - 1))
    numbers = {"games": sum(len(play.final) for play in plays), "ratio": ratio, "time": in_time, "expected": expected}
    holds = ratio <= 1.0 and in_time.explained > 0.99 and max(slopes) < 6.0
    return holds, numbers | {"flattest": min(slopes), "steepest": max(slopes)}


def _gap_free(study: Study) -> Judged:
    plays = _se_wr_plays(study)
    additive, multiplicative = (max(float(play.final.max()) / explicit(play)[i] for play in plays) for i in (1, 2))
    return max(additive, multiplicative) <= 1.0, {"additive": additive, "multiplicative": multiplicative}


def exponents(study: Study) -> dict[float, Line]:
    """PE-WR at C = T^beta: the slope of ln(worst regret) in ln T for each beta."""
    found = worst(study.panel("pe-wr"), lambda play: (play.game.power, play.game.horizon))
    lines = {}
    for power in sorted({power for power, _ in found}):
        plays = [play for (each, _), play in found.items() if each == power]
        lines[power] = fit([log(play.game.horizon) for play in plays], [play.final for play in plays], np.log)
    return lines


def _phases(study: Study) -> Judged:
    plays = study.panel("pe-wr")
    ratio = max(
        play.regret / theory.pe_wr(2, horizon=play.game.horizon, budget=play.game.budget, corrected=True).value
        for play in plays
    )
    shown = ", ".join(f"{line.slope:.2f} at {power:g}" for power, line in exponents(study).items())
    return ratio <= 1.0, {"games": len(plays), "ratio": ratio, "slopes": shown}


def _root_is_enough(study: Study) -> Judged:
    line = exponents(study)[0.5]
    longest = max((play for play in study.panel("pe-wr") if play.game.power == 0.5), key=_loss)
    return line.slope > 0.95 and _loss(longest) > 0.5, {"slope": line.slope, "loss": _loss(longest)}


def _loss(play: Play) -> float:
    return play.regret / play.most


def at_random(play: Play) -> float:
    """The expected regret of pulling every arm equally often."""
    means = play.game.environment.arm_means()
    return float(means.max() - means.mean()) * play.game.horizon


def _model_selection(study: Study) -> Judged:
    losses = [play.regret / at_random(play) for play in study.panel("unknown") if play.game.line.startswith("ms-se-wr")]
    return None, {"least": min(losses), "most": max(losses)}


def _poster(study: Study) -> Judged:
    lines = {"ucb1": "UCB1", "se": "SE", "se-wr:budget=C": "SE-WR given C", "pe-wr": "PE-WR"}
    table: dict[float, dict[str, float]] = {}
    for play in study.plays:
        if play.game.budget > 0 and play.game.line in lines:
            table.setdefault(play.game.budget, {})[lines[play.game.line]] = play.regret
    trusting, armoured = ("UCB1", "SE"), ("SE-WR given C", "PE-WR")
    shown = "; ".join(
        f"C = {budget:,.0f}: " + ", ".join(f"{line} {row[line]:,.0f}" for line in (*trusting, *armoured))
        for budget, row in table.items()
    )
    holds = all(max(row[line] for line in armoured) < min(row[line] for line in trusting) for row in table.values())
    return holds, {"table": shown, "random": at_random(study.plays[0])}


def least_linear(study: Study) -> dict[str, dict[str, float]]:
    """For attack and corruption, the least budget of each policy at which half of all that can be lost is lost."""
    found: dict[str, dict[str, float]] = {"attack": {}, "corruption": {}}
    for play in sorted(study.plays, key=lambda play: -play.game.budget):
        if _loss(play) >= 0.5:
            found[play.game.panel][play.game.line] = play.game.budget
    return found


def _regret_is_the_price(study: Study) -> Judged:
    clean = {play.game.line: play.regret for play in study.panel("attack") if play.game.budget == 0}
    budgets = least_linear(study)["attack"]
    ratios = {line: budgets.get(line, np.inf) / clean[line] for line in clean}
    shown = ", ".join(f"{line} {clean[line]:,.0f} and {budgets.get(line, np.inf):,.0f}" for line in clean)
    return max(ratios.values()) < 4.0, {"pairs": shown}


def _price_of_armour(study: Study) -> Judged:
    """Nobody lies above what one game allows by more than the interval, and KL-UCB-WR lies near y = x."""
    points, game = price.points(study)
    broken = {point.line: point for point in points if point.broken is not None}
    ratios = {line: (point.broken or 0.0) / point.price for line, point in broken.items()}
    line = max(ratios, key=ratios.__getitem__, default="nobody broke")
    surely = max((point.low / point.price for point in points), default=0.0)
    own = {each: ratio for each, ratio in ratios.items() if each.startswith("kl-ucb-wr")}
    others = dict.fromkeys(play.game.line for play in study.plays)
    numbers = {
        "largest": ratios.get(line, 0.0),
        "line": line,
        "surely": surely,
        "slope": game.slope,
        "own": ", ".join(f"{ratio:.2f} at {each.partition('=')[2]}" for each, ratio in own.items()),
        "none": ", ".join(each for each in others if each not in {point.line for point in points}) or "none",
    }
    large = [ratio for line, ratio in own.items() if float(line.partition("=")[2]) >= 30]  # at 10 chance costs more
    return surely <= game.slope and len(large) == 4 and min(large) > 0.9, numbers


def _separation(study: Study) -> Judged:
    budgets = least_linear(study)
    lines = dict.fromkeys(play.game.line for play in study.panel("attack"))
    pairs = {line: tuple(budgets[panel].get(line, np.inf) for panel in ("attack", "corruption")) for line in lines}
    shown = ", ".join(f"{line} {attack:,.0f} and {corruption:,.0f}" for line, (attack, corruption) in pairs.items())
    return all(corruption > attack for attack, corruption in pairs.values()), {"pairs": shown}


def _cliff(study: Study) -> Judged:
    plays = [play for play in study.panel("elimination") if play.game.line == "se-wr:budget=1000"]
    kept = [play for play in plays if play.game.budget <= 1000]
    ratio = max(float(play.final.max()) / explicit(play)[0] for play in kept)
    beyond = [play.game.budget for play in plays if play.game.budget > 1000 and _loss(play) > 0.1]
    fallen = f"loses a tenth of all that can be lost from C = {min(beyond):,.0f} on" if beyond else "loses little, too"
    return ratio <= 1.0, {"ratio": ratio, "beyond": fallen}


def _crossings(_: None) -> Judged:
    found = [theory.crossing(*pair) for pair in (("corral", "exp3p"), ("additive", "exp3p"))]
    shown = " and ".join(f"β = {beta}" for beta, _ in found)
    return [str(beta) for beta, _ in found] == ["1/3", "4/9"], {"crossings": shown}


def _by_proof(_: None) -> Judged:
    return None, {}


JUDGES: dict[str, Callable[[Any], Judged]] = {
    "concealment": _concealment,
    "combined": _by_proof,
    "regret-is-the-price": _regret_is_the_price,
    "price-of-armour": _price_of_armour,
    "powers": _by_proof,
    "se-wr": _gap_dependent,
    "se-wr-stop": _gap_free,
    "pe-wr": _phases,
    "root": _root_is_enough,
    "ms-se-wr": _model_selection,
    "comparison": _crossings,
    "separation": _separation,
    "told": _cliff,
    "poster": _poster,
}
