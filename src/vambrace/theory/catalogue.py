"""Which bounds speak of which policy."""

from collections.abc import Sequence
from typing import Any

from vambrace import validation
from vambrace.errors import InvalidParameter
from vambrace.theory import lower, upper
from vambrace.theory.bound import Bound

POLICIES = ("ms-se-wr", "pe-wr", "se", "se-wr", "se-wr-stop")


def bounds(
    policy: str,
    *,
    gaps: Sequence[float],
    horizon: int,
    budget: float = 0.0,
    delta: float | None = None,
    best_mean: float | None = None,
) -> list[Bound]:
    """Every bound that speaks of a policy on an instance: what it promises, and what nobody can beat.

    Args:
        policy: "se-wr", "se-wr-stop", "pe-wr", "ms-se-wr" or "se".
        gaps: Of the arms other than the best, so that there are len(gaps) + 1 arms.
        budget: What the attacker may spend; SE-WR is told it, SE promises nothing against an attacker.
        best_mean: The best arm's mean, where known: Lai and Robbins' constant depends on it.

    >>> from vambrace import theory
    >>> [bound.name for bound in theory.bounds("pe-wr", gaps=[0.1] * 9, horizon=10**6, budget=100)][:2]
    ['PE-WR as printed', 'PE-WR with correct book-keeping']
    """
    validation.choice("policy", policy, POLICIES)
    if not validation.is_sequence(gaps) or len(gaps) == 0:
        raise InvalidParameter(f"gaps: expected the gaps of the arms other than the best, got {gaps!r}")
    known = tuple(validation.number(f"gaps[{k}]", gap, low=0.0, high=1.0, open_low=True) for k, gap in enumerate(gaps))
    n_arms, horizon = validation.game_size(len(known) + 1, horizon)
    size: dict[str, Any] = {"horizon": horizon, "budget": validation.budget(budget, finite=True)}
    found = [*_promises(policy, known, n_arms, size, validation.delta(delta))]
    found += [lower.concealment(n_arms, **size), lower.minimax(n_arms, **size)]
    if best_mean is not None:
        best = validation.number("best_mean", best_mean, low=max(known), high=1.0)
        found.append(lower.distribution_dependent([best, *(best - gap for gap in known)], horizon=horizon))
    return found


def _promises(
    policy: str, gaps: Sequence[float], n_arms: int, size: dict[str, Any], delta: float | None
) -> list[Bound]:
    if policy == "ms-se-wr":
        return [upper.ms_se_wr(n_arms, master=master, **size) for master in ("corral", "exp3p")]
    size = size | {"delta": delta}
    if policy == "pe-wr":
        return [upper.pe_wr(n_arms, corrected=corrected, **size) for corrected in (False, True)]
    if policy == "se-wr-stop":
        return [upper.se_wr_stop(n_arms, stop=stop, **size) for stop in ("additive", "multiplicative")]
    if policy == "se" and size["budget"] > 0:
        return []
    return [
        upper.se_wr(gaps, **size),
        upper.se_wr(gaps, radius="tight", **size),
        upper.se_wr_additive(n_arms, **size),
        upper.se_wr_multiplicative(n_arms, **size),
    ]
