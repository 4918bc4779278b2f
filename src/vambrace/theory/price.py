"""The price of armour: what KL-UCB-WR guarantees, and what every policy pays that survives a budget.

docs/price-of-armour.md has the proofs. B is the budget that the policy survives, C what the attack spends, f the level
of KL-UCB-WR's index, b an arm's share of the trouble: B and what is spent on the arm.
"""

import itertools
from collections.abc import Sequence
from math import floor, inf, sqrt

import numpy as np

from vambrace import validation
from vambrace.engine.openings import Openings, Windows
from vambrace.policies.kl_ucb_wr import exploration_level
from vambrace.protocols import Floats
from vambrace.theory.bound import Bound

HOLDS = "with probability 1 - K delta, when the attack spends at most C = {:,g}"
SOURCE = "the price of armour"


def kl_ucb_wr(
    gaps: Sequence[float],
    *,
    horizon: int,
    budget: float,
    spent: float | None = None,
    delta: float | None = None,
    commit: float = 0.02,
) -> Bound:
    """KL-UCB-WR's bound: (1 + commit) (b + f/gap + sqrt((f/gap)^2 + 2 b f/gap)) + gap, summed over the other arms.

    What is spent is split between the arms as is worst for the policy.

    Args:
        gaps: The gap of each arm other than the best; an arm with gap 0 costs nothing.
        horizon: The number of rounds T.
        budget: The budget B of the policy.
        spent: What the attack spends at most, C; None: the budget.
        delta: The chance that the guarantee fails for an arm; None: K / T.
        commit: The parameter of the policy.

    >>> from vambrace import theory
    >>> round(theory.kl_ucb_wr([0.1, 0.2, 0.3, 0.4], horizon=10**12, budget=10**6, spent=0).value)
    4154637
    """
    spent = _checked(len(gaps) + 1, horizon, budget, spent, delta, commit)
    known = [validation.number(f"gaps[{k}]", gap, low=0.0, high=1.0) for k, gap in enumerate(gaps)]
    level = _level(len(gaps) + 1, horizon, delta)
    positive = sorted(gap for gap in known if gap > 0.0)
    shares = zip(positive, _worst_split(positive, budget, spent), strict=True)
    return Bound(
        name="KL-UCB-WR, gap-dependent",
        kind="upper",
        value=sum((1.0 + commit) * _cost(gap, share, level) + gap for gap, share in shares),
        explicit=True,
        formula="sum((1 + commit)(b + f/gap + sqrt((f/gap)^2 + 2 b f/gap)) + gap), sum of b = (K-1) B + C",
        holds=HOLDS.format(spent),
        source=f"{SOURCE}, Theorem A",
    )


def _cost(gap: float, share: float, level: float) -> float:
    """gap times the largest n with n gap <= b + sqrt(2 n f)."""
    return share + level / gap * (1.0 + sqrt(1.0 + 2.0 * share * gap / level))


def _worst_split(gaps: Sequence[float], budget: float, spent: float) -> list[float]:
    """b for each arm, if what is spent is split so that the sum of `_cost` is largest; the gaps in rising order.

    `_cost` is concave in b with the slope 1 + 1 / sqrt(1 + 2 b gap / f). At the largest sum the slope is the same for
    all arms on which something is spent: these are the arms with the smallest gaps, and b gap is the same for them.
    """
    count = len(gaps)
    while count > 1 and _product(gaps[:count], budget, spent) < budget * gaps[count - 1]:
        count -= 1
    product = _product(gaps[:count], budget, spent)
    return [*(product / gap for gap in gaps[:count]), *(budget for _ in gaps[count:])]


def _product(gaps: Sequence[float], budget: float, spent: float) -> float:
    """b gap, the same for these arms, if all is spent on them."""
    return (spent + len(gaps) * budget) / sum(1.0 / gap for gap in gaps) if gaps else 0.0


