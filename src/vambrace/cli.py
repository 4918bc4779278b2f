"""The command line: parse, call, print.

A user's mistake is one clear line on standard error and exit code 2, never a traceback.
"""

import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

from vambrace import __version__, registry
from vambrace.errors import InvalidParameter, StoreError, VambraceError
from vambrace.files import whole_file
from vambrace.protocols import Adversary, Environment, Policy
from vambrace.specs import value_of

app = typer.Typer(
    name="vambrace",
    help="Multi-armed bandits whose feedback cannot be trusted. A budget of C is, at worst, C fake events.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Number = Annotated[str, typer.Option(metavar="NUMBER", help="A whole number; 1e6 is understood.")]


Data = Annotated[list[str] | None, typer.Option(metavar="NAME=FILE", help="A file that the experiment names.")]


EXAMPLE_MEANS = "0.9,0.8,0.7,0.6,0.5"
MOST_ARMS = 50  # in a table of `vambrace certify`
INTERRUPTED = 130  # what shells expect after Ctrl-C


class Kind(StrEnum):
    """What `vambrace list` can list."""

    policies = "policies"
    adversaries = "adversaries"
    environments = "environments"
    suites = "suites"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def simulate(
    policies: Annotated[list[str], typer.Argument(metavar="POLICY...", help="For example se-wr:budget=100 ucb1.")],
    means: Annotated[str | None, typer.Option(help="Bernoulli means, for example 0.9,0.8,0.7.")] = None,
    env: Annotated[str | None, typer.Option(help="An environment, for example beta:means=0.9/0.8.")] = None,
    attack: Annotated[str, typer.Option(help="An adversary, for example conceal:budget=100.")] = "none",
    horizon: Number = "1e5",
    replications: Number = "20",
    seed: Number = "0",
    engine: Annotated[str, typer.Option(help="auto, rounds or leap.")] = "auto",
    checkpoints: Number = "64",
    unbounded: Annotated[bool, typer.Option("--unbounded", help="Let altered rewards leave [0, 1].")] = False,
    threads: Annotated[int | None, typer.Option(help="How many at once; one a core by default.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write every checkpoint to a .parquet or .csv file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the regret as .svg, .png, .pdf or .html.")] = None,
    as_json: Json = False,
) -> None:
    """Play policies against an adversary and print their regret."""
    from vambrace.engine.simulation import Engine
    from vambrace.engine.simulation import simulate as run

    _check_target(output, (".parquet", ".csv"))
    _check_target(plot, (".svg", ".png", ".pdf", ".html"))
    environment, adversary = _environment(means, env), registry.adversary(attack)
    results = [
        run(
            policy,
            environment,
            adversary,
            horizon=_whole("horizon", horizon),
            replications=_whole("replications", replications),
            seed=_whole("seed", seed),
            engine=cast(Engine, engine),
            checkpoints=_whole("checkpoints", checkpoints),
            bounded=not unbounded,
            threads=threads,
        )
        for policy in [registry.policy(spec) for spec in policies]
    ]
    if output is not None:
        _write_frames(results, output)
    if plot is not None:
        from vambrace.report.figures import regret_figure, save

        save(regret_figure(results), plot)
    if as_json:
        typer.echo(json.dumps([result.summary() for result in results], indent=2))
        return
    rows = []
    for result in results:
        summary = result.summary()
        regret, best = summary["pseudo_regret"], int(environment.arm_means().argmax())
        rows.append(
            [
                registry.spec_of(result.policy),
                f"{regret['mean']:,.1f} ± {regret['standard_error']:,.1f}",
                f"{regret['q05']:,.1f} … {regret['q95']:,.1f}",
                f"{summary['share_of_pulls'][best]:.1%}",
                f"{summary['cost']['mean']:,.1f}",
                result.engine,
            ]
        )
    title = f"{results[0].horizon:,} rounds, {results[0].replications} replications, adversary {attack}"
    _print_table(title + _noted(environment), ["policy", "regret", "5 % … 95 %", "best arm", "cost", "engine"], rows)


@app.command()
def attack(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="For example ucb1 or se-wr:budget=100.")],
    budgets: Annotated[str, typer.Option(help="What the attacker may spend, for example 0,10,100.")],
    means: Annotated[str | None, typer.Option(help=f"Bernoulli means; {EXAMPLE_MEANS} by default.")] = None,
    env: Annotated[str | None, typer.Option(help="An environment, for example beta:means=0.9/0.8.")] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attack", help="Only this one; may be given again.")] = None,
    horizon: Number = "1e5",
    replications: Number = "20",
    seed: Number = "0",
    unbounded: Annotated[bool, typer.Option("--unbounded", help="Let altered rewards leave [0, 1].")] = False,
    threads: Annotated[int | None, typer.Option(help="How many at once; one a core by default.")] = None,
    as_json: Json = False,
) -> None:
    """Play a policy against every attack that applies, at every budget, and print the worst regret of each."""
    from vambrace.redteam.suite import attack_suite

    report = attack_suite(
        registry.policy(policy),
        _environment(EXAMPLE_MEANS if means is None and env is None else means, env),
        budgets=[value_of("budgets", float, text) for text in budgets.split(",")],
        horizon=_whole("horizon", horizon),
        replications=_whole("replications", replications),
        seed=_whole("seed", seed),
        attacks=[_attack(spec) for spec in attacks] if attacks else None,
        bounded=not unbounded,
        threads=threads,
    )
    if as_json:
        typer.echo(json.dumps(report.summary(), indent=2))
        return
    note = _noted(report.environment)
    columns = ["budget", "attack", "regret", "cost", "engine", "warning"]
    for title, found in (("every attack", report.rows), ("worst of each budget", report.worst.values())):
        rows = [row.summary() for row in found]
        _print_table(
            f"{policy}, {report.clean.horizon:,} rounds, {report.clean.replications} replications{note}: {title}",
            columns,
            [
                [
                    f"{row['budget']:g}",
                    row["attack"],
                    f"{row['regret']:,.1f} ± {row['standard_error']:,.1f}",
                    f"{row['cost']:,.1f}",
                    row["engine"],
                    "; ".join(row["warnings"]),
                ]
                for row in rows
            ],
        )
    for reason in report.skipped.values():
        typer.echo(f"does not apply: {reason}")
    if report.warnings:
        typer.echo(
            "Do not trust a figure with a warning: that attack did less than it could, and a better one may do more."
        )


