"""Write the pages that follow from the code: the reference, and tables of bounds and layers in other pages. `make docs`.

`reference/cli.md`, what stands between marks in other pages, and the overview are committed, and a test compares them.
The rest of the reference is nothing but docstrings and made anew for each site.
"""

import json
import os
import sys
import tomllib
from contextlib import redirect_stdout
from dataclasses import is_dataclass
from importlib import import_module
from inspect import getdoc, isclass
from io import StringIO
from pathlib import Path
from types import FunctionType
from typing import Any

import typer.main

import docstrings
import pages
import readme
import vambrace as vb
from vambrace import registry, report, theory
from vambrace.cli import app
from vambrace.files import whole_file
from vambrace.kernels import is_kernel
from vambrace.protocols import Adversary, Environment, Policy
from vambrace.theory import catalogue

ROOT = Path(__file__).parent.parent
OVERVIEW = Path(report.__file__).with_name("overview.svg")
PROTOCOLS = (Policy, Adversary, Environment)
KINDS = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}
PAGES = {  # file -> title, what it is about, where its names live
    "simulation": (
        "Simulation",
        "Playing games, what comes out, and what can go wrong.",
        ("engine", "kernel", "errors"),
    ),
    "policies": ("Policies", "Frozen and keyword-only; `delta=None` means K/T.", ("protocols.Policy", "policies")),
    "adversaries": ("Adversaries", "Each has a budget, `inf` included.", ("protocols.Adversary", "adversaries")),
    "environments": ("Environments", "Arms that pay in [0, 1].", ("protocols.Environment", "environments")),
    "live": ("Live", "Ask for an arm, tell its reward, save and go on.", ("live",)),
    "audit": ("Certificates", "How many fake events would overturn a finished test?", ("audit",)),
    "lab": ("Attack suite and foreign bandits", "Every attack against one policy, ours or yours.", ("lab", "foreign")),
    "theory": ("Bounds and plans", "What is promised, and what nobody can beat: `vambrace.theory`.", ("theory",)),
    "testing": ("Conformance checks", "For authors of new ones: `vambrace.testing`.", ("testing",)),
}
MORE = ("vambrace.theory", "vambrace.testing")  # public modules with names of their own


def main(docs: Path = pages.DOCS) -> None:
    texts = {"cli": command_line(), "registry": tables()} | {name: api(name) for name in PAGES}
    for name, text in texts.items():
        save(docs / "reference" / f"{name}.md", text)
    for path, text in filled(docs).items():
        save(path, text)
    save(docs / "images" / "overview.svg", OVERVIEW.read_text(encoding="utf-8"))


def save(path: Path, text: str) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def filled(docs: Path) -> dict[Path, str]:
    """The pages that people write and in which a table is ours, with that table as it should be."""
    ours = {
        "index.md": ("picture", picture()),
        "theory.md": ("bounds", bounds()),
        "design.md": ("layers", layers()),
    }
    return {docs / name: pages.between((docs / name).read_text(encoding="utf-8"), *own) for name, own in ours.items()}


def picture() -> str:
    """The picture of the README, with what stands below it."""
    text = readme.README.read_text(encoding="utf-8").split(readme.BEGIN)[1].split(readme.END)[0]
    return text.strip().replace("](docs/", "](")


def command_line() -> str:
    """What `--help` of every command prints."""
    group = typer.main.get_command(app)
    commands = ["", *group.commands]  # type: ignore[attr-defined]
    text = ["# Command line", "", "*Written by `make docs`: this is what `--help` prints.*"]
    for command in commands:
        line = f"vambrace {command}".strip()
        text += [
            "",
            f"## {line} {{ #{command or 'vambrace'} }}",
            "",
            "```text",
            printed(*command.split(), "--help").rstrip(),
            "```",
        ]
    return "\n".join([*text, ""])


def printed(*words: str) -> str:
    """What a command prints on a terminal of eighty columns."""
    out, columns = StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        with redirect_stdout(out):
            app([*words], prog_name="vambrace", standalone_mode=False)
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return out.getvalue()


