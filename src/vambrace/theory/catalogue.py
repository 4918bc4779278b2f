"""Which bounds speak of which policy."""

from collections.abc import Sequence
from typing import Any

from vambrace import registry, validation
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.theory import lower, upper
from vambrace.theory.bound import Bound

POLICIES = ("ms-se-wr", "pe-wr", "se", "se-wr", "se-wr-stop")


def bounds(
    policy: str,
    *,
    gaps: Sequence[float],
    horizon: int,
    budget: float | None = None,
    delta: float | None = None,
    best_mean: float | None = None,
) -> list[Bound]:
    """Every bound that speaks of a policy on an instance: what it promises, and what nobody can beat.

    Args:
        policy: "se-wr", "se-wr-stop", "pe-wr", "ms-se-wr" or "se", or a spec such as "se-wr:budget=100,radius=tight",
            whose parameters leave only the bounds that speak of them.
        gaps: Of the arms other than the best, so that there are len(gaps) + 1 arms.
        horizon: How many rounds there are.
        budget: What the attacker may spend; None: the policy's budget if the spec has one, otherwise 0. SE promises
            nothing against an attacker.
        delta: The chance that the bound fails; None: that of the spec, otherwise K/T.
        best_mean: The best arm's mean, where known: Lai and Robbins' constant depends on it.

    >>> from vambrace import theory
    >>> [bound.name for bound in theory.bounds("pe-wr", gaps=[0.1] * 9, horizon=10**6, budget=100)][:2]
    ['PE-WR as printed', 'PE-WR with correct book-keeping']
    """
    name, given = _parameters(policy, budget=budget, delta=delta)
    if not validation.is_sequence(gaps) or len(gaps) == 0:
        raise InvalidParameter(f"gaps: expected the gaps of the arms other than the best, got {gaps!r}")
    known = tuple(validation.number(f"gaps[{k}]", gap, low=0.0, high=1.0, open_low=True) for k, gap in enumerate(gaps))
    n_arms, horizon = validation.game_size(len(known) + 1, horizon)
    size: dict[str, Any] = {"horizon": horizon, "budget": validation.budget(given.get("budget") or 0.0, finite=True)}
    found = [*_promises(name, known, n_arms, size, given)]
    found += [lower.concealment(n_arms, **size), lower.minimax(n_arms, **size)]
    if best_mean is not None:
        best = validation.number("best_mean", best_mean, low=max(known), high=1.0)
        found.append(lower.distribution_dependent([best, *(best - gap for gap in known)], horizon=horizon))
    return found


def _parameters(policy: str, **options: float | None) -> tuple[str, dict[str, Any]]:
    """The name of a policy, and the parameters that its spec or the options give."""
    name, _, rest = policy.partition(":") if isinstance(policy, str) else (repr(policy), "", "")
    if name not in POLICIES:
        if name in registry.known("policy"):
            known = ", ".join(POLICIES)
            raise InvalidParameter(f"policy: the catalogue has no bound for {name}; it has bounds for {known}")
        raise UnknownName("policy", name, POLICIES)
    written = [part.partition("=")[0] for part in rest.split(",") if part]
    missing = registry.known("policy")[name].__dataclass_fields__.keys() & {"budget"} - {*written}
    made = registry.policy(f"{name}:{rest}{',budget=0' if missing else ''}")
    given = {key: getattr(made, key) for key in written}
    for key, value in options.items():
        if value is not None and given.setdefault(key, value) != value:
            raise InvalidParameter(f"{key}: {policy} and a {key} of {value} contradict each other; drop one of them")
    return name, given


def _promises(
    policy: str, gaps: Sequence[float], n_arms: int, size: dict[str, Any], given: dict[str, Any]
) -> list[Bound]:
    """The upper bounds of a policy; of its variants, only the one that is given, if it is."""

    def variants(parameter: str, *every: str) -> list[str]:
        return [each for each in every if given.get(parameter, each) == each]

    if policy == "ms-se-wr":
        return [upper.ms_se_wr(n_arms, master=master, **size) for master in variants("master", "corral", "exp3p")]
    size = size | {"delta": validation.delta(given.get("delta"))}
    if policy == "pe-wr":
        return [upper.pe_wr(n_arms, corrected=corrected, **size) for corrected in (False, True)]
    if policy == "se-wr-stop":
        stops = variants("stop", "additive", "multiplicative")
        return [upper.se_wr_stop(n_arms, stop=stop, **size) for stop in stops]
    if policy == "se" and size["budget"] > 0:
        return []
    radii = variants("radius", "paper", "tight")
    free = [upper.se_wr_additive(n_arms, **size), upper.se_wr_multiplicative(n_arms, **size)]
    return [*(upper.se_wr(gaps, radius=radius, **size) for radius in radii), *(free if "paper" in radii else [])]
