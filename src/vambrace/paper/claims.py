"""The paper's claims, and what the suites say of them: it holds, it does not, or what was corrected holds.

A claim that an experiment cannot decide says so. The claims and the paper's table of results stand in claims.toml.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vambrace import theory
from vambrace.lab.study import Play, Study, worst
from vambrace.paper.fits import Line, fit
from vambrace.paper.suites import is_suite
from vambrace.policies import SEWR

Studies = Mapping[str, Study]


class Verdict(NamedTuple):
    """Whether a claim holds, None where the experiments do not decide it, and why."""

    holds: bool | None
    evidence: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is claimed, where, and which suite judges it."""

    id: str
    source: str
    statement: str
    errata: str = ""  # what had to be corrected before it could be judged
    suite: str | None = None  # None: no games do

    def verdict(self, studies: Studies) -> Verdict:
        """The verdict; undecided without the suite as it is shipped, or where cells of it are missing."""
        if self.suite is None:
            return JUDGES[self.id]()
        if self.suite not in studies:
            return Verdict(None, f"The suite {self.suite} was not run.")
        study = studies[self.suite]
        if not is_suite(study):
            return Verdict(None, f"The experiment {self.suite} is not the suite of that name.")
        missing = study.status.total - len(study.status.done)
        if missing:
            return Verdict(None, f"{missing:,} cells of the suite {self.suite} are missing.")
        return JUDGES[self.id](study)


_TEXT = tomllib.loads((Path(__file__).parent / "claims.toml").read_text(encoding="utf-8"))
CLAIMS = tuple(Claim(id=name, **rest) for name, rest in _TEXT["claims"].items())
RESULTS = tuple(
    (each["row"], *(tuple((formula, claim) for formula, claim in each[key]) for key in ("known", "unknown")))
    for each in _TEXT["results"]
)


def explicit(play: Play) -> list[float]:
    """What SE-WR's bounds with explicit constants promise of a game: gap-dependent, additive, multiplicative."""
    found = theory.promises(play.game.policy, play.gaps, horizon=play.game.horizon, budget=play.spendable)
    return [bound.value for bound in found]


def _concealment(study: Study) -> Verdict:
    positions = worst(study.plays, lambda play: (play.game.line, play.game.budget))
    ratios = {
        (line, budget): play.regret / theory.concealment(8, horizon=play.game.horizon, budget=budget).value
        for (line, budget), play in positions.items()
        if budget > 0
    }
    (line, budget), least = min(ratios.items(), key=lambda item: item[1])
    return Verdict(
        least >= 1.0,
        f"{len(ratios)} games of {len({line for line, _ in ratios})} policies, each in its worst position: the least "
        f"regret was {least:.2f} times the bound ({line}, C = {budget:g}).",
    )


def _se_wr_plays(study: Study) -> list[Play]:
    """Those of SE-WR with the paper's radius, given at least what the attack may spend."""
    return [play for play in study.plays if isinstance(play.game.policy, SEWR) and len(explicit(play)) == 3]


def _gap_dependent(study: Study) -> Verdict:
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
    return Verdict(
        ratio <= 1.0 and in_time.explained > 0.99 and max(slopes) < 6.0,
        f"{sum(len(play.final) for play in plays):,} games of up to 10^15 rounds: the largest regret was {ratio:.2f} "
        f"of the bound. It grows by {in_time.slope:,.0f} [{in_time.low:,.0f}, {in_time.high:,.0f}] for a unit of ln T "
        f"({expected:,.0f} by its own line), and by {min(slopes):.2f} to {max(slopes):.2f} times (K - 1) C.",
    )


def _gap_free(study: Study) -> Verdict:
    plays = _se_wr_plays(study)
    additive, multiplicative = (max(float(play.final.max()) / explicit(play)[i] for play in plays) for i in (1, 2))
    return Verdict(
        max(additive, multiplicative) <= 1.0,
        f"SE-WR itself, without a stop condition, has both bounds: the largest regret was {additive:.3f} of the "
        f"additive and {multiplicative:.3f} of the multiplicative one.",
    )


def exponents(study: Study) -> dict[float, Line]:
    """PE-WR at C = T^beta: the slope of ln(worst regret) in ln T for each beta."""
    found = worst(study.panel("pe-wr"), lambda play: (play.game.power, play.game.horizon))
    lines = {}
    for power in sorted({power for power, _ in found}):
        plays = [play for (each, _), play in found.items() if each == power]
        lines[power] = fit([log(play.game.horizon) for play in plays], [play.final for play in plays], np.log)
    return lines


def _phases(study: Study) -> Verdict:
    plays = study.panel("pe-wr")
    ratio = max(
        play.regret / theory.pe_wr(2, horizon=play.game.horizon, budget=play.game.budget, corrected=True).value
        for play in plays
    )
    shown = ", ".join(f"{line.slope:.2f} at {power:g}" for power, line in exponents(study).items())
    return Verdict(
        ratio <= 1.0,
        f"{len(plays):,} games of two arms, gaps and attacks chosen to hurt: the largest mean regret was {ratio:.2f} "
        f"of the corrected bound, all constants that it hides set to one. Measured exponents of T at C = T^β: {shown}.",
    )


