"""`vambrace choose`."""

from pathlib import Path
from typing import Annotated

import typer

from vambrace import __version__, own_code
from vambrace.cli import common
from vambrace.cli.common import option
from vambrace.errors import InvalidParameter
from vambrace.protocols import Adversary

EXAMPLES = (
    "vambrace choose --arms 4 --rate 0.03 --gap 0.01",
    "vambrace choose --means 0.9,0.8,0.7 --fakes 0,50,500 --horizon 1e6",
    "vambrace choose --log test.csv --html choice.html",
)


def command(
    means: common.Means = None,
    arms: Annotated[str | None, option("NUMBER", "Number of arms, with --rate and --gap.")] = None,
    rate: Annotated[float | None, option("NUMBER", "Mean reward of the best arm, such as a click rate.")] = None,
    gap: Annotated[float | None, option("NUMBER", "How much less each other arm pays.")] = None,
    log: Annotated[str | None, option("FILE", "A finished test or log, as in certify: its rates.")] = None,
    fakes: Annotated[str, option("NUMBERS", "How many events may be fake; 0 is always among them.")] = "0,100,1000",
    horizon: Annotated[
        str | None, option("NUMBER", "Rounds per game; the events of the log, or 1e5, by default.")
    ] = None,
    policies: Annotated[list[str] | None, option("POLICY", "Try only this; may be repeated.", "--policy")] = None,
    attacks: Annotated[list[str] | None, option("ATTACK", "Try only this; may be repeated.", "--attack")] = None,
    replications: Annotated[str, option("NUMBER", "Games behind each figure, an even number.")] = "40",
    seed: common.Seed = "0",
    threads: common.Threads = None,
    html: Annotated[Path | None, option("FILE", "Write a page with the answer and its tables.")] = None,
    as_json: common.Json = False,
) -> None:
    """Find the policy to use: play them all against every attack.

    Prints the policy that loses least for each number of fake events, and what armour costs when nobody attacks. The
    first time it takes a minute longer, because many programs are compiled and kept.
    """
    from vambrace.redteam.choosing import choose

    common.check_target(html, (".html",))
    optional = {"arms": arms, "horizon": horizon}
    found = choose(
        None if means is None else common.numbers("means", means),
        rate=rate,
        gap=gap,
        log=log,
        fakes=common.numbers("fakes", fakes),
        policies=[own_code.policy(spec) for spec in policies] if policies else None,
        attacks=[_attack(spec) for spec in attacks] if attacks else None,
        **common.whole(replications=replications, seed=seed),
        **common.whole(**{name: text for name, text in optional.items() if text is not None}),
        threads=threads,
    )
    if html is not None:
        from vambrace.report import choices

        choices.save(found, html, made_by=f"vambrace {__version__}", source="" if log is None else log)
    if as_json:
        common.print_json(found.to_dict())
    else:
        typer.echo(found)


def _attack(spec: str) -> Adversary:
    if spec == "none":
        raise InvalidParameter("attack: expected the name of an attack, got none (no attack is always played)")
    given = "budget=" in own_code.split(spec).rest
    return own_code.adversary(spec if given else own_code.with_budget(spec, "inf"))
