"""`vambrace simulate`."""

from pathlib import Path
from typing import Annotated, Any

from vambrace import own_code, registry
from vambrace.cli import common, late
from vambrace.cli.attack import POLICY
from vambrace.files import whole_file

EXAMPLES = (
    "vambrace simulate ucb1 thompson --means 0.9,0.8,0.7",
    "vambrace simulate ucb1 se-wr:budget=100 --means 0.9,0.8 \\",
    "    --attack conceal:budget=100 --horizon 1e6 --plot regret.svg",
    "vambrace simulate ucb1 mine.py:MyPolicy --means 0.9,0.8",
    "vambrace simulate ucb1 --means 0.9,0.8 --delay fixed:1000 --lost 0.1",
    "vambrace simulate ucb1 --means 0.9,0.8,0.7 --arms-open 0:20000-,2:1-50000",
)


def command(
    policies: Annotated[list[str], POLICY],
    means: common.Means = None,
    env: common.Env = None,
    attack: Annotated[str, common.option("ATTACK", "Such as conceal:budget=100.")] = "none",
    horizon: common.Horizon = "1e5",
    replications: common.Replications = "20",
    seed: common.Seed = "0",
    engine: Annotated[
        str, common.option("ENGINE", "rounds plays every round, leap skips many, auto: leap if exact.")
    ] = "auto",
    checkpoints: Annotated[str, common.option("NUMBER", "Number of rounds that --output and --plot show.")] = "64",
    unbounded: common.Unbounded = False,
    delay: late.Delay = None,
    lost: late.Lost = 0.0,
    arms_open: Annotated[
        str | None, common.option("WINDOWS", "Arm 2 in the rounds 1 to 4999 and from 8000 on: 2:1-5000,2:8000-")
    ] = None,
    threads: common.Threads = None,
    output: Annotated[Path | None, common.option("FILE", "Write every checkpoint to a .parquet or .csv file.")] = None,
    plot: Annotated[Path | None, common.option("FILE", "Draw the regret as .svg, .png, .pdf or .html.")] = None,
    as_json: common.Json = False,
) -> None:
    """Play policies, attacked or not, and print their regret.

    Regret is what a policy lost against always playing the best arm.
    """
    from vambrace.engine.openings import parse_windows
    from vambrace.engine.simulation import simulate

    common.check_target(output, (".parquet", ".csv"))
    common.check_target(plot, (".svg", ".png", ".pdf", ".html"))
    environment, adversary = common.environment(means, env), own_code.adversary(attack)
    size = common.whole(horizon=horizon, replications=replications, seed=seed, checkpoints=checkpoints)
    options = size | {"engine": engine, "bounded": not unbounded, "threads": threads}
    options |= late.options(delay, lost) | {"arms_open": None if arms_open is None else parse_windows(arms_open)}
    played = [own_code.policy(spec) for spec in policies]  # before any game, which may take long
    results = [simulate(policy, environment, adversary, **options) for policy in played]
    if output is not None:
        _write_frames(results, output)
    if plot is not None:
        from vambrace.report.figures import save
        from vambrace.report.results import figure

        save(figure(results), plot)
    if as_json:
        common.print_json([result.summary() for result in results])
    else:
        _print_results(results)


def _print_results(results: list[Any]) -> None:
    first, several = results[0], results[0].replications > 1
    best = int(first.environment.arm_means().argmax())
    rows = []
    for result in results:
        summary = result.summary()
        regret, cost = summary["pseudo_regret"], summary["cost"]["mean"]
        error = f" ± {regret['standard_error']:,.1f}" if several else ""
        spread = [f"{regret['q05']:,.1f} … {regret['q95']:,.1f}"] if several else []
        share = f"{summary['share_of_pulls'][best]:.1%}"
        spec = registry.spec_of(result.policy)
        rows.append([spec, f"{regret['mean']:,.1f}{error}", *spread, share, f"{cost:,.1f}", result.engine])
    against = f"attack {registry.spec_of(first.adversary)}" if first.adversary else "no attack"
    against = ", ".join([against, *first.conditions()])
    columns = ["policy", "regret", *(["5 % … 95 %"] if several else []), "best arm", "cost", "engine"]
    common.print_table(common.games(first, against), columns, rows)
    if several:
        common.print_note("± is the standard error of the mean; 5 % … 95 % holds the middle 90 % of the replications.")


def _write_frames(results: list[Any], path: Path) -> None:
    import polars

    named = [polars.lit(registry.spec_of(result.policy)).alias("policy") for result in results]
    frame = polars.concat(r.to_frame().select(name, polars.all()) for name, r in zip(named, results, strict=True))
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        frame.write_parquet(file) if path.suffix == ".parquet" else frame.write_csv(file)
