"""Which bounds apply to which policy."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

from vambrace import registry, validation
from vambrace.errors import InvalidParameter
from vambrace.parameters import declared
from vambrace.policies import KLUCBWR, MSSEWR, PEWR, SE, SEWR, SEWRStop
from vambrace.protocols import Policy
from vambrace.theory import lower, price, upper
from vambrace.theory.bound import Bound

# The policies that have upper bounds; a name alone stands for all of its variants.
POLICIES = {
    "kl-ucb-wr": ("",),
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
    given = {"budget": None if budget is None else validation.budget(budget, finite=True)}
    given["delta"] = validation.delta(delta)
    variants = _variants(policy, given) if isinstance(policy, str) else [policy]
    spent = _own_budget(variants[0], n_arms, horizon) if given["budget"] is None else given["budget"]
    size: dict[str, Any] = {"horizon": horizon, "budget": spent}
    found = [bound for each in variants for bound in promises(each, known, **size)]
    found += [lower.concealment(n_arms, **size), lower.minimax(n_arms, **size)]
    worse = sum(gap > 0.0 for gap in known)
    if spent > 0.0 and worse > 0 and best_mean != 1.0:
        found.append(price.price_of_armour(worse + 1, budget=spent))
    if best_mean is not None:
        best = validation.number("best_mean", best_mean, low=max(known), high=1.0)
        found.append(lower.distribution_dependent([best, *(best - gap for gap in known)], horizon=horizon))
    return found


def prices(
    n_arms: int,
    *,
    budget: float,
    horizon: int,
    gaps: Sequence[float] | None = None,
    delta: float | None = None,
    best_mean: float | None = None,
) -> list[Bound]:
    """The price of armour: what every policy pays that survives a budget, and what KL-UCB-WR pays at most.

    Args:
        n_arms: The number of arms.
        budget: The budget that a policy survives.
        horizon: The number of rounds.
        gaps: The gaps of the other arms, if known: adds what KL-UCB-WR guarantees on them.
        delta: The chance that this guarantee fails for an arm; None: K / T.
        best_mean: The best arm's mean, if known too: adds the price in a game of this length, for a policy that
            guarantees as little as KL-UCB-WR does for any gaps.

    >>> from vambrace import theory
    >>> [bound.value for bound in theory.prices(5, budget=1_000, horizon=10**6)]
    [4000.0]
    """
    validation.whole("n_arms", n_arms, low=2, high=10**6)
    worse = n_arms - 1 if gaps is None else sum(gap > 0.0 for gap in gaps)
    found = [price.price_of_armour(worse + 1, budget=budget)] if worse > 0 and best_mean != 1.0 else []
    if gaps is None:
        if best_mean is not None:
            raise InvalidParameter(f"best_mean: expected it together with the gaps, got {best_mean} alone")
        return found
    size: dict[str, Any] = {"horizon": horizon, "budget": budget, "delta": delta}
    found += [price.kl_ucb_wr(gaps, spent=spent, **size) for spent in (0.0, budget)]
    if best_mean is not None:
        best_mean = validation.number("best_mean", best_mean, low=max(gaps), high=1.0)
        free = price.kl_ucb_wr_gap_free(n_arms, horizon=horizon, budget=budget)
        regret = free.value + n_arms**2  # it fails with probability K^2 / T, and then loses T at most
        means = [best_mean, *(best_mean - gap for gap in gaps)]
        instance: dict[str, Any] = {"horizon": horizon, "budget": budget, "regret": regret}
        found += [price.least_regret(means, spent=spent, **instance) for spent in (0.0, budget)]
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
    if isinstance(policy, KLUCBWR):
        own = _own_budget(policy, n_arms, horizon)
        if budget > own:
            return []
        instance |= {"budget": own, "spent": budget, "delta": policy.delta, "commit": policy.commit}
        return [price.kl_ucb_wr(gaps, **instance), price.kl_ucb_wr_gap_free(n_arms, **instance)]
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


def _own_budget(policy: Policy, n_arms: int, horizon: int) -> float:
    """The budget that a policy was given; for KL-UCB-WR without one, what it takes instead; 0 for any other."""
    if isinstance(policy, KLUCBWR) and policy.budget is None:
        return sqrt(horizon / n_arms)
    return getattr(policy, "budget", None) or 0.0


def _variants(spec: str, given: dict[str, float | None]) -> list[Policy]:
    """The policies of a spec; parameters that it does not set are taken from `given`, a required budget is 0."""
    name, _, rest = spec.partition(":")
    known = registry.known("policy")
    set_here = {part.partition("=")[0] for part in rest.split(",")}
    free = [each for each in (declared(known[name]) if name in known else ()) if each.name not in set_here]
    values = {
        each.name: 0.0 if each.required and given.get(each.name) is None else given.get(each.name) for each in free
    }
    added = [f"{key}={value!r}" for key, value in values.items() if value is not None]
    variants = (rest,) if rest else POLICIES.get(name, ("",))
    return [registry.policy(f"{name}:{','.join([each, *added])}") for each in variants]
