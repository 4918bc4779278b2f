"""Pages: one HTML file each, for a phone, a desk, light and dark, that loads nothing from elsewhere.

Templates of Jinja2, which escapes every value, write the HTML. Figures are drawn in the page by Vega, which it carries.
A policy in its head forbids it to ask for anything.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from vambrace.errors import MissingExtra
from vambrace.files import whole_file
from vambrace.report.figures import BOUND, load_altair
from vambrace.report.legend import PATHS

FORMATS = {"csv": "CSV", "tex": "LaTeX", "md": "Markdown"}  # of tables, by the endings of their files
INK = "currentColor"
AXIS = {f"{part}Color": INK for part in ("label", "title", "domain", "tick", "grid")}
STILL: dict[str, Any] = {  # the look of a figure that no program has drawn, in the colours of the page
    "background": "transparent",
    "view": {"stroke": None},
    "axis": AXIS | {"gridOpacity": 0.15, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
    "header": {"labelColor": INK, "labelFontSize": 13},
    "text": {"color": INK},
    "rule": {"color": INK},
}
NARROW = 250  # the width of a facet of such a figure: it is to be read on a phone as well


class Table(NamedTuple):
    """A table of texts whose first column names the row; without headings it has none."""

    caption: str
    headings: Sequence[str]
    rows: Collection[Sequence[str]]
    numbers: Collection[int] = ()  # the columns of numbers
    sizes: Sequence[Sequence[float | None]] = ()  # the numbers themselves: a table that has them can be sorted
    best: Collection[tuple[int, int]] = ()  # row and column of what is to be bold
    files: Mapping[str, str] = {}  # the table in other formats, by the ending of a file
    name: str = ""  # of these files

    @property
    def links(self) -> list[tuple[str, str, str]]:
        """For each file its format, its name, and an address that holds all of it."""
        return [
            (FORMATS[ending], f"{self.name}.{ending}", f"data:text/plain;base64,{b64encode(text.encode()).decode()}")
            for ending, text in self.files.items()
        ]


def write(path: Path, template: str, **values: Any) -> None:
    """Write a page from a file in templates/ and the values that it speaks of, whole or not at all."""
    text = rendered(template, **values)
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def rendered(template: str, **values: Any) -> str:
    """A page from a file in templates/ and the values that it speaks of."""
    return str(templates().get_template(f"templates/{template}").render(values))


@cache
def templates(*folders: Path) -> Any:
    """The templates of the reports, and those of other folders, which come first."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("pages: expected the extra vambrace[report] (jinja2), got none") from error
    options: dict[str, Any] = {"autoescape": True, "undefined": jinja2.StrictUndefined, "trim_blocks": True}
    loader = jinja2.FileSystemLoader([*folders, Path(__file__).parent])
    found = jinja2.Environment(loader=loader, lstrip_blocks=True, **options)
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    found.filters["breakable"] = _breakable
    found.globals |= {"vega": _vega, "still": _still, "paths": PATHS, "bound": BOUND}
    return found


def _breakable(text: str) -> Any:
    """A name that may be long, with the places where a narrow column may break it."""
    from markupsafe import Markup, escape

    return Markup(re.sub("([:,=])", r"\1<wbr>", str(escape(text))))


def _vega() -> Any:
    from markupsafe import Markup

    return Markup(vega_program().replace("</script", "<\\/script"))  # ours, not the user's


@cache
def vega_program() -> str:
    """Vega, Vega-Lite and Vega-Embed of the version that the figures were made with, as a program for a page."""
    altair = load_altair()
    from vl_convert import javascript_bundle

    make: Any = javascript_bundle  # its types want what its documentation does not
    return str(make(vl_version=".".join(altair.SCHEMA_VERSION.split(".")[:2])))


def _still(chart: Mapping[str, Any], name: str) -> Any:
    """A figure as SVG, for readers whose browser runs no programs."""
    load_altair()
    from markupsafe import Markup
    from vl_convert import vegalite_to_svg

    spec = {key: value for key, value in chart.items() if key != "title"}
    spec["config"] = STILL
    if "spec" in spec:
        spec |= {"columns": 1, "spec": spec["spec"] | {"width": NARROW, "height": 200}}
    drawn = str(vegalite_to_svg(spec))
    return Markup(re.sub(r"(id=\"|url\(#)(?=clip)", rf"\g<1>{name}-", drawn))  # ids are for the whole page
