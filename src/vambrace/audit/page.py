"""A certificate as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from math import floor
from pathlib import Path

from vambrace.audit.certificate import Certificate
from vambrace.audit.certify import BUDGETS, standing
from vambrace.files import whole_file
from vambrace.report.figures import load_altair

THREATS = {
    "alter": "C is the total by which rewards were changed: at worst, C events that say the opposite of the truth.",
    "inject": "C is the number of events that were made up and added to the log.",
    "suppress": "C is the number of events that happened and are missing from the log.",
}
DESIGNS = {
    "adaptive": "The limits hold at every length of the log at once: a bandit may have chosen the arms, and the test "
    "may have been looked at before it ended.",
    "fixed": "The limits are those of one look at sample sizes that were set in advance. Stopping early, or choosing "
    "arms by their results, breaks them.",
}
CAVEAT = "The certificate bounds what an attacker could have done. It does not detect an attack."
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --rule: #ccc; --soft: #555; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #eee; --paper: #161616; --rule: #444; --soft: #aaa; }} }}
body {{ max-width: 46rem; margin: 0 auto; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }}
h1 {{ font-size: 1.4rem; line-height: 1.3; }}
h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
caption, figcaption {{ text-align: left; color: var(--soft); }}
figure {{ margin: 1rem 0; }}
th, td {{ padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; white-space: normal; }}
svg {{ max-width: 100%; height: auto; color: var(--ink); }}
footer {{ margin-top: 2rem; color: var(--soft); font-size: .9rem; }}
</style>
</head>
<body>
<main>
{body}
</main>
<footer>{footer}</footer>
</body>
</html>
"""


def save(
    certificates: Mapping[str, Certificate],
    path: Path,
    *,
    source: str,
    made_by: str,
    notes: Sequence[str] = (),
    many: bool = False,
) -> None:
    """Write the page of a certificate, or that of many tests, whole or not at all.

    source   what was certified, such as the name of a file
    made_by  the program and its version
    notes    sentences about it that the page must not hide
    """
    one = next(iter(certificates.values()))
    parts = _of_many(certificates) if many else _of_one(one)
    meaning = [THREATS[one.threat], *notes, DESIGNS[one.design], CAVEAT]
    parts += [_tag("h2", "What C means"), *(_tag("p", each) for each in meaning), _tag("h2", "Parameters")]
    parameters = {"source": source, "delta": f"{one.delta:g}", "threat": one.threat, "design": one.design}
    parts.append(_table("", ("", ""), parameters.items()))
    text = PAGE.format(title=escape(f"Certificate: {source}"), body="\n".join(parts), footer=escape(made_by))
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _of_one(certificate: Certificate) -> list[str]:
    arms = _table("The winner and its rivals", HEADINGS, rows(certificate))
    may = _table("Arms that may be the best, if C is at least", ("C", "arms"), steps(certificate))
    return [_tag("h1", str(certificate)), _figure(certificate), arms, may]


def _of_many(certificates: Mapping[str, Certificate]) -> list[str]:
    found = certificates.values()
    tests = (
        (test, each.winner, f"{each.events:,}", amount(each.budget) if each.certified else "no winner")
        for test, each in certificates.items()
    )
    return [
        _tag("h1", f"{standing(found, 0):,} of {len(found):,} tests have a certified winner"),
        _table("Winners that stand", ("C", "winners"), stands(found)),
        _tag("h2", "Every test"),
        _table("", ("test", "winner", "events", "stands up to C"), tests),
    ]


HEADINGS = ("arm", "events", "mean", "interval", "beaten up to C")


def rows(certificate: Certificate) -> list[tuple[str, ...]]:
    """The winner and its rivals, as texts: those of HEADINGS."""
    c, possible = certificate, certificate.not_ruled_out(0)
    arms = [(c.winner, c.winner_events, c.winner_mean, c.winner_low, c.winner_high, "")]
    for r in sorted(c.rivals, key=lambda rival: -rival.mean):
        against = "not separated" if r.label in possible else amount(r.budget)
        arms.append((r.label, r.events, r.mean, r.low, r.high, against))
    return [(arm, f"{n:,}", f"{mean:.4g}", f"{low:.4g} … {high:.4g}", to) for arm, n, mean, low, high, to in arms]


def steps(certificate: Certificate) -> list[tuple[str, str]]:
    """From which budget on which arms may be the best."""
    return [(amount(budget), ", ".join(labels)) for budget, labels in certificate.ruled_out_steps()]


def stands(certificates: Collection[Certificate]) -> list[tuple[str, str]]:
    """How many winners stand at which budget."""
    return [(f"{budget:,}", f"{standing(certificates, budget):,}") for budget in BUDGETS]


def amount(budget: float) -> str:
    """A budget as text, never rounded up."""
    return f"{budget:,}" if isinstance(budget, int) else f"{floor(100 * budget) / 100:,.2f}"


def _figure(certificate: Certificate) -> str:
    """The figure as SVG inside the page, in the colours of its text."""
    load_altair()
    ink = {f"{part}Color": "currentColor" for part in ("label", "title", "domain", "tick", "grid")}
    figure = certificate.plot().properties(title="")  # which is the page's
    figure = figure.configure(background="transparent").configure_axis(**ink, gridOpacity=0.15)
    figure = figure.configure_legend(orient="bottom", labelColor="currentColor", titleColor="currentColor")
    figure = figure.configure_text(color="currentColor").configure_view(stroke=None)
    drawn = StringIO()
    figure.save(drawn, format="svg")
    caption = f"Intervals without an attack, all valid together with probability {1 - certificate.delta:g}."
    return f"<figure>{drawn.getvalue()}{_tag('figcaption', caption)}</figure>"


def _table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(_tag("th", each) for each in headings)
    lines = [f"<tr>{''.join(_tag('td', cell) for cell in row)}</tr>" for row in rows]
    top = f"<thead><tr>{head}</tr></thead>" if any(headings) else ""
    named = _tag("caption", caption) if caption else ""
    return f'<div class="wide"><table>{named}{top}<tbody>\n' + "\n".join(lines) + "\n</tbody></table></div>"


def _tag(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
