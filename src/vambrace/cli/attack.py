"""`vambrace attack`."""

from typing import Annotated, Any

import typer

from vambrace import registry
from vambrace.cli import common
from vambrace.errors import InvalidParameter
from vambrace.protocols import Adversary

MEANS = "0.9,0.8,0.7,0.6,0.5"
EXAMPLES = (
    "vambrace attack ucb1 --budgets 0,10,100",
    "vambrace attack se-wr:budget=100 --budgets 100 --means 0.9,0.8 \\",
    "    --attack conceal --attack swap",
)


def command(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="Such as ucb1 or se-wr:budget=100.")],
    budgets: Annotated[str, common.option("NUMBERS", "What an attack may spend, such as 0,10,100; 0 is no attack.")],
    means: Annotated[str | None, common.option("NUMBERS", f"Means of Bernoulli arms; {MEANS} by default.")] = None,
    env: common.Env = None,
    attacks: Annotated[list[str] | None, common.option("ATTACK", "Try only this; may be repeated.", "--attack")] = None,
    horizon: common.Horizon = "1e5",
    replications: common.Replications = "20",
    seed: common.Seed = "0",
    unbounded: common.Unbounded = False,
    threads: common.Threads = None,
    as_json: common.Json = False,
) -> None:
    """Find the attack that hurts a policy most, at each budget.

    Plays the policy against every attack that applies to it, and prints the regret under each.
    """
    from vambrace.redteam.suite import attack_suite

    report = attack_suite(
        registry.policy(policy),
        common.environment(MEANS if means is None and env is None else means, env),
        budgets=common.numbers("budgets", budgets),
        **common.whole(horizon=horizon, replications=replications, seed=seed),
        attacks=[_attack(spec, budgets) for spec in attacks] if attacks else None,
        bounded=not unbounded,
        threads=threads,
    )
    if as_json:
        common.print_json(report.summary())
        return
    about = f"{policy}, {common.games(report.clean)}"
    columns = ["budget", "attack", "regret", "cost", "engine", "warning"]
    common.print_table(f"{about}: every attack", columns, map(_cells, report.rows))
    common.print_table(f"{about}: worst of each budget", columns, map(_cells, report.worst.values()))
    if report.clean.replications > 1:
        common.print_note("± is the standard error of the mean over the replications.")
    for reason in report.skipped.values():
        common.print_note(f"does not apply: {reason}")
    if report.warnings:
        common.print_note(
            "Do not trust a figure with a warning: that attack did less than it could, and a better one may do more."
        )


def _attack(spec: str, budgets: str) -> Adversary:
    adversary = registry.adversary(spec)
    if adversary is None:
        raise InvalidParameter("attack: expected the name of an attack, got none (budget 0 is the game without attack)")
    inside = next((part for part in spec.partition(":")[2].split(",") if part.startswith("budget=")), None)
    if inside is not None:
        raise InvalidParameter(
            f"attack: {spec} and --budgets {budgets} both set the budget; drop {inside} from --attack"
        )
    return adversary


def _cells(row: Any) -> list[str]:
    found = row.summary()
    error = "" if found["standard_error"] is None else f" ± {found['standard_error']:,.1f}"
    warnings, attack = "; ".join(found["warnings"]), "no attack" if row.result.adversary is None else row.attack
    regret, cost = f"{found['regret']:,.1f}{error}", f"{found['cost']:,.1f}"
    return [f"{found['budget']:g}", attack, regret, cost, found["engine"], warnings]
