"""Policies, attacks and environments from files of yours: `mine.py:MyPolicy` or `mine.py:my-policy:budget=3`.

To name a file is to run it, like `python mine.py`. So only a command line or an experiment that you run does that;
folders of results and snapshots name files too, but reading them runs nothing.

The text of a file travels with each cell to processes and clusters, and its fingerprint says which version was played.
The file stands alone: what it imports must be installed wherever it runs.
"""

import hashlib
import re
import sys
import traceback
from collections.abc import Iterable, Mapping
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from vambrace import registry
from vambrace.errors import InvalidParameter, UnknownName
from vambrace.protocols import Adversary, Environment, Policy

KINDS: dict[str, type[Any]] = {"policy": Policy, "adversary": Adversary, "environment": Environment}
SPEC = re.compile(r"([^=,]+?\.py)(?::([^:]*)(?::(.*))?)?", re.DOTALL)

_modules: dict[tuple[str, str], ModuleType] = {}  # (file, fingerprint) -> what running it left


class Parts(NamedTuple):
    """A spec string in its parts."""

    file: str  # as written; empty: the name is registered
    name: str
    rest: str  # parameters


def split(spec: str) -> Parts:
    """The parts of a spec string.

    >>> split("mine.py:my-policy:budget=3")
    Parts(file='mine.py', name='my-policy', rest='budget=3')
    """
    if found := SPEC.fullmatch(spec):
        return Parts(found[1], found[2] or "", found[3] or "")
    name, _, rest = spec.partition(":")
    return Parts("", name, rest)


def with_budget(spec: str, budget: str) -> str:
    """The spec of an attack with a budget added.

    >>> with_budget("mine.py:Slander", "5"), with_budget("conceal:arm=1", "{budget}")
    ('mine.py:Slander:budget=5', 'conceal:arm=1,budget={budget}')
    """
    return f"{spec}{',' if split(spec).rest else ':'}budget={budget}"


def fingerprint(text: str) -> str:
    """The fingerprint of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprints(specs: Iterable[str], sources: Mapping[str, str]) -> dict[str, str]:
    """The fingerprint of each file that some specs name, from the texts of the files."""
    return {file: fingerprint(sources[file]) for spec in specs if (file := split(spec).file)}


def read(specs: Iterable[str], folder: Path) -> dict[str, str]:
    """Run each file that some specs name, with paths from a folder; returns their texts."""
    found: dict[str, str] = {}
    for file in dict.fromkeys(split(spec).file for spec in specs):
        if file:
            place = (folder / file).resolve()
            try:
                found[file] = place.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                why = getattr(error, "strerror", None) or error
                raise InvalidParameter(f"{file}: expected a file of Python code, got {why}") from None
            load(file, found[file], place)
    return found


def load(file: str, text: str, place: Path | None = None) -> None:
    """Run the text of a file, once in this process.

    Args:
        file: The file, as a spec names it.
        text: Its text.
        place: Where it is; None: nowhere on this machine.
    """
    key = (file, fingerprint(text))
    if key in _modules:
        return
    name = f"vambrace_own_{fingerprint(file + text)[:16]}"  # the same everywhere: compiled code is found by it
    loader = _Text(file, text)
    spec = spec_from_loader(name, loader, origin=file)
    module = module_from_spec(spec)  # type: ignore[arg-type]
    module.__file__ = str(place or file)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        where = f", line {lines[-1]}" if lines else ""
        raise InvalidParameter(f"{file}{where}: {type(error).__name__}: {error}") from error
    for kind in KINDS:
        for short, thing in classes(module, kind).items():
            thing.name = f"{file}:{short}"  # its spec and every message then say where it is from
    _modules[key] = module


class _Text(InspectLoader):
    """Loads a module from a text."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.text, self.file)


def module(file: str, sources: Mapping[str, str]) -> ModuleType:
    """What running a file left.

    Args:
        file: The file, as a spec names it.
        sources: The fingerprints of the files that were run.
    """
    found = _modules.get((file, sources.get(file, "")))
    if found is None:
        raise InvalidParameter(f"{file}: expected a file that this program was asked to run, got only its name")
    return found


def classes(module: ModuleType, kind: str) -> dict[str, type[Any]]:
    """The classes of a kind that a file defines, by the name that each gives itself, or by that of the class."""
    found = {}
    for thing in vars(module).values():
        if isinstance(thing, type) and issubclass(thing, KINDS[kind]) and thing.__module__ == module.__name__:
            found[str(vars(thing).get("name", thing.__name__)).rpartition(":")[2]] = thing
    return found


def policy(spec: str, sources: Mapping[str, str] | None = None) -> Any:
    """The policy of a spec string, registered or from a file.

    Args:
        spec: The spec string.
        sources: The fingerprints of files that were run before; no other file is used. None: run the file.
    """
    return _made("policy", spec, sources)


def adversary(spec: str, sources: Mapping[str, str] | None = None) -> Any:
    """The attack of a spec string; None for "none"."""
    return None if spec == "none" else _made("adversary", spec, sources)


def environment(spec: str, sources: Mapping[str, str] | None = None) -> Any:
    """The environment of a spec string."""
    return _made("environment", spec, sources)


def _made(kind: str, spec: str, sources: Mapping[str, str] | None) -> Any:
    file, name, rest = split(spec)
    if not file:
        return getattr(registry, kind)(spec)
    if sources is None:
        sources = fingerprints([spec], read([spec], Path()))
    known = classes(module(file, sources), kind)
    known |= {thing.__name__: thing for thing in known.values()}
    if name not in known:
        raise UnknownName(f"{kind} in {file}", name, known)
    return registry.build(kind, f"{file}:{name}", known[name], rest)