def kl_ucb_wr_gap_free(
    n_arms: int,
    *,
    horizon: int,
    budget: float,
    spent: float | None = None,
    delta: float | None = None,
    commit: float = 0.02,
) -> Bound:
    """KL-UCB-WR's bound for any gaps: (1 + h)(1 + x)((K-1) B + C) + 2 sqrt((1 + h)(K-1)(2 + 1/(2x)) f T) + K.

    h is `commit`, and x > 0 is free: the smallest value is taken.

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: The budget B of the policy.
        spent: What the attack spends at most, C; None: the budget.
        delta: The chance that the guarantee fails for an arm; None: K / T.
        commit: The parameter of the policy.
    """
    spent = _checked(n_arms, horizon, budget, spent, delta, commit)
    level, free = _level(n_arms, horizon, delta), np.logspace(-4.0, 4.0, 401)
    fakes = (1.0 + commit) * (1.0 + free) * ((n_arms - 1) * budget + spent)
    chance = 2.0 * np.sqrt((1.0 + commit) * (n_arms - 1) * (2.0 + 0.5 / free) * level * horizon)
    return Bound(
        name="KL-UCB-WR, gap-free",
        kind="upper",
        value=float((fakes + chance).min()) + n_arms,
        explicit=True,
        formula="(1 + commit)(1 + x)((K-1) B + C) + 2 sqrt((1 + commit)(K-1)(2 + 1/(2x)) f T) + K",
        holds=HOLDS.format(spent),
        source=f"{SOURCE}, Corollary of Theorem A",
    )


def kl_ucb_wr_changing_arms(
    means: Sequence[float],
    arms_open: Windows,
    *,
    horizon: int,
    budget: float,
    spent: float | None = None,
    delta: float | None = None,
    commit: float = 0.02,
) -> Bound:
    """KL-UCB-WR's bound against the best open arm, if arms open and close.

    An arm's gaps D1 > D2 > ... are those that it has while it is open. It is pulled n(D) = (1 + commit) N(D) + 1 times
    at most while its gap is D or more, with N(D) D the cost of Theorem A; so it costs the sum of (Dj - Dj+1) n(Dj).

    Args:
        means: The mean of each arm that is ever open.
        arms_open: When arms are open, as for `vb.simulate`.
        horizon: The number of rounds T.
        budget: The budget B of the policy.
        spent: What the attack spends at most, C; None: the budget.
        delta: The chance that the guarantee fails for an arm; None: K / T.
        commit: The parameter of the policy.

    >>> from vambrace import theory
    >>> arms_open = {0: [(5_000, None)]}  # the best arm comes later
    >>> round(theory.kl_ucb_wr_changing_arms([0.9, 0.8, 0.5], arms_open, horizon=10**5, budget=100).value)
    1052
    """
    known = validation.means(means)
    spent = _checked(len(known), horizon, budget, spent, delta, commit)
    level, value, steepest = _level(len(known), horizon, delta), 0.0, 0.0
    openings = Openings.check(arms_open, len(known), horizon)
    for arm in range(len(known)):
        steps, slope = _steps(openings, known, arm), 0.0
        for gap, step in steps:
            value += step * ((1.0 + commit) * _cost(gap, budget, level) / gap + 1.0)
            slope += (1.0 + commit) * step / gap * (1.0 + 1.0 / sqrt(1.0 + 2.0 * budget * gap / level))
        steepest = max(steepest, slope)
    return Bound(
        name="KL-UCB-WR, arms open and close",
        kind="upper",
        value=value + spent * steepest,  # the cost is concave in what is spent on an arm
        explicit=True,
        formula="sum over arms and their gaps of (D - next D)((1 + commit) N(D) + 1)",
        holds=HOLDS.format(spent).replace("K delta", "2 K delta"),
        source=f"{SOURCE}, Theorem C",
    )


def _steps(openings: Openings, means: Sequence[float], arm: int) -> list[tuple[float, float]]:
    """The positive gaps of an arm while it is open, and how far each is above the next smaller one."""
    best = openings.best_open(np.array(means))
    gaps = sorted({means[leader] - means[arm] for t, leader in best if openings.is_open(arm, t)} | {0.0}, reverse=True)
    return [(gap, gap - lower) for gap, lower in itertools.pairwise(gaps)]


def price_of_armour(n_arms: int, *, budget: float) -> Bound:
    """What every policy loses without attack that survives a budget, as T grows: (K - 1) B.

    Args:
        n_arms: The number of arms K; one of them is best. Several best arms count once.
        budget: The budget B that the policy survives.

    >>> from vambrace import theory
    >>> theory.price_of_armour(5, budget=1_000).value
    4000.0
    """
    validation.whole("n_arms", n_arms, low=2, high=10**6)
    return Bound(
        name="price of armour, nobody attacks",
        kind="lower",
        value=(n_arms - 1) * validation.budget(budget, finite=True),
        explicit=False,
        formula="(K-1) B",
        holds="as T grows, for every policy that loses o(T) under every attack of budget B; the best arm pays below 1",
        source=f"{SOURCE}, Theorem B",
    )


