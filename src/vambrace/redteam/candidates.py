"""Who plays when a policy is chosen: every policy with sensible parameters, scripts and every attack."""

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import Any, TypeVar

import numpy as np

from vambrace import registry, validation
from vambrace.adversaries import Script
from vambrace.errors import InvalidParameter
from vambrace.parameters import declared
from vambrace.protocols import Adversary, Policy
from vambrace.redteam import suite
from vambrace.redteam.moves import phase_starts, signs_of

Thing = TypeVar("Thing")

# Made for fake rewards of a size that nobody knows. Policies that are given a budget count as armoured too.
FOR_ANY_SIZE = ("barbar", "mlaaer", "ms-se-wr", "pe-wr", "robust-phased-elimination")
# Those that do most harm come first, because most policies then need no more than one or two of them to be dropped.
HARDEST = ("conceal", "mimic", "exponential-threshold", "elimination-rush", "boost", "phase-burst", "swap")


def every_policy(fakes: Sequence[float]) -> tuple[list[Policy], dict[str, str]]:
    """Every registered policy that needs at most a budget; those that need more by name, with the reason.

    A policy that takes a budget plays once for each positive number of fakes, and with its default if it has one. One
    with radii plays with each radius. MS-SE-WR, which is slow, plays as printed and with what we recommend for it.
    """
    found, others = [], {}
    for name, cls in registry.known("policy").items():
        parameters = {each.name: each for each in declared(cls)}
        needed = {each.name for each in parameters.values() if each.required}
        if not needed <= {"budget"}:
            others[name] = f"{name}: expected to be passed in policies, with its parameters, got none of them"
            continue
        if name == "ms-se-wr":
            found += [cls(), cls(share=True, radius="tight")]
            continue
        choices: dict[str, list[Any]] = {}
        if "budget" in parameters:
            default = [] if "budget" in needed else [parameters["budget"].default]
            choices["budget"] = [*default, *(each for each in fakes if each > 0)]
        if "radius" in parameters:
            choices["radius"] = list(parameters["radius"].kind.choices)
        found += [cls(**dict(zip(choices, values, strict=True))) for values in product(*choices.values())]
    return found, others


def every_attack() -> tuple[list[Adversary], dict[str, str]]:
    """Every attack of the suite, the hardest first; those that need more, with the reason."""
    found, others = suite.every_attack()
    found.sort(key=lambda attack: HARDEST.index(attack.name) if attack.name in HARDEST else len(HARDEST))
    return found, others


def scripts(means: Sequence[float], horizon: int) -> list[Adversary]:
    """The shapes of script that do most harm in searches, the hardest first.

    Lower all arms but the worst, or the two best, and raise another or none; and begin late, when a policy that
    explores in phases has become sure: two starts, near a hundredth and a twentieth of the game.
    """
    best_first = [int(arm) for arm in np.argsort(-np.array(means), kind="stable")]
    n_arms, worst = len(means), best_first[-1]
    two, third = best_first[: min(2, n_arms - 1)], best_first[min(2, n_arms - 1)]
    shapes = [(best_first[:-1], worst), (best_first[:-1], None), (two, third), (two, None), (best_first[:1], worst)]
    found = [Script(modes=signs_of(lowered, raised, n_arms)) for lowered, raised in shapes]
    starts = phase_starts(n_arms, horizon)
    late = [min(starts, key=lambda each: abs(np.log(each / (horizon / part)))) for part in (100, 20)] if starts else []
    for start in late:
        found += [Script(modes=signs_of(arms, None, n_arms), first=(start,)) for arms in (best_first[:1], two)]
    return list(dict.fromkeys(found))


def is_armoured(policy: Policy) -> bool:
    """Whether a policy was made for fake rewards: it takes a budget, or it is for any number of fakes."""
    return hasattr(policy, "budget") or policy.name in FOR_ANY_SIZE


def promises(policy: Policy, fakes: float, n_arms: int, horizon: int) -> bool:
    """Whether a policy was made for this many fakes. For fewer, or without armour, its figures are only measured."""
    if fakes == 0:
        return True
    if not is_armoured(policy):
        return False
    given = getattr(policy, "budget", horizon)
    return bool((sqrt(horizon / n_arms) if given is None else given) >= fakes)


def by_name(
    policies: Any, attacks: Any, fakes: Sequence[float], means: Sequence[float], horizon: int
) -> tuple[dict[str, Policy], dict[str, Adversary]]:
    """The policies by their specs and the attacks by their labels: those that a caller passed, or all that can play.

    Args:
        policies: `Policy` objects; None: every policy.
        attacks: `Adversary` objects; None: scripts for these arms, and every attack.
        fakes: The numbers of fake events.
        means: The means of the arms.
        horizon: The number of rounds.
    """
    chosen = every_policy(fakes)[0] if policies is None else _checked_policies(policies)
    every = [*scripts(means, horizon), *every_attack()[0]]
    against = every if attacks is None else suite.checked_attacks(attacks)
    return (
        _once("policies", [(registry.spec_of(each), each) for each in chosen]),
        _once("attacks", [(registry.spec_of(each, without="budget"), each) for each in against]),
    )


def _checked_policies(policies: Any) -> list[Policy]:
    if not validation.is_sequence(policies) or len(policies) == 0:
        raise InvalidParameter(f"policies: expected a sequence of vambrace.Policy objects, got {policies!r}")
    for each in policies:
        if not isinstance(each, Policy):
            hint = "a bandit of your own, or of another library, is wrapped as vb.Foreign(make=...)"
            raise InvalidParameter(f"policies: expected vambrace.Policy objects, got {each!r}; {hint}")
    return list(policies)


def _once(name: str, things: list[tuple[str, Thing]]) -> dict[str, Thing]:
    found: dict[str, Thing] = {}
    for spec, thing in things:
        if spec in found:
            raise InvalidParameter(f"{name}: expected each one once, got {spec} twice")
        found[spec] = thing
    return found
