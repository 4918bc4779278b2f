"""`vambrace break`."""  # noqa: N999 - the name of the command is the name of the module

from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace import __version__, registry
from vambrace.cli import common, late
from vambrace.cli.attack import MEANS, POLICY

EXAMPLES = (
    "vambrace break ucb1",
    'vambrace break thompson --means 0.9,0.8 --goal "arm 1 90%" --html break.html',
    "vambrace break ucb1 --horizon 1e3,1e4,1e5",
)


def command(
    policy: Annotated[str, POLICY],
    means: Annotated[str | None, common.option("NUMBERS", f"Means of Bernoulli arms; {MEANS} by default.")] = None,
    env: common.Env = None,
    goal: common.Goal = "loss 50%",
    effort: common.Effort = "standard",
    horizon: Annotated[str, common.option("NUMBERS", "Rounds per game; several show how the budget grows.")] = "1e5",
    seed: common.Seed = "0",
    delay: late.Delay = None,
    lost: late.Lost = 0.0,
    threads: common.Threads = None,
    html: Annotated[Path | None, common.option("FILE", "Write a page with the answer, a figure and tables.")] = None,
    as_json: common.Json = False,
) -> None:
    """Find the least budget that breaks a policy.

    Searches for the attack that reaches the goal with the fewest altered rewards, and prints how many it needs, with an
    interval, from fresh games. A class of your own is one as in `vambrace attack`.
    """
    from vambrace.redteam.bandits import bandit
    from vambrace.redteam.breakdown import breakdown, growth

    common.check_target(html, (".html",))
    arms = common.environment(MEANS if means is None and env is None else means, env)
    options: dict[str, Any] = {"goal": goal, "effort": effort, "threads": threads, **common.whole(seed=seed)}
    options |= late.options(delay, lost)
    horizons = [common.whole(horizon=each)["horizon"] for each in horizon.split(",")]
    found = [breakdown(bandit(policy), arms, horizon=each, **options) for each in horizons]
    if html is not None:
        from vambrace.report import attacks

        attacks.save_breakdown(found[-1], html, made_by=f"vambrace {__version__}")
    if as_json:
        common.print_json(found[0].summary() if len(found) == 1 else [each.summary() for each in found])
        return
    for each in found:
        common.print_note(f"{each}.".replace("no attack", "No attack", 1))
        if each.attack is not None:
            common.print_note(f"To replay it: vambrace simulate with --attack {registry.spec_of(each.attack)}")
        typer.echo()
    reached = [each for each in found if each.attack is not None]
    if len(reached) > 1:
        name, factor = growth([each.horizon for each in reached], [each.budget for each in reached])
        common.print_note(f"With the number of rounds T it grows about as {factor:.3g} {name}.")
        typer.echo()
    common.print_table("What that means", found[-1].SCALE, found[-1].scale())
    if reached:
        common.print_table(f"{reached[-1].horizon:,} rounds", reached[-1].TABLE, reached[-1].table())
    if arms.note:
        common.print_note(f"The arms: {arms.note}.")