@app.command()
def bounds(
    policy: Annotated[str, typer.Option(help="se-wr, se-wr-stop, pe-wr, ms-se-wr or se.")],
    gaps: Annotated[str, typer.Option(help="Of the arms other than the best, for example 0.1,0.2.")],
    horizon: Number = "1e6",
    budget: Annotated[float, typer.Option(help="What the attacker may spend.")] = 0.0,
    delta: Annotated[float | None, typer.Option(help="Failure probability; K/T by default.")] = None,
    best_mean: Annotated[float | None, typer.Option(help="The best arm's mean, for Lai and Robbins' bound.")] = None,
    as_json: Json = False,
) -> None:
    """Print what the theory says of a policy: upper and lower bounds, and which of them are only orders."""
    from vambrace import theory

    found = theory.bounds(
        policy,
        gaps=[value_of("gaps", float, text) for text in gaps.split(",")],
        horizon=_whole("horizon", horizon),
        budget=budget,
        delta=delta,
        best_mean=best_mean,
    )
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(bound) for bound in found], indent=2))
        return
    rows = [
        [b.name, b.kind, f"{b.value:,.0f}" if b.explicit else f"~ {b.value:,.0f}", b.formula, b.holds, b.source]
        for b in found
    ]
    _print_table(
        f"{policy}, {len(gaps.split(','))} gaps, {_whole('horizon', horizon):,} rounds, budget {budget:g}; "
        "~ marks an order, whose constants are left out",
        ["bound", "kind", "regret", "formula", "holds", "source"],
        rows,
    )


@app.command()
def verify(
    replications: Number = "400",
    seed: Number = "2026",
    every: Annotated[bool, typer.Option("--all", help="Show every check, not only the worst of each promise.")] = False,
    as_json: Json = False,
) -> None:
    """Run the explicit bounds against the strongest attacks; exit code 1 when one is violated beyond chance."""
    from vambrace.theory import verification as lab

    checks = lab.verify(replications=_whole("replications", replications), seed=_whole("seed", seed))
    violated = [check for check in checks if not check.holds]
    if as_json:
        typer.echo(json.dumps(lab.summary(checks), indent=2))
    else:
        rows = [
            [
                check.promise,
                check.instance,
                check.attack,
                "" if check.spent is None else f"{check.spent:.0%}",
                "" if check.largest_ratio is None else f"{check.largest_ratio:.3f}",
                f"{check.failures} of {check.replications}",
                f"{check.at_least:.4f}",
                f"{check.allowed:g}",
                "holds" if check.holds else "VIOLATED",
            ]
            for check in (checks if every else lab.worst(checks))
        ]
        columns = ["promise", "instance", "attack", "spent", "largest ratio", "failures", "at least", "allowed", ""]
        _print_table("every check" if every else "the worst check of each promise", columns, rows)
        typer.echo(f"{len(checks) - len(violated)} of {len(checks)} checks hold.")
    if violated:
        raise typer.Exit(1)


