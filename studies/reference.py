"""Write the pages that follow from the code: the reference, tables of bounds and layers, the drawings. `make docs`.

`reference/cli.md`, the tables between marks in other pages, and the drawings are committed, and a test compares them.
The other pages of the reference only name what mkdocstrings fills in, and are made for each site.
"""

import json
import os
import re
from contextlib import redirect_stdout
from importlib import import_module
from inspect import getdoc
from io import StringIO
from pathlib import Path
from typing import Any

import typer.main

import pages
import readme
import rooms
from vambrace import registry, report, theory
from vambrace.cli import app
from vambrace.files import whole_file
from vambrace.theory import catalogue

OVERVIEW = Path(report.__file__).with_name("overview.svg")
PROTOCOLS = ("vambrace.Policy", "vambrace.Adversary", "vambrace.Environment")
KINDS = {"policies": "policy", "adversaries": "adversary", "environments": "environment"}
PAGES = {  # file -> title, what it is about, where its names live
    "simulation": (
        "Simulation",
        "How to play games, what the result holds, and what can go wrong.",
        ("engine", "kernels", "errors"),
    ),
    "policies": ("Policies", "All parameters are keywords; `delta=None` means K/T.", ("protocols.Policy", "policies")),
    "adversaries": ("Attacks", "Each has a budget, which may be `inf`.", ("protocols.Adversary", "adversaries")),
    "environments": ("Environments", "Arms that pay in [0, 1].", ("protocols.Environment", "environments")),
    "live": ("Live", "Ask for an arm, tell its reward, save and go on.", ("live",)),
    "client": ("Client", "The learner of a service, over HTTP.", ("client",)),
    "audit": ("Certificates", "How many fake events would overturn a finished test?", ("audit",)),
    "redteam": ("Attack suite", "Every attack against one policy, ours or yours.", ("redteam", "foreign")),
    "lab": (
        "Experiments",
        "Many games from one file, `vambrace.lab`, comparisons of policies, and figures of results.",
        ("lab", "comparison", "report"),
    ),
    "theory": ("Bounds and plans", "What is promised, and what no policy can beat: `vambrace.theory`.", ("theory",)),
    "testing": (
        "Conformance checks",
        "For authors of policies, attacks and environments: `vambrace.testing`.",
        ("testing",),
    ),
}
HOMES = ("vambrace", "vambrace.lab", "vambrace.theory", "vambrace.testing")  # modules with public names


def main(docs: Path = pages.DOCS) -> None:
    texts = {"cli": command_line(), "registry": tables()} | {name: api(name) for name in PAGES}
    for name, text in texts.items():
        save(docs / "reference" / f"{name}.md", text)
    for path, text in filled(docs).items():
        save(path, text)
    save(docs / "images" / "overview.svg", OVERVIEW.read_text(encoding="utf-8"))
    save(docs / "images" / "rooms.svg", rooms.drawing())


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
            cells = [
                f"[{entry['name']}]({plural}.md#vambrace.{entry['class']})",
                code(entry["parameters"]),
                summary(thing),
            ]
            if kind == "adversary":
                cells += [entry["strength"], entry["knowledge"], cell(entry["aim"])]
            rows.append([*cells, "yes" if leaps(thing) else "", cell(entry.get("reference", ""))])
        columns = ["name", "parameters", "what it does", *(("strength", "knows", "aim") if kind == "adversary" else ())]
        text += ["", f"## {plural.capitalize()}", "", words([*columns, "leap", "source"], rows)]
        parameters = [(name, each.words()) for name, thing in classes.items() for each in registry.declared(thing)]
        rows = [[code(name), *map(cell, each.values())] for name, each in parameters]
        text += ["", f"### Parameters of {plural}", "", words(["name", *parameters[0][1]], rows)]
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


def cell(text: str, home: str = "../") -> str:
    """A text in a table: nothing but `code` means anything to Markdown, and errata become links from `home`."""
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), ("|", "&#124;"), ("*", "\\*"), ("_", "\\_")):
        text = "`".join(part if i % 2 else part.replace(sign, written) for i, part in enumerate(text.split("`")))
    return re.sub(r"\bE(\d+)\b", rf"[E\1]({home}errata.md#e\1)", text)


def summary(thing: Any) -> str:
    return cell((getdoc(thing) or "").splitlines()[0])


def leaps(thing: Any) -> bool:
    """Whether it offers what the leap engine needs; a property: in some of its modes."""
    return any(getattr(thing, name, None) is not None for name in ("quiet", "respond", "outcomes"))


def public() -> dict[str, Any]:
    """Every public name, such as `vambrace.theory.minimax`, with what it stands for."""
    return {
        f"{home}.{name}": getattr(module, name)
        for home in HOMES
        for module in [import_module(home)]
        for name in module.__all__
    }


def names_of(page: str) -> list[str]:
    """The public names that a page describes, home after home."""
    return [
        path
        for home in PAGES[page][2]
        for path, thing in sorted(public().items(), key=lambda pair: (pair[0].lower(), pair[0]))
        if f"{thing.__module__}.{path.rpartition('.')[2]}.".startswith(f"vambrace.{home}.")
    ]


def api(page: str) -> str:
    """The names of a page, each with what its module says about it: mkdocstrings fills them in."""
    title, about, _ = PAGES[page]
    text = [f"# {title}", f"*Written by `make docs` from the docstrings.* {about}"]
    modules = {"vambrace.protocols"}  # its docstring is for readers of the source
    for path in names_of(page):
        text.append(f"::: {path}" + ("" if path in PROTOCOLS else "\n    options: {filters: ['!^_', '!^init$']}"))
        module = import_module(public()[path].__module__)
        if "\n" in (module.__doc__ or "").strip() and module.__name__ not in modules:
            modules.add(module.__name__)
            text.append(
                f"::: {module.__name__}\n    options: {{members: false, show_root_heading: false, show_root_toc_entry: false}}"
            )
    return "\n\n".join(text) + "\n"


def bounds() -> str:
    """Every bound of the catalogue, once."""
    found: dict[str, theory.Bound] = {}
    for policy in catalogue.POLICIES:
        budget = 0 if policy == "se" else 1  # SE promises nothing against an attacker
        for bound in theory.bounds(policy, gaps=[0.1, 0.1, 0.1], horizon=10**6, budget=budget, best_mean=0.5):
            found.setdefault(bound.name, bound)
    text = []
    for kind, title in (("upper", "What is promised"), ("lower", "What no policy can beat")):
        for explicit, nature in ((True, "numbers"), (False, "orders")):
            rows = [
                [
                    bound.name,
                    f"`{bound.formula}`",
                    *(cell(each, "") for each in (bound.holds, bound.source)),
                ]
                for name, bound in sorted(found.items())
                if (bound.kind, bound.explicit) == (kind, explicit)
            ]
            text += [f"### {title}: {nature}", words(["bound", "formula", "holds", "source"], rows)]
    return "\n\n".join(text)


def layers() -> str:
    """The layers that import-linter enforces, with the first line of each module's docstring."""
    rows = [
        [str(number), f"`{name}`", summary(import_module(f"vambrace.{name}"))]
        for number, layer in enumerate(rooms.layers(), 1)
        for name in layer
    ]
    return words(["", "module", "what"], rows)


if __name__ == "__main__":
    main()
