"""`vambrace list`."""

import re
from dataclasses import fields
from enum import StrEnum
from typing import Annotated

import typer

from vambrace import registry
from vambrace.cli import common
from vambrace.protocols import Adversary, Environment, Policy

EXAMPLES = ("vambrace list", "vambrace list adversaries", "vambrace list suites --json")
KINDS = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}


Kind = StrEnum("Kind", ["policies", "adversaries", "environments", "suites"])


def command(
    kind: Annotated[Kind | None, typer.Argument(help="List only these.")] = None, as_json: common.Json = False
) -> None:
    """List policies, attacks (adversaries) and arms (environments).

    Each with its parameters: those without a value must be given. Suites are the experiments that `vambrace run` knows
    by name; they are listed only when asked for.
    """
    chosen = [kind.value] if kind else list(KINDS)
    found = {
        plural: _suites()
        if plural == "suites"
        else [_describe(each) for each in registry.known(KINDS[plural]).values()]
        for plural in chosen
    }
    if as_json:
        common.print_json(found)
        return
    for plural, entries in found.items():
        common.print_records(plural, list(entries[0]), [list(entry.values()) for entry in entries])


def _suites() -> list[dict[str, str]]:
    from vambrace.lab import cells
    from vambrace.lab.experiment import read
    from vambrace.paper.suites import suites

    found = {name: read(path) for name, path in suites().items()}
    return [
        {"name": name, "title": suite.title, "cells": str(len(cells.cells_of(suite)))} for name, suite in found.items()
    ]


def _describe(thing: type[Policy] | type[Adversary] | type[Environment]) -> dict[str, str]:
    about = re.sub("[`*]", "", (thing.__doc__ or "").partition("\n")[0])
    entry = {"name": thing.name, "about": about, "class": thing.__name__}
    entry["parameters"] = ", ".join(_parameters(thing))
    if issubclass(thing, Adversary):
        entry |= {"strength": thing.strength, "knowledge": thing.knowledge, "aim": thing.aim}
    if issubclass(thing, Policy | Adversary):
        entry["reference"] = thing.reference
    return entry


def _parameters(thing: type[Policy] | type[Adversary] | type[Environment]) -> list[str]:
    """Each parameter with its default, if it has one."""
    return [
        field.name if registry.is_required(field) else f"{field.name}={field.default}".lower()
        for field in fields(thing)  # type: ignore[arg-type]
    ]