@app.command()
def plan(
    arms: Annotated[str, typer.Option(metavar="NUMBER", help="How many arms there are.")],
    rate: Annotated[float, typer.Option(help="The mean reward of the best arm, for example a click rate.")],
    gap: Annotated[float, typer.Option(help="The smallest gap worth finding.")],
    budget: Annotated[float, typer.Option(help="How many events may be fake.")],
    horizon: Annotated[str, typer.Option(metavar="NUMBER", help="How many rounds there are; 1e6 is understood.")],
    delta: Annotated[float | None, typer.Option(help="The chance of failure; arms / horizon by default.")] = None,
    as_json: Json = False,
) -> None:
    """Tell how long SE-WR needs to find a gap, what it costs, and how many fake events the horizon can carry."""
    from vambrace.theory.planning import plan as make

    found = make(
        arms=_whole("arms", arms),
        rate=rate,
        gap=gap,
        budget=budget,
        horizon=_whole("horizon", horizon),
        delta=delta,
    )
    typer.echo(found.to_json() if as_json else found)


@app.command()
def certify(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="CSV, TSV, JSON lines, Parquet; - reads stdin.")
    ],
    arm: Annotated[
        str | None, typer.Option(help="The column of the arm; by default the one that its name shows.")
    ] = None,
    reward: Annotated[str | None, typer.Option(help="The column of the reward of a log; likewise.")] = None,
    events: Annotated[str | None, typer.Option(help="The column of the events of a table; likewise.")] = None,
    successes: Annotated[str | None, typer.Option(help="The column of the successes of a table; likewise.")] = None,
    delta: Annotated[float, typer.Option(help="How likely the certificate may be wrong.")] = 0.05,
    threat: Annotated[str, typer.Option(help="What was done to events: alter, inject or suppress.")] = "alter",
    design: Annotated[str, typer.Option(help="adaptive (a bandit, or peeking) or fixed (one look).")] = "adaptive",
    reward_range: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="The possible rewards, where these are not 0 to 1.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="A column that tells many tests apart: certify each.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page that shows it all.")] = None,
    as_json: Json = False,
) -> None:
    """Tell how many events of a finished test would have to be fake to overturn its winner."""
    from vambrace import data
    from vambrace.audit import tables
    from vambrace.audit.certificate import Certificate
    from vambrace.audit.certification import certify as certify_log
    from vambrace.audit.certification import standing

    _check_target(html, (".html",))
    ends = None if reward_range is None else [value_of("reward_range", float, each) for each in reward_range.split(",")]
    options: dict[str, Any] = {"arm": arm, "reward": reward, "events": events, "successes": successes}
    options |= {"delta": delta, "threat": threat, "design": design}
    with ExitStack() as stack:
        sources = [stack.enter_context(_spooled(each)) if _is_stream(each) else each for each in files]
        source = data.title(sources)
        answer = certify_log(sources, **options, reward_range=ends, group=group)
    found = {"": answer} if isinstance(answer, Certificate) else answer
    left_out = () if isinstance(answer, Certificate) else answer.left_out
    notes = []
    if ends is not None:
        whole = f"{ends[0]:g} to {ends[1]:g}"
        notes.append(
            f"Rewards were rescaled to [0, 1]: one unit of C is one event altered over the full range, {whole}."
        )
    if left_out:
        notes.append(f"{len(left_out):,} left out, with one arm only, the first of them {left_out[0]!r}.")
    if html is not None:
        from vambrace.report import certificates as page

        page.save(found, html, source=source, made_by=f"vambrace {__version__}", notes=notes, many=group is not None)
    if as_json:
        extra = {} if ends is None else {"reward_range": ends}
        if group is None:
            typer.echo(json.dumps(found[""].to_dict() | extra, indent=2))
        else:
            typer.echo(
                json.dumps([{"test": test, **each.to_dict(), **extra} for test, each in found.items()], indent=2)
            )
        return
    certificates = found.values()
    columns = next(iter(certificates)).columns
    parameters = f"threat {threat}, design {design}, delta {delta:g}\ncolumns: {_visible(tables.columns_used(columns))}"
    if group is None:
        (certificate,) = certificates
        typer.echo(f"{_visible(str(certificate))}\n{parameters}")
        n_arms = 1 + len(certificate.rivals)
        others = f", the {MOST_ARMS - 1} closest of {n_arms:,}" if n_arms > MOST_ARMS else ""
        _print_table(f"the winner and its rivals{others}", tables.ARMS, tables.arms(certificate, MOST_ARMS))
        _print_table("arms that may be best", tables.STEPS, tables.steps(certificate)[:MOST_ARMS])
    else:
        typer.echo(f"{len(found):,} tests, {standing(certificates, 0):,} with a certified winner.\n{parameters}")
        _print_table("", tables.STANDS, tables.stands(certificates))
    for note in notes:
        typer.echo(_visible(note))