def listed(kind: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(printed("list", kind, "--json"))[kind]
    return found


def tables() -> str:
    """Everything that has a name on the command line."""
    text = [
        "# Names and parameters",
        "",
        "*Written by `make docs` from the registry, as `vambrace list` prints it.* On the command line a name takes its",
        "parameters after a colon: `se-wr:budget=100,radius=tight`. *Leap*: the [leap engine](../leap.md) can play it.",
    ]
    for plural, kind in KINDS.items():
        classes = registry.known(kind)
        rows = []
        for entry in listed(plural):
            thing = classes[entry["name"]]
            cells = [f"[{entry['name']}]({plural}.md#{entry['class']})", code(entry["parameters"]), summary(thing)]
            if kind == "adversary":
                cells += [entry["strength"], entry["knowledge"], docstrings.inline(entry["aim"])]
            rows.append([*cells, "yes" if leaps(thing) else "", docstrings.inline(entry.get("reference", ""))])
        columns = ["name", "parameters", "what it does", *(("strength", "knows", "aim") if kind == "adversary" else ())]
        text += ["", f"## {plural.capitalize()}", "", words([*columns, "leap", "source"], rows)]
    rows = [[code(entry["name"]), entry["title"], entry["cells"]] for entry in listed("suites")]
    text += ["", "## Suites", "", "Experiments that `vambrace run` knows by name.", ""]
    return "\n".join([*text, words(["name", "what it shows", "cells"], rows), ""])


def code(text: str) -> str:
    return ", ".join(f"`{part}`" for part in text.split(", ") if part)


def words(columns: list[str], rows: list[list[str]]) -> str:
    """A table of texts, without the columns in which nothing stands."""
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    head = [f"| {' | '.join(columns[i] for i in kept)} |", "|---" * len(kept) + "|"]
    return "\n".join([*head, *(f"| {' | '.join(row[i] for i in kept)} |" for row in rows)])


def summary(thing: Any) -> str:
    return docstrings.inline((getdoc(thing) or "").splitlines()[0])


def leaps(thing: Any) -> bool:
    """Whether it offers what the leap engine needs; a property: in some of its modes."""
    return any(getattr(thing, name, None) is not None for name in ("quiet", "respond", "outcomes"))


def public() -> dict[str, Any]:
    """Every public name with what it stands for, those of the submodules included."""
    found = {name: getattr(vb, name) for name in vb.__all__}
    for home in MORE:
        module = import_module(home)
        found |= {name: getattr(module, name) for name in module.__all__}
    return found


def names_of(page: str) -> list[str]:
    """The names that a page describes, home after home."""
    return [
        name
        for home in PAGES[page][2]
        for name, thing in sorted(public().items(), key=lambda pair: (pair[0].lower(), pair[0]))
        if f"{thing.__module__}.{name}.".startswith(f"vambrace.{home}.")
    ]


def api(page: str) -> str:
    title, about, _ = PAGES[page]
    text = [f"# {title}", f"*Written by `make docs` from the docstrings.* {about}"]
    modules = set()
    for name in names_of(page):
        thing = public()[name]
        text += described(name, thing)
        module = sys.modules[thing.__module__]
        if "\n" in (module.__doc__ or "").strip() and module not in modules and thing not in PROTOCOLS:
            modules.add(module)
            text.append(docstrings.markdown(module.__doc__ or ""))
    return "\n\n".join(text) + "\n"


def described(name: str, thing: Any) -> list[str]:
    protocol = next((each for each in PROTOCOLS if isclass(thing) and issubclass(thing, each)), None)
    outcome = protocol is None and is_dataclass(thing)  # something that one is given, not something that one makes
    text = [f"## {name} {{ #{name} }}"]
    if thing not in PROTOCOLS and not outcome:
        text.append(f"```python\n{docstrings.signature(name, thing)}\n```")
    text.append(docstrings.markdown(getdoc(thing) or ""))
    if outcome:
        text.append(words(["field", "type", "what"], docstrings.fields(thing)))
    if not isclass(thing):
        return text
    for member, value in vars(thing).items():
        if member.startswith("_") or (protocol not in (None, thing) and hasattr(protocol, member)):
            continue
        title = f"### {name}.{member} {{ #{name}.{member} }}"
        if isinstance(value, FunctionType | classmethod) and not is_kernel(value):
            call = docstrings.signature(f"{name}.{member}", getattr(thing, member))
            text += [title, f"```python\n{call}\n```", docstrings.markdown(getdoc(value) or "")]
        elif isinstance(value, property):
            text += [title, docstrings.markdown(getdoc(value) or "")]
    return text


def bounds() -> str:
    """Every bound of the catalogue, once."""
    found: dict[str, theory.Bound] = {}
    for policy in catalogue.POLICIES:
        budget = 0 if policy == "se" else 1  # SE promises nothing against an attacker
        for bound in theory.bounds(policy, gaps=[0.1, 0.1, 0.1], horizon=10**6, budget=budget, best_mean=0.5):
            found.setdefault(bound.name, bound)
    text = []
    for kind, title in (("upper", "What is promised"), ("lower", "What nobody can beat")):
        for explicit, nature in ((True, "numbers"), (False, "orders")):
            rows = [
                [
                    bound.name,
                    f"`{bound.formula}`",
                    *(docstrings.inline(each, "") for each in (bound.holds, bound.source)),
                ]
                for name, bound in sorted(found.items())
                if (bound.kind, bound.explicit) == (kind, explicit)
            ]
            text += [f"### {title}: {nature}", words(["bound", "formula", "holds", "source"], rows)]
    return "\n\n".join(text)


def layers() -> str:
    """The layers that import-linter enforces, with the first line of each module's docstring."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = [
        [str(number), f"`{name}`", summary(import_module(f"vambrace.{name}"))]
        for number, layer in enumerate(setup["tool"]["importlinter"]["contracts"][0]["layers"], 1)
        for name in layer.split(" | ")
    ]
    return words(["", "module", "what"], rows)


if __name__ == "__main__":
    main()