def _root_is_enough(study: Study) -> Verdict:
    line = exponents(study)[0.5]
    longest = max((play for play in study.panel("pe-wr") if play.game.power == 0.5), key=_loss)
    return Verdict(
        line.slope > 0.95 and _loss(longest) > 0.5,
        f"At C = √T the worst regret of PE-WR grows like T^{line.slope:.2f}; the worst game lost {_loss(longest):.0%} "
        "of all that can be lost.",
    )


def _loss(play: Play) -> float:
    return play.regret / play.most


def at_random(play: Play) -> float:
    """The expected regret of pulling every arm equally often."""
    means = play.game.environment.arm_means()
    return float(means.max() - means.mean()) * play.game.horizon


def _model_selection(study: Study) -> Verdict:
    losses = [play.regret / at_random(play) for play in study.panel("unknown") if play.game.line.startswith("ms-se-wr")]
    return Verdict(
        None,
        "An order without constants, which one horizon cannot decide. At T = 200,000 both masters lose "
        f"{min(losses):.0%} to {max(losses):.0%} of what playing at random does, attacked or not.",
    )


def _poster(study: Study) -> Verdict:
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
    return Verdict(
        all(max(row[line] for line in armoured) < min(row[line] for line in trusting) for row in table.values()),
        f"{shown}. Playing at random would lose {at_random(study.plays[0]):,.0f}.",
    )


def least_linear(study: Study) -> dict[str, dict[str, float]]:
    """For attack and corruption, the least budget of each policy at which half of all that can be lost is lost."""
    found: dict[str, dict[str, float]] = {"attack": {}, "corruption": {}}
    for play in study.plays:
        budgets, line = found[play.game.panel], play.game.line
        if _loss(play) >= 0.5:
            budgets[line] = min(budgets.get(line, np.inf), play.game.budget)
    return found


def _regret_is_the_price(study: Study) -> Verdict:
    clean = {play.game.line: play.regret for play in study.panel("attack") if play.game.budget == 0}
    budgets = least_linear(study)["attack"]
    ratios = {line: budgets.get(line, np.inf) / clean[line] for line in clean}
    shown = ", ".join(f"{line} {clean[line]:,.0f} and {budgets.get(line, np.inf):,.0f}" for line in clean)
    return Verdict(
        max(ratios.values()) < 4.0,
        "Regret without attack, and the least budget on a grid of threefold steps that makes it half of the largest "
        f"possible: {shown}.",
    )


def _separation(study: Study) -> Verdict:
    budgets = least_linear(study)
    lines = dict.fromkeys(play.game.line for play in study.panel("attack"))
    pairs = {line: tuple(budgets[panel].get(line, np.inf) for panel in ("attack", "corruption")) for line in lines}
    shown = ", ".join(f"{line} {attack:,.0f} and {corruption:,.0f}" for line, (attack, corruption) in pairs.items())
    return Verdict(
        all(corruption > attack for attack, corruption in pairs.values()),
        "The least budget on a grid of threefold steps that makes the regret half of the largest possible, for an "
        f"attacker and for a corrupter: {shown}.",
    )


def _cliff(study: Study) -> Verdict:
    plays = [play for play in study.panel("elimination") if play.game.line == "se-wr:budget=1000"]
    kept = [play for play in plays if play.game.budget <= 1000]
    ratio = max(float(play.final.max()) / explicit(play)[0] for play in kept)
    beyond = [play.game.budget for play in plays if play.game.budget > 1000 and _loss(play) > 0.1]
    fallen = f"loses a tenth of all that can be lost from C = {min(beyond):,.0f} on" if beyond else "loses little, too"
    return Verdict(
        ratio <= 1.0,
        f"Given 1,000, SE-WR stays within {ratio:.2f} of its bound up to C = 1,000. Beyond, where nothing was "
        f"promised, it {fallen}.",
    )


def _crossings() -> Verdict:
    found = [theory.crossing(*pair) for pair in (("corral", "exp3p"), ("additive", "exp3p"))]
    shown = " and ".join(f"β = {beta}" for beta, _ in found)
    return Verdict(
        [str(beta) for beta, _ in found] == ["1/3", "4/9"],
        f"By exact arithmetic, not by experiment: the curves cross at {shown}, as the figure shows. The remark's own "
        "formulas belong to other bounds.",
    )


def _by_proof() -> Verdict:
    return Verdict(None, "A statement about all algorithms of a class: a proof, nothing that games could decide.")


JUDGES: dict[str, Callable[..., Verdict]] = {
    "concealment": _concealment,
    "combined": _by_proof,
    "regret-is-the-price": _regret_is_the_price,
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
