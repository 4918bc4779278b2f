"""`vambrace bounds`."""

from dataclasses import asdict
from typing import Annotated

import typer

from vambrace.cli import common
from vambrace.errors import InvalidParameter

EXAMPLES = (
    "vambrace bounds --policy se-wr --gaps 0.1,0.2 --budget 100",
    "vambrace bounds --policy se-wr:budget=100,radius=tight --gaps 0.1",
    "vambrace bounds --price --arms 5 --budget 1000",
)


def command(
    policy: Annotated[str | None, common.option("POLICY", "Such as se-wr, or se-wr:radius=tight.")] = None,
    gaps: Annotated[str | None, common.option("NUMBERS", "How far each other arm is below the best: 0.1,0.2.")] = None,
    horizon: common.Horizon = "1e6",
    budget: Annotated[
        float | None, common.option("NUMBER", "What the attacker may spend; the policy's budget by default.")
    ] = None,
    delta: Annotated[float | None, common.option("NUMBER", "The chance of failure; arms / rounds by default.")] = None,
    best_mean: Annotated[
        float | None, common.option("NUMBER", "The best arm's mean: adds lower bounds that depend on it.")
    ] = None,
    price: Annotated[
        bool, typer.Option("--price", help="What surviving a budget costs any policy, instead of one policy's bounds.")
    ] = False,
    arms: Annotated[str | None, common.option("NUMBER", "Number of arms, for --price without --gaps.")] = None,
    as_json: common.Json = False,
) -> None:
    """Print what theory says about the regret of a policy.

    An upper bound is what the policy promises, a lower bound is what no policy can beat. Orders leave out their
    constants: they show how regret grows, not how large it is.
    """
    from vambrace import theory
    from vambrace.theory import catalogue

    size = common.whole(horizon=horizon)
    known = None if gaps is None else common.numbers("gaps", gaps)
    if price:
        n_arms = _arms(policy, arms, known)
        if budget is None:
            raise InvalidParameter("budget: expected --budget, the number of fake events to survive, got none")
        found = theory.prices(n_arms, budget=budget, gaps=known, delta=delta, best_mean=best_mean, **size)
        title = "The price of armour"
    else:
        if policy is None or known is None:
            raise InvalidParameter(
                "bounds: expected --policy and --gaps, or --price with --arms and --budget, got neither"
            )
        found = theory.bounds(policy, gaps=known, best_mean=best_mean, budget=budget, delta=delta, **size)
        n_arms, title = len(known) + 1, policy
    if as_json:
        common.print_json([asdict(bound) for bound in found])
        return
    spends = "" if budget is None else f", budget {budget:g}"
    rows = [
        [b.name, b.kind, f"{b.value:,.0f}" if b.explicit else f"~ {b.value:,.0f}", b.formula, b.holds, b.source]
        for b in found
    ]
    title = f"{title}, {n_arms} arms, {size['horizon']:,} rounds{spends}"
    common.print_records(title, ["bound", "kind", "regret", "formula", "holds", "source"], rows)
    common.print_note("~ marks an order, whose constants are left out, or a limit for long games.")
    if not price and all(bound.kind == "lower" for bound in found):
        against = "" if budget is None else f" against an attacker who may spend {budget:g}"
        names = ", ".join(catalogue.POLICIES)
        common.print_note(f"The catalogue has no upper bound for {policy}{against}. It has some for {names}.")


def _arms(policy: str | None, arms: str | None, gaps: list[float] | None) -> int:
    """The number of arms of --price."""
    if policy is not None:
        raise InvalidParameter(f"bounds: expected --price or --policy, got both; drop --policy {policy}")
    if (arms is None) == (gaps is None):
        raise InvalidParameter(
            f"bounds: expected --arms or --gaps with --price, got {'neither' if arms is None else 'both'}"
        )
    return common.whole(arms=arms)["arms"] if arms is not None else len(gaps or ()) + 1
