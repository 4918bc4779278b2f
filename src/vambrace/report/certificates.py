"""A certificate as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Collection, Mapping, Sequence
from html import escape
from io import StringIO
from math import floor
from pathlib import Path

from vambrace.audit.certificate import Certificate, in_words
from vambrace.audit.certification import BUDGETS, standing
from vambrace.files import whole_file
from vambrace.report.certificate_figure import MOST_ARMS as MOST_DRAWN
from vambrace.report.figures import load_altair
from vambrace.report.page import details, document, scrolling, table, tag

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
MOST_NAMES = 40  # in one of its cells
STYLE = """
body { max-width: 46rem; overflow-wrap: anywhere; }
table { width: 100%; }
thead { overflow-wrap: normal; }
tbody th { min-width: 7rem; }
tbody td { min-width: 4.5rem; }
.pairs tbody th { width: 9rem; }
svg { min-width: 34rem; color: var(--ink); }
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

    Args:
        source: What was certified, such as the name of a file.
        made_by: The program and its version.
        notes: Sentences about it that the page must not hide.
    """
    one = next(iter(certificates.values()))
    head, tail = _of_many(certificates) if many else _of_one(one)
    wrong = CAVEATS[1].format(delta=one.delta, each=", for each test by itself" if many else "")
    meaning = [THREATS[one.threat], *notes, DESIGNS[one.design], CAVEATS[0], wrong]
    parameters = {"source": source, **{f"{use} column": column for use, column in one.columns.items()}}
    parameters |= {"threat": one.threat, "design": one.design, "delta": f"{one.delta:g}"}
    parts = [*head, tag("h2", "What C means"), *(tag("p", each) for each in meaning)]
    parts += [tag("h2", "Where this comes from"), table("Source and parameters", (), parameters.items()), *tail]
    text = document(f"Certificate: {source}", parts, footer=made_by, style=STYLE)
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _of_one(certificate: Certificate) -> tuple[list[str], list[str]]:
    n_arms = 1 + len(certificate.rivals)
    arms = table(few_of(MOST_ARMS, n_arms), HEADINGS, rows(certificate, MOST_ARMS), numbers=range(1, 5))
    may = table("What an attack must have had to hide a better arm", STEPS, steps(certificate)[:MOST_ARMS])
    head = [tag("h1", str(certificate)), _figure(certificate)]
    return [*head, tag("h2", "The winner and its rivals"), arms, tag("h2", "As C grows"), may], []


def _of_many(certificates: Mapping[str, Certificate]) -> tuple[list[str], list[str]]:
    """First what was found; all tests, which may be thousands, come last."""
    found = certificates.values()
    certified = [(each.budget, test, each) for test, each in certificates.items() if each.budget is not None]
    certified.sort(key=lambda row: -row[0])
    best = ((test, amount(budget), each.winner, f"{each.events:,}") for budget, test, each in certified)
    others = ((test, f"{each.events:,}", str(each)) for test, each in certificates.items() if not each.certified)
    head = [
        tag("h1", f"{len(certified):,} of {len(found):,} tests have a certified winner"),
        table("Winners that stand although C events may be fake", STANDS, stands(found)),
    ]
    tail = [
        tag("h2", "Certified winners"),
        table("The firmest first", ("test", "stands up to C", "winner", "events"), best, numbers=(1, 3)),
        tag("h2", "Tests without a certified winner"),
        details(
            f"{len(found) - len(certified):,} tests",
            table("In the order of the source", ("test", "events", "why"), others, numbers=(1,)),
        ),
    ]
    return head, tail


def used(columns: Mapping[str, str]) -> str:
    """What each column was used for."""
    return ", ".join(use if use == column else f"{use} = {column}" for use, column in columns.items())


HEADINGS = ("arm", "beaten up to C", "mean", "interval", "events")
STEPS = ("C at least", "arms that join")
STANDS = ("C", "winners that stand")


def few_of(most: int, n_arms: int) -> str:
    """What a table of the arms has to say about itself."""
    return "Without an attack" if n_arms <= most else f"The winner and the {most - 1:,} closest of {n_arms:,} arms"


def rows(certificate: Certificate, most: int) -> list[tuple[str, ...]]:
    """The winner and its rivals, as texts: those of HEADINGS."""
    c = certificate
    arms = [(c.winner, c.winner_events, c.winner_mean, c.winner_low, c.winner_high, "")]
    for r in c.closest(most):
        against = "not separated" if r.budget is None else amount(r.budget)
        arms.append((r.label, r.events, r.mean, r.low, r.high, against))
    return [(arm, to, f"{mean:.4g}", f"{low:.4g} … {high:.4g}", f"{n:,}") for arm, n, mean, low, high, to in arms]


def steps(certificate: Certificate) -> list[tuple[str, str]]:
    """From which budget on which arms may be the best."""
    return [(amount(budget), in_words(labels, most=MOST_NAMES)) for budget, labels in certificate.joining()]


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
    label = escape(f"Intervals of the arms; the table has the figures. {certificate}")
    image = drawn.getvalue().replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    n_arms, few_arms = 1 + len(certificate.rivals), ""
    if n_arms > MOST_DRAWN:
        few_arms = f" The winner and the {MOST_DRAWN - 1} closest of {n_arms:,} arms."
    caption = f"Intervals without an attack, all valid together with probability {1 - certificate.delta:g}.{few_arms}"
    return f"<figure>{scrolling('figure', image)}{tag('figcaption', caption)}</figure>"
