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
from vambrace.engine.simulation import simulate
from vambrace.environments import Bernoulli
from vambrace.policies import PEWR, SEWR
from vambrace.protocols import Adversary, Environment, Floats, Game, Policy

REPLICATIONS = 40
RESAMPLES = 400
SEED = 2026
HORIZONS = tuple(10**power for power in range(9, 16))  # six decades, up to the longest that the engine plays
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
        {
            "horizon": horizon,
            "budget": budget,
            "regret": float(sample.mean()),
            "expected": expected_regret(gap, n_arms, horizon, budget),
            "bound": value,
        }
        for horizon, sample, value in zip(HORIZONS, samples, bound, strict=True)
    ]
    return rows, fit([log(horizon) for horizon in HORIZONS], samples)


def expected_regret(gap: float, n_arms: int, horizon: int, budget: float) -> float:
    """SE-WR's regret by its line alone: Conceal takes the budget from the best arm, SE-WR waits for twice as much.

    n gap - C = 2 sqrt(n L) + 2 C, so n = ((sqrt(L) + sqrt(L + 3 C gap)) / gap)^2 pulls of each of the other arms.
    """
    level = log(2.0) + 2.0 * log(horizon)
    return (n_arms - 1) * gap * ((sqrt(level) + sqrt(level + 3.0 * budget * gap)) / gap) ** 2


def in_budget(
    n_arms: int,
    gap: float = 0.1,
    budgets: Sequence[float] = (0, 2_500, 5_000, 10_000, 20_000, 40_000),
    horizon: int = 10**12,
) -> tuple[list[dict[str, Any]], Line]:
    """SE-WR's regret against the budget, which Conceal spends."""
    means = [0.9] + [0.9 - gap] * (n_arms - 1)
    samples = [
        _regret(SEWR(budget=budget), Bernoulli(means), Conceal(budget=budget) if budget else None, horizon)
        for budget in budgets
    ]
    rows = [
        {
            "n_arms": n_arms,
            "budget": budget,
            "regret": float(sample.mean()),
            "expected": expected_regret(gap, n_arms, horizon, budget),
        }
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

    Bounds that do not depend on the gaps are worst cases, so the gap is the worst of many: around sqrt(K / T), where
    arms are hardest to tell apart, around C^2 / T, where a burst just succeeds, and the largest ones.
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
    """The largest mean regret of PE-WR with two arms over gaps and the attacks that can hurt it."""
    near_root = [sqrt(2.0 / horizon) * 2.0**j for j in range(9)]
    games: list[tuple[float, Adversary | None]] = []
    for gap in (*near_root, 0.25, 0.5):
        games += [(gap, None), (gap, Conceal(budget=budget))]
    for gap in (*near_root, 0.25, 0.5, *burst_gaps(horizon, budget)):
        games += [(gap, PhaseBurst(budget=budget)), (gap, EliminationRush(budget=budget))]
    found: list[tuple[Floats, dict[str, Any]]] = []
    for gap, attack in games:
        if gap <= 0.5:
            sample = _regret(PEWR(), Bernoulli([0.5 + gap / 2.0, 0.5 - gap / 2.0]), attack, horizon)
            row = {"budget": budget, "gap": gap, "attack": attack.name if attack else "none"}
            found.append((sample, row | {"regret": float(sample.mean())}))
    return max(found, key=lambda each: each[1]["regret"])


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
