"""`vambrace plan`."""

from typing import Annotated

import typer

from vambrace.cli import common

EXAMPLES = ("vambrace plan --arms 4 --rate 0.03 --gap 0.01 --budget 100 --horizon 1e6",)


def command(
    arms: Annotated[str, common.option("NUMBER", "Number of arms.")],
    rate: Annotated[float, common.option("NUMBER", "Mean reward of the best arm, such as a click rate.")],
    gap: Annotated[float, common.option("NUMBER", "The smallest difference of means worth finding.")],
    budget: Annotated[float, common.option("NUMBER", "Number of events that may be fake.")],
    horizon: common.Horizon,
    delta: Annotated[float | None, common.option("NUMBER", "The chance of failure; arms / rounds by default.")] = None,
    loss: Annotated[float, common.option("NUMBER", "The share of random play's regret that you accept.")] = 0.5,
    as_json: common.Json = False,
) -> None:
    """Plan a test: how many rounds it needs, and what they cost.

    For KL-UCB-WR and SE-WR. Also prints how many fake events a game of this length can bear.
    """
    from vambrace.theory.planning import plan

    size = common.whole(arms=arms, horizon=horizon)
    found = plan(**size, rate=rate, gap=gap, budget=budget, delta=delta, loss=loss)
    if as_json:
        common.print_json(found.to_dict())
    else:
        typer.echo(found)
