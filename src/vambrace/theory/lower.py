"""Lower bounds: what no policy can beat."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, log, sqrt

from vambrace import validation
from vambrace.policies.radii import kl
from vambrace.theory.bound import Bound


def _lower(name: str, value: float, formula: str, *, holds: str, source: str, explicit: bool = False) -> Bound:
    return Bound(name=name, kind="lower", value=value, explicit=explicit, formula=formula, holds=holds, source=source)


def concealment(n_arms: int, *, horizon: int, budget: float, reward: float = 1.0) -> Bound:
    """The concealment game: floor(C/e) (floor(K/2) - 1) e, for some position of the one arm that pays e.

    Every other arm pays zero, and the attacker returns zero for the paying arm too. After floor(C/e) floor(K/2) rounds
    half of the arms have been pulled at most floor(C/e) times, and the paying arm may be any of them. Needs K >= 4 and
    that many rounds (E14); e = 1 is the worst.

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most.
        reward: The reward e of the one paying arm.
    """
    validation.game_size(n_arms, horizon)
    validation.number("reward", reward, low=0.0, high=1.0, open_low=True)
    pulls = floor(Fraction(validation.budget(budget, finite=True)) / Fraction(reward))
    needed = pulls * (n_arms // 2)
    applies = n_arms >= 4 and horizon >= needed
    value = pulls * (n_arms // 2 - 1) * reward if applies else 0.0
    formula = f"floor(C/e) (floor(K/2) - 1) e{', e = 1' if reward == 1.0 else ''}"
    holds = f"on some instance; K >= 4 and T >= {needed:,}{'' if applies else ' (does not apply: zero)'}"
    return _lower("concealment", value, formula, holds=holds, source="Theorem 1, conditions E14", explicit=True)


def minimax(n_arms: int, *, horizon: int, budget: float) -> Bound:
    """The gap-free lower bound: sqrt(K T) + K C as an order.

    Args:
        n_arms: The number of arms K.
        horizon: The number of rounds T.
        budget: What the attack spends at most.
    """
    validation.game_size(n_arms, horizon)
    validation.budget(budget, finite=True)
    value = sqrt(n_arms * horizon) + n_arms * budget
    holds = "on some instance; an order: all constants are left out"
    return _lower("minimax", value, "sqrt(K T) + K C", holds=holds, source="Proposition 2")


def distribution_dependent(means: Sequence[float], *, horizon: int) -> Bound:
    """Lai and Robbins: ln T times the sum of gap / kl(mean, best mean), for every consistent policy as T grows.

    The paper prints the sum of 1 / (2 gap), which rests on 1 / gap: for rewards in [0, 1] the divergence is at least
    2 gap^2, so the true constant is at most 1 / (2 gap), and there is no term K C for a fixed C (E13).

    Args:
        means: The mean of each arm.
        horizon: The number of rounds T.
    """
    checked = validation.means(means)
    best = max(checked)
    value = sum((best - mean) * log(horizon) / _divergence(mean, best) for mean in checked if mean < best)
    formula = "ln T sum(gap / kl(mean, best mean))"
    holds = "as T grows, for consistent policies on Bernoulli arms, without attack"
    return _lower("Lai and Robbins", value, formula, holds=holds, source="Proposition 2, constant E13")


def least_power(alpha: float, *, form: str) -> float:
    """The least power beta of C that goes with T^alpha: 1/alpha where they add, 1/alpha - 1 where they multiply.

    Propositions 4 and 5: a policy with O(T^alpha + C^beta) has beta >= 1/alpha, one with O(T^alpha C^beta) has
    beta >= 1/alpha - 1, since an attack of the size of the regret makes the regret linear (Theorem 3).

    Args:
        alpha: The power of T, at least 1/2 and below 1.
        form: "additive": T^alpha + C^beta; "multiplicative": T^alpha C^beta.

    >>> from vambrace import theory
    >>> theory.least_power(0.5, form="additive"), theory.least_power(0.5, form="multiplicative")
    (2.0, 1.0)
    """
    validation.number("alpha", alpha, low=0.5, high=1.0, open_high=True)
    validation.choice("form", form, ("additive", "multiplicative"))
    return 1.0 / alpha if form == "additive" else 1.0 / alpha - 1.0


def _divergence(p: float, q: float) -> float:
    if abs(q - p) < 1e-5 * min(q, 1.0 - q):  # where the two logarithms would cancel
        return (q - p) ** 2 / (2.0 * q * (1.0 - q))
    return kl(p, q)
