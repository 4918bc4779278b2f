"""Upper bounds: what the paper's policies guarantee.

Bounds have explicit constants if a proof gives them; otherwise they are orders, with every constant set to one
(`Bound.explicit` says which). L = ln(2KT/delta); delta = None means K/T.
"""

from collections.abc import Sequence
from math import log, sqrt

from vambrace import validation
from vambrace.theory.bound import Bound

SUFFICIENT = "with probability 1 - delta, when the attack spends at most the budget"
ORDER = "an order: all constants are left out"
GAP_FREE = "from Theorem 6; no stop condition is needed (E16)"


def _check(n_arms: int, horizon: int, budget: float) -> None:
    validation.whole("n_arms", n_arms, low=1, high=10**6)
    validation.number("horizon", horizon, low=n_arms, high=float("inf"))
    validation.budget(budget)


def _upper(name: str, value: float, formula: str, *, holds: str, source: str, explicit: bool = False) -> Bound:
    return Bound(name=name, kind="upper", value=value, explicit=explicit, formula=formula, holds=holds, source=source)


def _level(n_arms: int, horizon: int, budget: float, delta: float | None, factor: float = 2.0) -> float:
    """ln(factor K T / delta), as a sum of logarithms: K T / delta may be beyond any integer. Refuses wrong numbers."""
    _check(n_arms, horizon, budget)
    return log(factor) + log(n_arms) + log(horizon) - log(validation.delta(delta) or n_arms / horizon)


def se_wr(
    gaps: Sequence[float], *, horizon: int, budget: float, delta: float | None = None, radius: str = "paper"
) -> Bound:
    """SE-WR's gap-dependent bound: the sum over the other arms of 36 L / gap + 6 budget, plus K.

    36 and 6 are right although the proof shows 64 and 8 (E1): an arm is dropped once 4 (r + c) < gap with r = sqrt(L/N)
    and c = budget/N; at N = 36 L / gap^2 + 6 budget / gap and with x = 36 L / (gap^2 N) that is
    (2/3)(sqrt(x) + 1 - x) <= 5/6. For radius "tight" an arm is dropped once 2 (r + c) < gap with L' = ln(KT/delta), and
    the same step gives 9 L' / gap + 3 budget. There both directions of a difference of means must hold: 1 - 2 delta.
    K covers the rounding up of N. An arm with gap 0 is as good as the best: it costs nothing and counts in K.

    Args:
        gaps: The gap of each arm other than the best.
        horizon: The number of rounds T.
        budget: What the attack spends at most: the budget that the policy is given.
        delta: The probability that the bound fails; None: K / T.
        radius: "paper" or "tight".

    >>> from vambrace import theory
    >>> round(theory.se_wr([0.1, 0.2], horizon=10**6, budget=100).value)
    16498
    """
    n_arms = len(gaps) + 1
    for k, gap in enumerate(gaps):
        validation.number(f"gaps[{k}]", gap, low=0.0, high=1.0)
    name, formula, holds = "SE-WR, gap-dependent", "sum(36 L/gap + 6 C) + K", SUFFICIENT
    source, width, share, sides = "Theorem 6, constants E1", 36.0, 6.0, 2.0
    if validation.choice("radius", radius, ("paper", "tight")) == "tight":
        name, formula = f"{name}, radius tight", "sum(9 L'/gap + 3 C) + K, L' = ln(KT/delta)"
        holds = SUFFICIENT.replace("1 - delta", "1 - 2 delta")
        source, width, share, sides = "Theorem 6, its step with the tight radius", 9.0, 3.0, 1.0
    level = _level(n_arms, horizon, budget, delta, sides)
    value = sum(width * level / gap + share * budget for gap in gaps if gap > 0.0) + n_arms
    return _upper(name, value, formula, holds=holds, source=source, explicit=True)


def se_wr_additive(n_arms: int, *, horizon: int, budget: float, delta: float | None = None) -> Bound:
    """Gap-free and additive: 12 sqrt(K T L) + 6 K C + K, for plain SE-WR too (E16).

    Arms with gaps above e cost at most 36 K L / e + 6 K C, the others e T; e = 6 sqrt(K L / T).

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most: the budget that the policy is given.
        delta: The probability that the bound fails; None: K / T.
    """
    level = _level(n_arms, horizon, budget, delta)
    value = 12.0 * sqrt(n_arms * horizon * level) + 6.0 * n_arms * budget + n_arms
    name, formula = "SE-WR, gap-free, additive", "12 sqrt(K T L) + 6 K C + K"
    return _upper(name, value, formula, holds=SUFFICIENT, source=GAP_FREE, explicit=True)


