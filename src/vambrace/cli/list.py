"""`vambrace list`."""

import re
from typing import Annotated

import typer

from vambrace import registry
from vambrace.cli import common
from vambrace.errors import UnknownName
from vambrace.protocols import Adversary, Environment, Policy

EXAMPLES = ("vambrace list", "vambrace list se-wr", "vambrace list adversaries", "vambrace list suites --json")
KINDS = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}
HELP = "policies, adversaries, environments or suites: list only these; a name: its parameters, in full."


def command(
    what: Annotated[str | None, typer.Argument(help=HELP, show_default=False)] = None, as_json: common.Json = False
) -> None:
    """List policies, attacks (adversaries) and arms (environments).

    Each with its parameters: those without a value must be given. Suites are the experiments that `vambrace run` knows
    by name; they are listed only when asked for.
    """
    found: dict[str, list[dict[str, str]]] = {}
    if what is None or what in (*KINDS, "suites"):
        for plural in KINDS if what is None else [what]:
            known = {} if plural == "suites" else registry.known(KINDS[plural])
            found[plural] = [_describe(each) for each in known.values()] or _suites()
    else:
        known = {name: thing for kind in KINDS.values() for name, thing in registry.known(kind).items()}
        if what not in known:
            raise UnknownName("name", what, [*KINDS, "suites", *known])
        found[what] = [_describe(known[what])]
        found["parameters"] = [each.words() for each in registry.declared(known[what])]
    if as_json:
        common.print_json(found)
        return
    for title, entries in found.items():
        if entries:
            common.print_records(title, list(entries[0]), [list(entry.values()) for entry in entries])


def _suites() -> list[dict[str, str]]:
    from vambrace.lab.cells import expand
    from vambrace.lab.experiment import read
    from vambrace.paper.suites import suites

    found = {name: read(path) for name, path in suites().items()}
    return [{"name": name, "title": each.title, "cells": str(len(expand(each).cells))} for name, each in found.items()]


def _describe(thing: type[Policy] | type[Adversary] | type[Environment]) -> dict[str, str]:
    about = re.sub("[`*]", "", (thing.__doc__ or "").partition("\n")[0])
    every = registry.declared(thing)
    parameters = [each.name if each.required else f"{each.name}={each.default}".lower() for each in every]
    entry = {"name": thing.name, "about": about, "class": thing.__name__, "parameters": ", ".join(parameters)}
    if issubclass(thing, Adversary):
        entry |= {"strength": thing.strength, "knowledge": thing.knowledge, "aim": thing.aim}
    if issubclass(thing, Policy):
        entry["arms"] = "may open and close" if thing.arms_can_change else "fixed"
    if issubclass(thing, Policy | Adversary):
        entry["reference"] = thing.reference
    return entry
