"""`vambrace bounds`."""

from dataclasses import asdict
from typing import Annotated

from vambrace.cli import common

EXAMPLES = (
    "vambrace bounds --policy se-wr --gaps 0.1,0.2 --budget 100",
    "vambrace bounds --policy se-wr:budget=100,radius=tight --gaps 0.1",
)


def command(
    policy: Annotated[str, common.option("POLICY", "A name such as se-wr, or a spec such as se-wr:radius=tight.")],
    gaps: Annotated[str, common.option("NUMBERS", "How far each other arm lies below the best, such as 0.1,0.2.")],
    horizon: common.Horizon = "1e6",
    budget: Annotated[
        float | None, common.option("NUMBER", "What the attacker may spend; the policy's budget by default.")
    ] = None,
    delta: Annotated[float | None, common.option("NUMBER", "The chance of failure; arms / rounds by default.")] = None,
    best_mean: Annotated[
        float | None, common.option("NUMBER", "The best arm's mean: adds the bound of Lai and Robbins.")
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Print what theory says about the regret of a policy.

    An upper bound is what the policy promises, a lower bound is what no policy can beat. Orders leave out their
    constants: they show how regret grows, not how large it is.
    """
    from vambrace import theory
    from vambrace.theory import catalogue

    size = {**common.whole(horizon=horizon), "budget": budget, "delta": delta}
    found = theory.bounds(policy, gaps=common.numbers("gaps", gaps), best_mean=best_mean, **size)
    if as_json:
        common.print_json([asdict(bound) for bound in found])
        return
    rows = [
        [b.name, b.kind, f"{b.value:,.0f}" if b.explicit else f"~ {b.value:,.0f}", b.formula, b.holds, b.source]
        for b in found
    ]
    spends = "" if budget is None else f", budget {budget:g}"
    title = f"{policy}, {1 + len(gaps.split(','))} arms, {size['horizon']:,} rounds{spends}"
    common.print_records(title, ["bound", "kind", "regret", "formula", "holds", "source"], rows)
    common.print_note("~ marks an order, whose constants are left out.")
    if all(bound.kind == "lower" for bound in found):
        against = "" if budget is None else f" against an attacker who may spend {budget:g}"
        known = ", ".join(catalogue.POLICIES)
        common.print_note(f"The catalogue has no upper bound for {policy}{against}. It has some for {known}.")