def se_wr_multiplicative(n_arms: int, *, horizon: int, budget: float, delta: float | None = None) -> Bound:
    """Gap-free and multiplicative: 2 sqrt(K T (36 L + 6 C)) + K, for plain SE-WR too (E16).

    Gaps are at most one, so an arm costs at most (36 L + 6 C) / gap; balanced against e T.

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most: the budget that the policy is given.
        delta: The probability that the bound fails; None: K / T.
    """
    level = _level(n_arms, horizon, budget, delta)
    value = 2.0 * sqrt(n_arms * horizon * (36.0 * level + 6.0 * budget)) + n_arms
    name, formula = "SE-WR, gap-free, multiplicative", "2 sqrt(K T (36 L + 6 C)) + K"
    return _upper(name, value, formula, holds=SUFFICIENT, source=GAP_FREE, explicit=True)


def se_wr_stop(
    n_arms: int, *, horizon: int, budget: float, stop: str = "additive", delta: float | None = None
) -> Bound:
    """SE-WR-Stop's two orders.

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most: the budget that the policy is given.
        stop: Which of the two stop conditions: "additive" or "multiplicative".
        delta: The probability that the bound fails; None: K / T.
    """
    level = _level(n_arms, horizon, budget, delta, 1.0)
    validation.choice("stop", stop, ("additive", "multiplicative"))
    if stop == "additive":
        value, formula = sqrt(n_arms * horizon * level) + n_arms * budget, "sqrt(K T ln(KT/delta)) + K C"
    else:
        value, formula = sqrt(n_arms * horizon * (level + budget)), "sqrt(K T (ln(KT/delta) + C))"
    return _upper(f"SE-WR-Stop, {stop}", value, formula, holds=f"{SUFFICIENT}; {ORDER}", source="Theorem 7")


def pe_wr(n_arms: int, *, horizon: int, budget: float, delta: float | None = None, corrected: bool = False) -> Bound:
    """PE-WR's order, as printed or with correct book-keeping.

    With correct book-keeping C^2 has no factor K for C up to the cap (E5). The proof needs the cap sqrt(T/K) for that
    (E3), which adds a factor sqrt(K) to sqrt(T) ln T.

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most.
        delta: The probability that the bound fails; None: K / T.
        corrected: True: with the corrections of the errata; False: as printed.
    """
    level = _level(n_arms, horizon, budget, delta, 1.0) - log(horizon) + log(max(1.0, log(horizon)))
    caps = sqrt(n_arms * horizon if corrected else horizon) * log(horizon)  # K times the cap, in every phase
    base = sqrt(n_arms * horizon * level) + caps + n_arms * budget * log(horizon)
    value = base + (1.0 if corrected else n_arms) * budget**2
    if corrected:
        formula = "sqrt(K T ln(K ln T/delta)) + sqrt(K T) ln T + K C ln T + C^2"
        holds = f"with probability 1 - delta, with the repaired cap, for C up to it; {ORDER}"
        return _upper("PE-WR with correct book-keeping", value, formula, holds=holds, source="Theorem 9 with E3 and E5")
    formula = "sqrt(K T ln(K ln T/delta)) + sqrt(T) ln T + K C ln T + K C^2"
    return _upper("PE-WR as printed", value, formula, holds=f"with probability 1 - delta; {ORDER}", source="Theorem 9")


def ms_se_wr(n_arms: int, *, horizon: int, budget: float, master: str = "corral") -> Bound:
    """MS-SE-WR's orders; the theorem has the two masters swapped (E2). C is read as max(C, 1) (E15).

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most.
        master: "corral" or "exp3p".
    """
    _check(n_arms, horizon, budget)
    validation.choice("master", master, ("corral", "exp3p"))
    spent = max(budget, 1.0)
    holds, source = f"in expectation; {ORDER}, and logarithms too", "Theorem 11 with the masters as in E2; E15, E25"
    if master == "corral":
        return _upper("MS-SE-WR, CORRAL", n_arms * spent * sqrt(horizon), "K C sqrt(T)", holds=holds, source=source)
    value = sqrt(n_arms * spent) * horizon ** (2.0 / 3.0)
    return _upper("MS-SE-WR, EXP3.P", value, "sqrt(K C) T^(2/3)", holds=holds, source=source)
