"""Rates, measured: how regret grows with horizon and budget, as far as only the leap engine reaches.

Each study returns rows, ready for a frame, and fits lines whose intervals come from resampling the replications.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from vambrace import theory
from vambrace.adversaries import Conceal, EliminationRush, PhaseBurst
from vambrace.engine.simulate import simulate
from vambrace.environments import Bernoulli
from vambrace.policies import PEWR, SEWR
from vambrace.protocols import Adversary, Environment, Floats, Policy

REPLICATIONS = 40
RESAMPLES = 400
SEED = 2026
HORIZONS = tuple(10**power for power in range(6, 13))
BETAS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
Watch = Callable[[int, int], None]  # told how much of how much is done


@dataclass(frozen=True)
class Line:
    """A fitted line: its slope with an interval of 95 %, and how much of the variation it explains."""

    slope: float
    low: float
    high: float
    explained: float


def fit(x: Sequence[float], samples: Sequence[Floats], transform: Callable[[Any], Any] = lambda y: y) -> Line:
    """Least squares through the transformed means of the samples, one sample of replications for each x."""
    places = np.asarray(x, dtype=float)
    design = np.column_stack([np.ones_like(places), places])

    def slope(heights: Floats) -> float:
        return float(np.linalg.lstsq(design, heights, rcond=None)[0][1])

    heights = np.array([transform(sample.mean()) for sample in samples])
    rng = np.random.default_rng(SEED)
    resampled = [
        slope(np.array([transform(rng.choice(sample, len(sample)).mean()) for sample in samples]))
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(resampled, [0.025, 0.975])
    residual = heights - design @ np.linalg.lstsq(design, heights, rcond=None)[0]
    return Line(slope(heights), float(low), float(high), float(1.0 - residual.var() / heights.var()))


def _regret(policy: Policy, environment: Environment, attack: Adversary | None, horizon: int) -> Floats:
    result = simulate(
        policy,
        environment,
        attack,
        horizon=horizon,
        replications=REPLICATIONS,
        seed=SEED,
        engine="leap",
        checkpoints=1,
        progress=False,
    )
    return result.pseudo_regret[:, -1]


def in_horizon(budget: float, gap: float = 0.1, n_arms: int = 10) -> tuple[list[dict[str, Any]], Line]:
    """SE-WR's regret against ln T, with Conceal spending all that SE-WR was told."""
    means = [0.9] + [0.9 - gap] * (n_arms - 1)
    attack = Conceal(budget=budget) if budget else None
    samples = [_regret(SEWR(budget=budget), Bernoulli(means), attack, horizon) for horizon in HORIZONS]
    bound = [theory.se_wr([gap] * (n_arms - 1), horizon=horizon, budget=budget).value for horizon in HORIZONS]
    rows = [
        {"horizon": horizon, "budget": budget, "regret": float(sample.mean()), "bound": value}
        for horizon, sample, value in zip(HORIZONS, samples, bound, strict=True)
    ]
    return rows, fit([log(horizon) for horizon in HORIZONS], samples)


def in_budget(
    n_arms: int, budgets: Sequence[float] = (0, 2_500, 5_000, 10_000, 20_000, 40_000), horizon: int = 10**12
) -> tuple[list[dict[str, Any]], Line]:
    """SE-WR's regret against the budget, which Conceal spends."""
    means = [0.9] + [0.8] * (n_arms - 1)
    samples = [
        _regret(SEWR(budget=budget), Bernoulli(means), Conceal(budget=budget) if budget else None, horizon)
        for budget in budgets
    ]
    rows = [
        {"n_arms": n_arms, "budget": budget, "regret": float(sample.mean())}
        for budget, sample in zip(budgets, samples, strict=True)
    ]
    return rows, fit([float(budget) for budget in budgets], samples)


@dataclass(frozen=True)
class Exponent:
    """PE-WR at C = T^beta: the fitted exponent of its worst regret, beside the theory's."""

    beta: float
    line: Line
    theory: float
    rows: tuple[dict[str, Any], ...]  # for each horizon the worst gap and attack


def pe_wr_exponents(
    betas: Sequence[float] = BETAS, horizons: Sequence[int] = HORIZONS, watch: Watch = lambda done, total: None
) -> Iterator[Exponent]:
    """For each beta the worst regret over attacks and gaps, at every horizon, and its slope in ln T.

    Bounds that do not depend on the gaps are worst cases, so the gap is the worst of a grid around C^2 / T and
    sqrt(K / T), between which the hardest instances lie.
    """
    done, total = 0, len(betas) * len(horizons)
    for beta in betas:
        worst, rows = [], []
        for horizon in horizons:
            sample, row = _worst_case(horizon, float(horizon) ** beta)
            worst.append(sample)
            rows.append({"beta": beta, "horizon": horizon} | row)
            done += 1
            watch(done, total)
        line = fit([log(horizon) for horizon in horizons], worst, np.log)
        yield Exponent(beta, line, theory.exponent("additive", beta), tuple(rows))


def _worst_case(horizon: int, budget: float) -> tuple[Floats, dict[str, Any]]:
    """The largest mean regret of PE-WR with two arms over a grid of gaps and the attacks that can hurt it."""
    scales = {sqrt(2.0 / horizon) * 2.0**j for j in range(9)} | {budget**2 / horizon * 2.0**-j for j in range(-2, 5)}
    best: tuple[Floats, dict[str, Any]] | None = None
    for gap in sorted(scale for scale in scales if 1.0 / horizon < scale <= 0.5):
        environment = Bernoulli([0.5 + gap / 2.0, 0.5 - gap / 2.0])
        for attack in (None, PhaseBurst(budget=budget), EliminationRush(budget=budget), Conceal(budget=budget)):
            sample = _regret(PEWR(), environment, attack, horizon)
            if best is None or sample.mean() > best[0].mean():
                name = attack.name if attack else "none"
                best = sample, {"budget": budget, "gap": gap, "attack": name, "regret": float(sample.mean())}
    if best is None:
        raise AssertionError("the grid of gaps is never empty: sqrt(2 / T) lies in it for T >= 8")
    return best