@app.command("list")
def list_(kind: Annotated[Kind | None, typer.Argument(help="Only these.")] = None, as_json: Json = False) -> None:
    """Show every policy, adversary and environment with its parameters, or the suites that `vambrace run` knows."""
    kinds = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}
    chosen = [kind.value] if kind else list(kinds)
    found = {
        plural: _suites()
        if plural == "suites"
        else [_describe(each) for each in registry.known(kinds[plural]).values()]
        for plural in chosen
    }
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for plural, entries in found.items():
        columns = list(entries[0])
        _print_table(plural, columns, [[entry[column] for column in columns] for entry in entries])


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(metavar="FILE|SUITE", help="A TOML file, or a name such as poster.")],
    out: Annotated[Path | None, typer.Option(help="The folder to fill; out/NAME by default.")] = None,
    workers: Annotated[int | None, typer.Option(help="How many processes; one a core by default.")] = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler instead, or local.")] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast/--keep-going", help="Stop at a cell that fails.")] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Run an experiment, or what is missing of it; exit code 1 when cells failed."""
    from vambrace.lab.experiment import read
    from vambrace.lab.runner import run as play
    from vambrace.paper.suites import find

    wanted = read(find(experiment), _files(data))
    folder = Path("out") / wanted.name if out is None else out
    try:
        found = play(wanted, folder, workers=workers, dask=dask, fail_fast=fail_fast)
    except StoreError as error:
        if error.diff:
            typer.echo(error.diff, err=True)
        raise
    _print_status(found, as_json)
    if found.failed:
        raise typer.Exit(1)


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `vambrace run` fills.")],
    as_json: Json = False,
) -> None:
    """Show what a run has done, what is missing, what failed and why."""
    from vambrace.lab.store import Store

    _print_status(Store(folder).status(), as_json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `vambrace run` filled, or one of such.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON instead of writing.")] = False,
) -> None:
    """Write the report of finished experiments: DIR/report.html, and DIR/figures as SVG, PNG and PDF."""
    from vambrace.paper import reproduce as paper

    if as_json:
        typer.echo(json.dumps(paper.verdicts(folder), indent=2, ensure_ascii=False))
    else:
        typer.echo(paper.write(folder))


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="The folder to fill.")] = Path("out/reproduce"),
    workers: Annotated[int | None, typer.Option(help="How many processes; one a core by default.")] = None,
    data: Data = None,
) -> None:
    """Run every suite, or what is missing of it, and write the report; prints where it is."""
    from vambrace.paper.reproduce import reproduce as lab

    found, path = lab(out, workers=workers, data=_files(data))
    for status in found:
        _print_status(status, as_json=False)
    typer.echo(path)
    if any(status.failed for status in found):
        raise typer.Exit(1)


def main() -> None:
    """Run the command line; every mistake of the user ends in one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except VambraceError as error:
        _fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except MemoryError as error:
        _fail(f"memory: expected a game that fits, got {error}")
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the parser raises has it, wherever typer keeps the class
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            sys.exit(2)
        _fail(error.format_message())
    if code == INTERRUPTED:
        typer.echo("vambrace: interrupted", err=True)
    sys.exit(code or 0)


def _fail(message: str) -> NoReturn:
    line = " ".join(message.split())
    typer.echo(f"vambrace: error: {line}", err=True)
    sys.exit(2)


