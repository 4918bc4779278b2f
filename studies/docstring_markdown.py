"""A griffe extension, used by mkdocs.yml: what docstrings of this package write in plain text becomes Markdown.

Examples become code blocks, the *Setting · Algorithm · Guarantee · Reading* part of a module becomes a list, and names
of errata and pages become links. Everything else in the reference is the work of mkdocstrings.
"""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*\n).*)*", re.MULTILINE)
PART = re.compile(r"^([A-Za-z][\w-]*) {3,}(?=\S)", re.MULTILINE)
LINK = re.compile(r"(?P<code>(?P<ticks>`+).*?(?P=ticks))|\bE(?P<erratum>\d+)\b|\bdocs/(?P<page>\w+)\.md\b", re.DOTALL)


class DocstringMarkdown(griffe.Extension):
    """Rewrite each docstring when griffe has found it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """A docstring as Markdown; pages lie one folder above the reference."""
    text = EXAMPLE.sub(r"```pycon\n\g<0>\n```", text)
    return LINK.sub(_link, PART.sub(r"- **\1:** ", text))


def _link(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    target = f"errata.md#e{found['erratum']}" if found["erratum"] else f"{found['page']}.md"
    return f"[{found[0]}](../{target})"
