"""A certificate as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from vambrace.audit import tables
from vambrace.audit.certificate import Certificate
from vambrace.report import page
from vambrace.report.certificate_figure import MOST_ARMS as MOST_DRAWN
from vambrace.report.certificate_figure import certificate_figure

THREATS = {
    "alter": "C is the total by which rewards were changed: at worst, C events that say the opposite of the truth.",
    "inject": "C is the number of events that were made up and added to the log.",
    "suppress": "C is the number of events that happened and are missing from the log.",
}
DESIGNS = {
    "adaptive": "The limits hold at every length of the log at once: a bandit may have chosen the arms, and the test "
    "may have been looked at before it ended.",
    "fixed": "The limits are those of one look at a test in which neither results nor an attacker had a say in how "
    "many genuine events each arm has. Stopping early, or choosing arms by their results, breaks them.",
}
CAVEATS = (
    "The certificate bounds what an attacker could have done. It does not detect an attack, and it says nothing about "
    "events that depend on each other or an assignment that was not random.",
    "By chance alone a wrong winner is certified with probability {delta:g} at most{each}.",
)
MOST_ARMS = 1000  # in a table of the page
WIDTHS = {"narrow": 320, "roomy": 700}  # of the figure on a phone and elsewhere


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

    Args:
        certificates: By the names of their tests; one certificate may have any name.
        path: The file.
        source: What was certified, such as the name of a file.
        made_by: The program and its version.
        notes: Sentences about it that the page must not hide.
        many: Whether the certificates are those of a group of tests.
    """
    one = next(iter(certificates.values()))
    wrong = CAVEATS[1].format(delta=one.delta, each=", for each test by itself" if many else "")
    parameters = {"source": source, **{f"{use} column": column for use, column in one.columns.items()}}
    parameters |= {"threat": one.threat, "design": one.design, "delta": f"{one.delta:g}"}
    page.write(
        path,
        "certificates.html" if many else "certificate.html",
        title=f"Certificate: {source}",
        meaning=[THREATS[one.threat], *notes, DESIGNS[one.design], CAVEATS[0], wrong],
        parameters=page.Table("Source and parameters", (), [*parameters.items()]),
        footer=made_by,
        **(_of_many(certificates) if many else _of_one(one)),
    )


def _of_one(certificate: Certificate) -> dict[str, Any]:
    n_arms, joint = 1 + len(certificate.rivals), f"all valid together with probability {1 - certificate.delta:g}"
    arms = f"Low and high: the interval of the mean without an attack, {joint}{_closest(n_arms, MOST_ARMS)}."
    return {
        "verdict": str(certificate),
        "figures": {name: _svg(certificate, width) for name, width in WIDTHS.items()},
        "caption": f"Intervals without an attack, {joint}{_closest(n_arms, MOST_DRAWN)}.",
        "arms": page.Table(arms, tables.ARMS, tables.arms(certificate, MOST_ARMS), range(1, len(tables.ARMS))),
        "steps": page.Table(
            "What an attack must have had to hide a better arm", tables.STEPS, tables.steps(certificate)[:MOST_ARMS]
        ),
    }


def _closest(n_arms: int, most: int) -> str:
    return f". The winner and the {most - 1:,} closest of {n_arms:,} arms" if n_arms > most else ""


def _of_many(certificates: Mapping[str, Certificate]) -> dict[str, Any]:
    certified = [(each.budget, test, each) for test, each in certificates.items() if each.budget is not None]
    certified.sort(key=lambda row: -row[0])
    best = [(test, tables.budget_as_text(c), each.winner, f"{each.events:,}") for c, test, each in certified]
    others = [(test, f"{each.events:,}", str(each)) for test, each in certificates.items() if not each.certified]
    return {
        "verdict": f"{len(certified):,} of {len(certificates):,} tests have a certified winner",
        "stands": page.Table(
            "Winners that stand although C events may be fake",
            tables.STANDS,
            tables.stands(certificates.values()),
            (1,),
        ),
        "certified": page.Table("The firmest first", ("test", "stands up to C", "winner", "events"), best, (1, 3)),
        "others": page.Table("In the order of the source", ("test", "events", "why"), others, (1,)),
    }


def _svg(certificate: Certificate, width: int) -> str:
    """The figure as SVG, in the colours of the page's text."""
    ink = {f"{part}Color": "currentColor" for part in ("label", "title", "domain", "tick", "grid")}
    figure: Any = certificate_figure(certificate, width=width).properties(title="")  # which is the page's
    figure = figure.configure(background="transparent").configure_axis(**ink, gridOpacity=0.15, labelFontSize=12)
    figure = figure.configure_text(color="currentColor").configure_view(stroke=None)
    drawn = StringIO()
    figure.save(drawn, format="svg")
    return drawn.getvalue()