def least_regret(means: Sequence[float], *, horizon: int, budget: float, regret: float, spent: float = 0.0) -> Bound:
    """The price of armour in a finite game: what a policy loses at least that loses at most `regret` under attack.

    For each arm the best of the constructions in Theorem B is taken: by how much the arm is raised in the game that
    looks the same, and how many of its pulls are compared.

    Args:
        means: The mean of each Bernoulli arm; the best is below 1.
        horizon: The number of rounds T.
        budget: The budget B that the policy survives.
        regret: The most that it loses, on average, under any attack of this budget in any game.
        spent: What an attacker of this game may spend, C, at most the budget; 0: nobody attacks. More than without
            attack is proved for two arms only.

    >>> from vambrace import theory
    >>> round(theory.least_regret([0.9, 0.8, 0.7], horizon=10**9, budget=1_000, regret=50_000).value)
    1919
    """
    known = validation.means(means)
    horizon = validation.game_size(len(known), horizon)[1]
    size = (
        horizon,
        floor(validation.budget(budget, finite=True)),
        validation.number("regret", regret, low=0.0, high=inf),
    )
    best, extra = max(known), floor(validation.budget(spent, finite=True))
    gaps = [best - mean for mean in known if mean < best]
    lost = [sum(gap * _least_pulls(gap, 1.0 - best, *size, 0) for gap in gaps)]
    if 0 < extra <= size[1]:  # the attack is in both games: what it spends is not there for hiding another arm
        rest = (size[0], size[1] - extra, size[2])
        others = [gap * _least_pulls(gap, 1.0 - best, *rest, 0) for gap in gaps]
        raised = [gap * _least_pulls(gap, 1.0 - best, *size, extra) for gap in gaps]
        lost += [sum(others) - other + own for own, other in zip(raised, others, strict=True)]
    return Bound(
        name=f"price in this game, {f'C = {spent:,g}' if spent else 'nobody attacks'}",
        kind="lower",
        value=max(lost),
        explicit=True,
        formula="sum(gap E[N]), E[N] >= E[min(M, S)] - M R / (e (T - M)), E[S] = (B + C)/(gap + e)",
        holds=f"for every policy that loses at most {regret:,.0f} under every attack of budget B in every game",
        source=f"{SOURCE}, Theorem B",
    )


def _least_pulls(gap: float, room: float, horizon: int, budget: int, regret: float, spent: int) -> float:
    """The largest lower bound on E[N] of an arm over the free quantities: the raise e, and the number of pulls M."""
    if room <= 0.0:
        return 0.0
    raised, factor = np.meshgrid(room * np.logspace(-7.0, 0.0, 141), np.linspace(1.0, 3.0, 81))
    seen = gap + raised  # what the other game's attacker has to hide, and this one's attacker shows a part of it
    shown = seen * (spent + 1) / (budget + spent + 2) if spent > 0 else np.zeros_like(seen)
    pulls = np.floor(factor * (budget + 1) / (seen - shown))
    certain = _until(budget, seen - shown, pulls)
    if spent > 0:
        certain += _until(spent, shown, pulls) - pulls
    found = certain - pulls * regret / (raised * np.maximum(horizon - pulls, 1e-300))
    return float(np.where(pulls < horizon, found, 0.0).max(initial=0.0))


def _until(budget: int, chance: Floats, pulls: Floats) -> Floats:
    """A lower bound on the expected number of the first `pulls` pulls until more than the budget was altered.

    The (B + 1)-th alteration comes after (B + 1) / p pulls on average. What lies beyond M pulls is
    E[(B + 1 - X)+] / p with X ~ Bin(M, p), and Scarf's bound says E[(a - X)+] <= (sqrt(v + d^2) - d) / 2 with the
    variance v of X and d = E[X] - a.
    """
    excess = pulls * chance - (budget + 1)
    beyond = 0.5 * (np.sqrt(pulls * chance * (1.0 - chance) + excess**2) - excess)
    return (budget + 1 - beyond) / chance


def _checked(
    n_arms: int, horizon: int, budget: float, spent: float | None, delta: float | None, commit: float
) -> float:
    validation.whole("n_arms", n_arms, low=1, high=10**6)
    validation.number("horizon", horizon, low=n_arms, high=float("inf"))
    validation.delta(delta)
    validation.number("commit", commit, low=0.0, high=1.0, open_high=True)
    validation.budget(budget, finite=True)
    return budget if spent is None else validation.number("spent", spent, low=0.0, high=budget)


def _level(n_arms: int, horizon: int, delta: float | None) -> float:
    return exploration_level(horizon, min(n_arms / horizon, 1.0) if delta is None else delta)