def _whole(name: str, text: str) -> int:
    try:
        value = int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise InvalidParameter(f"{name}: expected a whole number such as 1000 or 1e6, got {text!r}") from None
    if value != value or value in (float("inf"), float("-inf")) or value != int(value):
        raise InvalidParameter(f"{name}: expected a whole number such as 1000 or 1e6, got {text!r}")
    return int(value)


def _environment(means: str | None, env: str | None) -> Environment:
    if (means is None) == (env is None):
        came = "neither" if means is None else "both"
        raise InvalidParameter(f"environment: expected either --means 0.9,0.8 or --env NAME:means=0.9/0.8, got {came}")
    return registry.environment(env if env is not None else f"bernoulli:means={(means or '').replace(',', '/')}")


def _files(given: list[str] | None) -> dict[str, Path]:
    """What --data says."""
    found = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or not path:
            raise InvalidParameter(f"data: expected NAME=FILE, got {text!r}")
        found[name] = Path(path)
    return found


def _noted(environment: Environment) -> str:
    """What a table's title must say about the arms."""
    return f", {environment.note}" if environment.note else ""


def _attack(spec: str) -> Adversary:
    adversary = registry.adversary(spec)
    if adversary is None:
        raise InvalidParameter("attack: expected an adversary, got none (budget 0 is the game without attack)")
    return adversary


def _is_stream(name: str) -> bool:
    """Whether this is standard input, or a pipe such as the shell's <(...)."""
    return name == "-" or Path(name).is_fifo()


@contextmanager
def _spooled(name: str) -> Iterator[Any]:
    from vambrace import data

    if name != "-":
        with open(name, "rb") as file, data.spooled(file, name) as spooled:
            yield spooled
    elif sys.stdin is None:
        raise InvalidParameter("standard input: expected a log, got a closed stream")
    else:
        with data.spooled(sys.stdin.buffer, "standard input") as spooled:
            yield spooled


def _check_target(path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse a file of unknown format or in a place that cannot be written before the work, not after it."""
    if path is None:
        return
    if path.suffix not in endings:
        raise InvalidParameter(f"file: expected a name ending in {' or '.join(endings)}, got {str(path)!r}")
    if path.is_dir():
        raise InvalidParameter(f"file: expected a file, got the folder {str(path)!r}")
    there = next(folder for folder in path.absolute().parents if folder.exists())  # missing folders are made at the end
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InvalidParameter(f"file: expected a folder that can be written, got {str(there)!r}")


def _write_frames(results: list[Any], path: Path) -> None:
    import polars

    frame = polars.concat(
        r.to_frame().select(polars.lit(registry.spec_of(r.policy)).alias("policy"), polars.all()) for r in results
    )
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        frame.write_parquet(file) if path.suffix == ".parquet" else frame.write_csv(file)


def _print_status(found: Any, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found.summary(), indent=2))
        return
    for title, cells in (("failed", found.failed), ("damaged", found.damaged)):
        for name, reason in cells.items():
            typer.echo(f"{title}: {name}: {reason}")
    for name in found.unknown:
        typer.echo(f"unknown: {name}")
    counts = {"done": found.done, "missing": found.missing, "failed": found.failed, "damaged": found.damaged}
    told = ", ".join(f"{len(cells)} {title}" for title, cells in counts.items() if cells or title == "done")
    running = f"; in use by {found.running}" if found.running else ""
    typer.echo(f"{found.name}: {told} of {found.total} cells in {found.folder}{running}")


def _suites() -> list[dict[str, str]]:
    from vambrace.lab import cells
    from vambrace.lab.experiment import read
    from vambrace.paper.suites import suites

    found = {name: read(path) for name, path in suites().items()}
    return [
        {"name": name, "title": suite.title, "cells": str(len(cells.cells_of(suite)))} for name, suite in found.items()
    ]


def _describe(thing: type[Policy] | type[Adversary] | type[Environment]) -> dict[str, str]:
    """A line of `vambrace list`."""
    parameters = [
        each.name if each.required else f"{each.name}={each.default}".lower() for each in registry.declared(thing)
    ]
    entry = {"name": thing.name, "class": thing.__name__, "parameters": ", ".join(parameters)}
    if issubclass(thing, Adversary):
        entry |= {"strength": thing.strength, "knowledge": thing.knowledge, "aim": thing.aim}
    if issubclass(thing, Policy | Adversary):
        entry["reference"] = thing.reference
    return entry


def _visible(text: str) -> str:
    """The text without the power over a terminal that the names of strangers may have."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*map(_visible, row))
    console = Console(markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


if __name__ == "__main__":
    main()
