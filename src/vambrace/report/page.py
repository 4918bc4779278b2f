"""Pages: one HTML file each, for a phone, a desk, light and dark, that loads nothing from elsewhere.

Templates of Jinja2, which escapes every value, write the HTML. Figures are drawn in the page by Vega, which it carries.
A policy in its head forbids it to ask for anything.
"""

from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from vambrace.errors import MissingExtra
from vambrace.files import whole_file
from vambrace.report.figures import load_altair


class Table(NamedTuple):
    """A table of texts whose first column names the row; without headings it has none."""

    caption: str
    headings: Sequence[str]
    rows: Collection[Sequence[str]]
    numbers: Collection[int] = ()  # the columns of numbers


def write(path: Path, template: str, **values: Any) -> None:
    """Write a page from a file in templates/ and the values that it speaks of, whole or not at all."""
    text = rendered(template, **values)
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def rendered(template: str, **values: Any) -> str:
    """A page from a file in templates/ and the values that it speaks of."""
    return str(_templates().get_template(f"templates/{template}").render(values))


@cache
def _templates() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("pages: expected the extra vambrace[report] (jinja2), got none") from error
    options: dict[str, Any] = {"autoescape": True, "undefined": jinja2.StrictUndefined, "trim_blocks": True}
    folder = jinja2.FileSystemLoader(Path(__file__).parent)
    found = jinja2.Environment(loader=folder, lstrip_blocks=True, **options)
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    found.globals["vega"] = _vega
    return found


def _vega() -> Any:
    from markupsafe import Markup

    return Markup(vega_program().replace("</script", "<\\/script"))  # ours, not the user's


def vega_program() -> str:
    """Vega, Vega-Lite and Vega-Embed of the version that the figures were made with, as a program for a page."""
    altair = load_altair()
    from vl_convert import javascript_bundle

    make: Any = javascript_bundle  # its types want what its documentation does not
    return str(make(vl_version=".".join(altair.SCHEMA_VERSION.split(".")[:2])))
