"""`vambrace verify`."""

from typing import Annotated, Any

import typer

from vambrace.cli import common

EXAMPLES = ("vambrace verify", "vambrace verify --replications 1000 --all", "vambrace verify --json > checks.json")
COLUMNS = ("promise", "verdict", "game", "attack", "failures", "ratio")
NOTES = (
    "failures: how often the promise failed; at the least, with confidence; and how often it may fail. ratio: the "
    "largest of regret to bound (of bound to regret, for a lower bound).",
    "Theorem B: failures are games without attack in which an arm is pulled too rarely to survive the budget; they are "
    "allowed as often as the arm is pulled as rarely in the other game, where it is best and hidden.",
)


def command(
    replications: common.Replications = "400",
    seed: common.Seed = "2026",
    every: Annotated[bool, typer.Option("--all", help="Show every check, not only the worst of each promise.")] = False,
    as_json: common.Json = False,
) -> None:
    """Test bounds that are numbers against the strongest attacks.

    Takes some minutes. The exit code is 1 if a bound is violated more often than chance explains.
    """
    from vambrace.theory import verification

    checks = verification.verify(**common.whole(replications=replications, seed=seed))
    violated = [check for check in checks if not check.holds]
    if as_json:
        common.print_json(verification.summary(checks))
    else:
        title = "every check" if every else "the worst check of each promise"
        common.print_records(title, COLUMNS, map(_cells, checks if every else verification.worst(checks)))
        for note in NOTES:
            common.print_note(note)
        typer.echo(f"{len(checks) - len(violated)} of {len(checks)} checks hold.")
    if violated:
        raise typer.Exit(1)


def _cells(check: Any) -> list[str]:
    verdict = "holds" if check.holds else "VIOLATED"
    attack = check.attack if check.spent is None else f"{check.attack}, which spent {check.spent:.0%} of its budget"
    failures = f"{check.failures} of {check.replications}; at least {check.at_least:.4f}, allowed {check.allowed:g}"
    ratio = "" if check.largest_ratio is None else f"{check.largest_ratio:.3f}"
    return [check.promise, verdict, check.instance, attack, failures, ratio]
