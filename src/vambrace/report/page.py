"""Pages: one HTML file each, for a phone, a desk, light and dark, that loads nothing from elsewhere.

Figures are drawn in the page by Vega, which it carries. A policy in its head forbids it to ask for anything.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

from vambrace.report.figures import load_altair

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --rule: #ccc; --soft: #555; --link: #00558a;
  --good: #00664b; --bad: #a33b00; --box: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --paper: #161616; --rule: #444; --soft: #aaa;
  --link: #7cc4f0; --good: #5fd3ab; --bad: #ff9d5c; --box: #202326; } }
body { max-width: 62rem; margin: 0 auto; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 2.5rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .3rem; }
p { max-width: 46rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .wide:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; }
caption, figcaption { text-align: left; color: var(--soft); font-size: .95rem; max-width: 46rem; }
figure { margin: 1rem 0; }
figure > div { min-height: 12rem; }
th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
thead th { font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: inherit; }
.number { text-align: right; }
td.number { white-space: nowrap; }
:is(th, td):last-child { padding-right: 0; }
code { font-size: .92em; }
pre { background: var(--box); padding: .6rem; overflow-x: auto; font-size: .85rem; }
summary { cursor: pointer; color: var(--link); padding: .2rem 0; }
svg { max-width: 100%; height: auto; }
@media (max-width: 40rem) {
  .words thead { display: none; }
  .words tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .words :is(th, td) { display: block; padding: .1rem 0; border: 0; }
  .words [data-label]::before { content: attr(data-label) ": "; color: var(--soft); }
}
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.soft { color: var(--soft); }
nav ol { columns: 16rem; padding-left: 1.3rem; }
footer { margin-top: 3rem; color: var(--soft); font-size: .9rem; }
.vega-embed .vega-bindings { display: none; }
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<footer>{footer}</footer>
{scripts}</body>
</html>
"""
ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'unsafe-inline'"
# Lay each figure out for the width that there is, again when that changes; `ast` needs no right to make programs.
DRAW = """
const ink = "currentColor";
const look = {background: null, font: "system-ui, sans-serif", view: {stroke: null},
  axis: {labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink, gridColor: ink, gridOpacity: 0.15,
    labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal"},
  legend: {labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12},
  header: {labelColor: ink, titleColor: ink, labelFontSize: 13}, title: {color: ink, subtitleColor: ink},
  text: {color: ink}, rule: {color: ink}};
async function draw(figure) {
  const spec = JSON.parse(figure.nextElementSibling.textContent), room = figure.clientWidth;
  const facets = figure.dataset.facets, columns = Math.min(facets, room < 640 ? 1 : 2);
  delete spec.title;  // the heading says it
  spec.columns = columns;
  spec.spec.width = Math.max(180, Math.min(560, Math.floor(room / columns) - 90));
  spec.spec.height = Math.round(Math.max(200, Math.min(300, spec.spec.width * 0.7)));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const menu = {export: true, source: false, compiled: false, editor: false};
  const legend = {...look.legend, columns: room < 640 ? 1 : 3, labelLimit: Math.min(320, room - 60)};
  await vegaEmbed(figure, spec, {renderer: "svg", ast: true, actions: menu, config: {...look, legend},
    tooltip: {theme: dark ? "dark" : "light"}});
  figure.querySelector("summary").ariaLabel = "Save this figure";  // it shows three dots only
}
const figures = [...document.querySelectorAll("[data-facets]")];
let width = 0, waiting = 0;
async function drawAll() {
  width = document.body.clientWidth;
  for (const figure of figures) await draw(figure);
  document.body.dataset.drawn = figures.length;
}
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (document.body.clientWidth !== width) drawAll(); }, 200);
});
drawAll();
"""


def document(title: str, parts: Iterable[str], *, footer: str, style: str = "") -> str:
    """A page of parts, with rules of its own; with the program that draws, if one of them is a figure to be drawn."""
    body = "\n".join(parts)
    scripts = ""
    if "data-facets=" in body:
        scripts = f"<script>{_vega()}</script>\n<script>{DRAW}</script>\n"
    return PAGE.format(
        allowed=ALLOWED, title=escape(title), style=STYLE + style, body=body, footer=escape(footer), scripts=scripts
    )


def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed of the version that the figures were made with, as a program for a page."""
    altair = load_altair()
    from vl_convert import javascript_bundle

    make: Any = javascript_bundle  # its types want what its documentation does not
    return str(make(vl_version=".".join(altair.SCHEMA_VERSION.split(".")[:2]))).replace("</script", "<\\/script")


def figure(chart: Any, caption: str, facets: int) -> str:
    """A figure that the page draws: the chart must be a facet."""
    spec = json.dumps(chart.to_dict(), separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<figure><div data-facets="{facets}"></div><script type="application/json">{spec}</script>'
        f"{tag('figcaption', caption)}</figure>"
    )


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()) -> str:
    """A table of texts whose first column names the row; `numbers`: the columns of figures."""
    return markup_table(caption, headings, ([escape(cell) for cell in row] for row in rows), numbers)


def markup_table(
    caption: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[int] = (),
    *,
    words: bool = False,
) -> str:
    """The same, where the cells are HTML already; one of words has a line for each cell on a phone."""
    marks = dict.fromkeys(numbers, ' class="number"')
    if words:
        marks = {k: f' data-label="{escape(each)}"' for k, each in enumerate(headings)}
    head = "".join(f'<th scope="col"{marks.get(k, "")}>{escape(each)}</th>' for k, each in enumerate(headings))
    top = f"<thead><tr>{head}</tr></thead>" if headings else ""
    lines = [
        f'<tr><th scope="row"{marks.get(0, "")}>{first}</th>'
        + "".join(f"<td{marks.get(k, '')}>{cell}</td>" for k, cell in enumerate(rest, start=1))
        + "</tr>"
        for first, *rest in rows
    ]
    kind = ' class="words"' if words else ' class="pairs"' if len(headings) <= 2 else ""
    found = f"<table{kind}>{tag('caption', caption)}{top}<tbody>\n" + "\n".join(lines) + "\n</tbody></table>"
    return scrolling(caption, found)


def scrolling(name: str, content: str) -> str:
    """Where the content is wider than the screen it scrolls by itself, also with the keyboard."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(name)}">{content}</div>'


def details(summary: str, *parts: str) -> str:
    """Something to open."""
    return f"<details>{tag('summary', summary)}{''.join(parts)}</details>"


def tag(name: str, text: str) -> str:
    """A text in an element."""
    return f"<{name}>{escape(text)}</{name}>"
