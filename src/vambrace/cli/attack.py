"""`vambrace attack`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from vambrace import __version__, own_code, registry
from vambrace.cli import common, late
from vambrace.errors import InvalidParameter
from vambrace.protocols import Adversary

MEANS = "0.9,0.8,0.7,0.6,0.5"
GOAL, EFFORT, GAMES = "loss 50%", "standard", "20"
POLICY = typer.Argument(metavar="POLICY", help="Such as ucb1, se-wr:budget=100, or mine.py:MyBandit of your own.")
EXAMPLES = (
    "vambrace attack ucb1 --budgets 10,100",
    'vambrace attack thompson --budgets 30 --goal "arm 4 90%" --html attack.html',
    "vambrace attack ucb1 --budgets 10,100 --threat inject",
    "vambrace attack ucb1 --budgets 10,100 --delay batch:1000",
    "vambrace attack mine.py:MyBandit --budgets 10,100",
    "vambrace attack ucb1 --budgets 0,10,100 --suite",
    "vambrace attack se-wr:budget=100 --budgets 100 --means 0.9,0.8 \\",
    "    --attack conceal --attack swap",
)


def command(
    policy: Annotated[str, POLICY],
    budgets: Annotated[str, common.option("NUMBERS", "What an attack may spend, such as 0,10,100; 0 is no attack.")],
    means: Annotated[str | None, common.option("NUMBERS", f"Means of Bernoulli arms; {MEANS} by default.")] = None,
    env: common.Env = None,
    goal: common.Goal = GOAL,
    effort: common.Effort = EFFORT,
    threat: Annotated[str, common.option("THREAT", "alter: change rewards; inject: add fake visitors.")] = "alter",
    suite: Annotated[bool, typer.Option("--suite", help="Play the fixed attacks only, without a search.")] = False,
    attacks: Annotated[
        list[str] | None, common.option("ATTACK", "Play only this, without a search; may be repeated.", "--attack")
    ] = None,
    horizon: common.Horizon = "1e5",
    replications: Annotated[str, common.option("NUMBER", "Games of each attack, with --suite or --attack.")] = GAMES,
    seed: common.Seed = "0",
    unbounded: common.Unbounded = False,
    delay: late.Delay = None,
    lost: late.Lost = 0.0,
    threads: common.Threads = None,
    html: Annotated[Path | None, common.option("FILE", "Write a page with the answer, a figure and tables.")] = None,
    as_json: common.Json = False,
) -> None:
    """Find the attack that hurts a policy most, at each budget.

    Searches: attacks race, and the winner is measured in fresh games. With --suite or --attack only fixed attacks play.
    In every game, of the search too, the arms stand in another order; arms of --env that have only one keep it. A class
    of your own is a policy as in the docs, or it is made with n_arms, horizon and seed and has ask and tell.
    """
    from vambrace.redteam.bandits import bandit

    arms = common.environment(MEANS if means is None and env is None else means, env)
    sizes = common.numbers("budgets", budgets)
    if not suite and not attacks:
        _check_absent("--suite or --attack", unbounded=unbounded, replications=replications != GAMES)
        options = {"goal": goal, "effort": effort, "threat": threat, "threads": threads}
        options |= common.whole(horizon=horizon, seed=seed) | late.options(delay, lost)
        _search(bandit(policy), arms, [each for each in sizes if each] or sizes, options, html, as_json)
        return
    changed = {"goal": goal != GOAL, "effort": effort != EFFORT, "threat": threat != "alter"}
    _check_absent("a search", html=html, delay=delay, lost=lost, **changed)
    from vambrace.redteam.suite import attack_suite

    report = attack_suite(
        bandit(policy),
        arms,
        budgets=sizes,
        **common.whole(horizon=horizon, replications=replications, seed=seed),
        attacks=[_attack(spec, budgets) for spec in attacks] if attacks else None,
        bounded=not unbounded,
        threads=threads,
    )
    common.print_json(report.summary()) if as_json else _print_suite(policy, report)


def _print_suite(policy: str, report: Any) -> None:
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


def _search(policy: Any, arms: Any, budgets: list[float], options: dict[str, Any], html: Any, as_json: bool) -> None:
    from vambrace.redteam.team import red_team

    common.check_target(html, (".html",))
    report = red_team(policy, arms, budgets=budgets, **options)
    if html is not None:
        from vambrace.report import attacks

        attacks.save(report, html, made_by=f"vambrace {__version__}")
    if as_json:
        common.print_json(report.summary())
        return
    for each in report.worst.values():
        common.print_note(f"{report.answer(each)}.")
        typer.echo()
        common.print_note(f"The attack: {each.words}.")
        if report.conditions:
            common.print_note(f"To replay it: vambrace simulate, the same --delay and --lost, and --attack {each.spec}")
        else:
            common.print_note(f"To replay it: --attack {registry.spec_of(each.attack, without='budget')}")
        typer.echo()
    common.print_table("What that means", report.SCALE, report.scale())
    common.print_table(f"Fresh games: {len(report.clean.scores)} for each figure", report.TABLE, report.table())
    if arms.note:
        common.print_note(f"The arms: {arms.note}.")
    if not report.shuffled:
        common.print_note(f"The arms of {arms.name} have one order, so ties may shield the best arm.")


def _check_absent(wanted: str, **options: Any) -> None:
    """Refuse options that would be ignored."""
    for name, given in options.items():
        if given:
            got = "--suite or --attack, which play fixed attacks" if wanted == "a search" else "a search"
            raise InvalidParameter(f"{name}: expected {wanted}, got {got}")


def _attack(spec: str, budgets: str) -> Adversary:
    if spec == "none":
        raise InvalidParameter("attack: expected the name of an attack, got none (budget 0 is the game without attack)")
    inside = next((part for part in own_code.split(spec).rest.split(",") if part.startswith("budget=")), None)
    if inside is not None:
        raise InvalidParameter(
            f"attack: {spec} and --budgets {budgets} both set the budget; drop {inside} from --attack"
        )
    return own_code.adversary(own_code.with_budget(spec, "inf"))


def _cells(row: Any) -> list[str]:
    found = row.summary()
    error = "" if found["standard_error"] is None else f" ± {found['standard_error']:,.1f}"
    warnings, attack = "; ".join(found["warnings"]), "no attack" if row.result.adversary is None else row.attack
    regret, cost = f"{found['regret']:,.1f}{error}", f"{found['cost']:,.1f}"
    return [f"{found['budget']:g}", attack, regret, cost, found["engine"], warnings]
