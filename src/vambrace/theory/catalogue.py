"""Which bounds apply to which policy."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from vambrace import registry, validation
from vambrace.errors import InvalidParameter
from vambrace.policies import MSSEWR, PEWR, SE, SEWR, SEWRStop
from vambrace.protocols import Policy
from vambrace.theory import lower, upper
from vambrace.theory.bound import Bound

# The policies that have upper bounds; a name alone stands for all of its variants.
POLICIES = {
    "ms-se-wr": ("master=corral", "master=exp3p"),
    "pe-wr": ("",),
    "se": ("radius=paper", "radius=tight"),
    "se-wr": ("radius=paper", "radius=tight"),
    "se-wr-stop": ("stop=additive", "stop=multiplicative"),
}


def bounds(
    policy: str | Policy,
    *,
    gaps: Sequence[float],
    horizon: int,
    budget: float | None = None,
    delta: float | None = None,
    best_mean: float | None = None,
) -> list[Bound]:
    """Every bound that applies to a policy on an instance: its own upper bounds, and lower bounds for all policies.

    Args:
        policy: A policy or its spec, such as "se-wr:radius=tight"; a name alone stands for all of its variants.
        gaps: The gaps of the other arms, so there are len(gaps) + 1 arms; 0 for an arm as good as the best.
        horizon: The number of rounds.
        budget: What the attacker may spend; also the policy's budget, if it needs one and its spec has none. None: the
            policy's budget, or 0 if it has none.
        delta: The failure probability of a policy whose spec has none; None: K / T.
        best_mean: The best arm's mean, if known: Lai and Robbins' constant depends on it.

    >>> from vambrace import theory
    >>> [bound.name for bound in theory.bounds("pe-wr", gaps=[0.1] * 9, horizon=10**6, budget=100)][:2]
    ['PE-WR as printed', 'PE-WR with correct book-keeping']
    """
    if not validation.is_sequence(gaps) or len(gaps) == 0:
        raise InvalidParameter(f"gaps: expected the gaps of the arms other than the best, got {gaps!r}")
    known = [validation.number(f"gaps[{k}]", gap, low=0.0, high=1.0) for k, gap in enumerate(gaps)]
    n_arms, horizon = validation.game_size(len(known) + 1, horizon)
    spent = 0.0 if budget is None else validation.budget(budget, finite=True)
    given = {"budget": spent, "delta": validation.delta(delta)}
    variants = _variants(policy, given) if isinstance(policy, str) else [policy]
    if budget is None:
        spent = getattr(variants[0], "budget", None) or 0.0
    size: dict[str, Any] = {"horizon": horizon, "budget": spent}
    found = [bound for each in variants for bound in promises(each, known, **size)]
    found += [lower.concealment(n_arms, **size), lower.minimax(n_arms, **size)]
    if best_mean is not None:
        best = validation.number("best_mean", best_mean, low=max(known), high=1.0)
        found.append(lower.distribution_dependent([best, *(best - gap for gap in known)], horizon=horizon))
    return found


def promises(policy: Policy, gaps: Sequence[float], *, horizon: int, budget: float) -> list[Bound]:
    """The upper bounds of one policy while the attack spends at most `budget`; the list may be empty.

    Args:
        policy: The policy with its parameters.
        gaps: The gaps of the other arms; 0 for an arm as good as the best.
        horizon: The number of rounds.
        budget: What the attacker may spend.
    """
    n_arms = len(gaps) + 1
    instance: dict[str, Any] = {"horizon": horizon, "budget": budget}
    if isinstance(policy, MSSEWR):
        return [upper.ms_se_wr(n_arms, master=policy.master, **instance)]
    if isinstance(policy, PEWR):
        return [upper.pe_wr(n_arms, delta=policy.delta, corrected=each, **instance) for each in (False, True)]
    assumed = policy.budget if isinstance(policy, SEWR | SEWRStop) else 0.0
    if not isinstance(policy, SE | SEWR | SEWRStop) or budget > assumed:
        return []
    instance |= {"budget": assumed, "delta": policy.delta}
    if isinstance(policy, SEWRStop):
        return [upper.se_wr_stop(n_arms, stop=policy.stop, **instance)]
    if policy.radius == "tight":
        return [upper.se_wr(gaps, radius="tight", **instance)]
    if policy.radius != "paper":
        return []
    free = upper.se_wr_additive(n_arms, **instance), upper.se_wr_multiplicative(n_arms, **instance)
    return [upper.se_wr(gaps, **instance), *free]


def _variants(spec: str, given: dict[str, float | None]) -> list[Policy]:
    """The policies of a spec; required parameters that it does not set are taken from `given`."""
    name, _, rest = spec.partition(":")
    known = registry.known("policy")
    parameters = {field.name for field in fields(known[name])} if name in known else set()
    parameters -= {part.partition("=")[0] for part in rest.split(",")}
    added = [f"{key}={value!r}" for key, value in given.items() if value is not None and key in parameters]
    variants = (rest,) if rest else POLICIES.get(name, ("",))
    return [registry.policy(f"{name}:{','.join([each, *added])}") for each in variants]
