"""Docstrings as Markdown: paragraphs, `name  what it is` lists, drawings and examples."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from vambrace.protocols import Flags, Floats, Integers

ENTRY = re.compile(r"(?P<name>[A-Za-z_][\w-]*(?:, [A-Za-z_]\w*)*)  +(?P<text>\S.*)")
FIELD = re.compile(r"    (?P<name>[a-z]\w*): (?P<type>[^=#]+?)(?: = (?P<default>.+?))?(?:  # (?P<remark>.+))?$")
CODE = re.compile(r"(``.+?``|`.+?`)")
WIDE = 100  # a longer signature takes a line for each parameter


def markdown(text: str) -> str:
    """A docstring, block by block."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(part for block in blocks for part in _parts(block.splitlines()))


def _parts(lines: list[str]) -> Iterator[str]:
    if lines[0].startswith(">>>"):
        yield "\n".join(["```pycon", *lines, "```"])
    elif lines[0].startswith(" ") or re.match(r"\w+\(.*\) -> ", lines[0]):
        yield "\n".join(["```text", *inspect.cleandoc("\n".join(["", *lines])).splitlines(), "```"])
    else:
        yield from _prose(lines)


def _prose(lines: list[str]) -> Iterator[str]:
    """Sentences, and runs of entries; what is indented goes on with the entry above."""
    entries: list[tuple[str, str]] = []
    sentences: list[str] = []
    for line in lines:
        if line.startswith(" ") and entries:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.strip()}")
        elif found := ENTRY.fullmatch(line):
            if sentences:
                yield inline(" ".join(sentences))
            sentences = []
            entries.append((found["name"], found["text"]))
        else:
            if entries:
                yield definitions(entries)
            entries = []
            sentences.append(line)
    if entries:
        yield definitions(entries)
    if sentences:
        yield inline(" ".join(sentences))


def definitions(entries: list[tuple[str, str]]) -> str:
    """A list of names with what they are; parts of an algorithm's description are words, all others are code."""
    return "\n\n".join(
        f"{f'**{name}**' if name[0].isupper() else f'`{name}`'}\n:   {inline(text)}" for name, text in entries
    )


def inline(text: str, home: str = "../") -> str:
    """A sentence in which nothing but `code` means anything to Markdown; pages and errata become links from `home`."""
    parts = CODE.split(re.sub(r" {2,}", " ", text))
    return "".join(part if i % 2 else _linked(part, home) for i, part in enumerate(parts))


def _linked(text: str, home: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    text = re.sub(r"([\\_\[\]])", r"\\\1", text)
    text = re.sub(
        r"(?<![\w*])\*(\w[^*]*\w)\*(?![\w*])|\*", lambda star: star[0] if star[1] else r"\*", text
    )  # *emphasis*
    text = re.sub(r"docs/(\w+)\.md", rf"[docs/\1.md]({home}\1.md)", text)
    return re.sub(r"\bE(\d+)\b", rf"[E\1]({home}errata.md#e\1)", text)


def signature(name: str, thing: Any) -> str:
    """How a function or a class is called, with types as one writes them."""
    try:
        found = inspect.signature(thing)
    except ValueError:  # an exception: it takes what every exception takes
        return name
    parts: list[str] = []
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        if parameter.name != "self":
            parts.append(plain(str(parameter)))
    returns = found.return_annotation
    shown = returns if isinstance(returns, str) else inspect.formatannotation(returns)
    end = "" if returns in (None, found.empty) else f" -> {plain(shown)}"
    line = f"{name}({', '.join(parts)}){end}"
    return line if len(line) <= WIDE else "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){end}"])


def plain(text: str) -> str:
    """Types without their modules."""
    for name, alias in (("Floats", Floats), ("Integers", Integers), ("Flags", Flags)):
        text = text.replace(inspect.formatannotation(alias), name)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", text).replace("~", "").replace("'", '"')


def fields(thing: type) -> list[list[str]]:
    """The fields of a dataclass: name, type, and the remark that stands behind it in the source."""
    found = []
    for line in inspect.getsource(thing).splitlines():
        if line.startswith(("    def ", "    @")):
            break
        if match := FIELD.match(line):
            found.append([f"`{match['name']}`", f"`{match['type']}`".replace("|", "or"), inline(match["remark"] or "")])
    return found
