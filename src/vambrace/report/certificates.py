"""A certificate as a figure, and as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from vambrace.audit import tables
from vambrace.audit.certificate import UNIT_RANGE, Certificate
from vambrace.report import page
from vambrace.report.figures import COLOURS, load_altair

MOST_ARMS = 1000  # in a table of the page
MOST_DRAWN = 40  # in a figure
WIDTHS = {"narrow": 320, "roomy": 700}  # of the figure on a page, on a phone and elsewhere
Certificates = Mapping[str, Certificate]  # by the names of their tests


def save(
    certificates: Certificates, path: Path, *, source: str, made_by: str, notes: Sequence[str] = (), many: bool = False
) -> None:
    """Write the page of a certificate, which may have any name, or that of many tests, whole or not at all.

    `source` is what was certified, such as the name of a file, and `notes` are sentences that the page must not hide.
    """
    one = next(iter(certificates.values()))
    parameters = {"source": source, **{f"{use} column": column for use, column in one.columns.items()}}
    parameters |= {"threat": one.threat, "design": one.design, "delta": f"{one.delta:g}"}
    values = {"one": one, "many": many, "notes": notes, "footer": made_by, "title": f"Certificate: {source}"}
    values |= {"parameters": page.Table("Source and parameters", (), [*parameters.items()])}
    values |= _of_many(certificates) if many else _of_one(one)
    page.write(path, "certificates.html" if many else "certificate.html", **values)


def _of_one(certificate: Certificate) -> dict[str, Any]:
    n_arms, valid = 1 + len(certificate.rivals), f"all valid together with probability {1 - certificate.delta:g}"
    arms = f"Low and high: the interval of the mean without an attack, {valid}{_closest(n_arms, MOST_ARMS)}."
    steps = tables.steps(certificate)[:MOST_ARMS]
    return {
        "verdict": str(certificate),
        "figures": {name: _svg(certificate, width) for name, width in WIDTHS.items()},
        "caption": f"Intervals without an attack, {valid}{_closest(n_arms, MOST_DRAWN)}.",
        "arms": page.Table(arms, tables.ARMS, tables.arms(certificate, MOST_ARMS), range(1, len(tables.ARMS))),
        "steps": page.Table("What an attack must have had to hide a better arm", tables.STEPS, steps),
    }


def intervals_as_text(certificate: Certificate) -> str:
    """What the intervals are."""
    looks = ", at every look" if certificate.design == "adaptive" or not certificate.binary else ""
    return f"each valid by itself with probability {1 - certificate.delta:g}{looks}"


def _closest(n_arms: int, most: int) -> str:
    return f". The winner and the {most - 1:,} closest of {n_arms:,} arms" if n_arms > most else ""


def _of_many(certificates: Certificates) -> dict[str, Any]:
    certified = [(each.budget, test, each) for test, each in certificates.items() if each.budget is not None]
    certified.sort(key=lambda row: -row[0])
    best = [(test, tables.budget_as_text(c, each), each.winner, f"{each.events:,}") for c, test, each in certified]
    others = [(test, f"{each.events:,}", str(each)) for test, each in certificates.items() if not each.certified]
    standing = tables.stands(certificates.values())
    return {
        "verdict": f"{len(certified):,} of {len(certificates):,} tests have a certified winner",
        "stands": page.Table("Winners that stand although C events may be fake", tables.STANDS, standing, (1,)),
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


def certificate_figure(certificate: Certificate, *, width: int = 560) -> Any:
    """The interval of each arm without an attack, largest mean on top; above it what the winner withstands.

    Of more than MOST_DRAWN arms the winner is shown and those that come closest. Names that are too long for the width,
    which is in pixels, are cut.
    """
    altair, rows, text = load_altair(), _rows(certificate), tables.means_as_text(certificate)
    ends = [f"{row['arm']} {text(row['low'])} to {text(row['high'])}, {row['note']}" for row in rows]
    alt = f"{certificate} Intervals: {'; '.join(ends)}"
    roles = ["winner", "rival"]
    colours = altair.Scale(domain=roles, range=[COLOURS[1], COLOURS[0]])
    colour = altair.Color("role:N", title=None, scale=colours, legend=None)
    shape = altair.Shape("role:N", scale=altair.Scale(domain=roles, range=["diamond", "circle"]), legend=None)
    places = altair.Y("arm:N", title=None, sort=[row["arm"] for row in rows], axis=None)
    base = altair.Chart(altair.Data(values=rows)).encode(y=places)
    is_rate = certificate.binary and certificate.reward_range == UNIT_RANGE
    ticks = altair.Axis(tickCount=5, **({"format": "~%"} if is_rate else {}))
    title = "rate of success" if is_rate else f"mean reward, {certificate.unit}".rstrip(", ")
    x = altair.X("low:Q", title=title, scale=altair.Scale(zero=False, padding=8), axis=ticks)
    line = base.mark_rule(strokeWidth=2, yOffset=8).encode(x=x, x2="high:Q", color=colour)
    point = base.mark_point(filled=True, size=90, opacity=1, yOffset=8).encode(x="mean:Q", color=colour, shape=shape)
    name = base.mark_text(align="left", dy=-8, fontSize=12, limit=width - 170).encode(x=altair.value(0), text="arm:N")
    note = base.mark_text(align="right", dy=-8, fontSize=12).encode(x=altair.value(width), text="note:N")
    subtitle = f"intervals without an attack, {intervals_as_text(certificate)}"
    if len(rows) <= len(certificate.rivals):
        subtitle = f"the winner and the {len(rows) - 1} closest of {1 + len(certificate.rivals):,} arms; {subtitle}"
    return altair.layer(line, point, name, note, description=alt).properties(
        width=width, height=altair.Step(44), title=altair.TitleParams(str(certificate), subtitle=subtitle)
    )


def _rows(certificate: Certificate) -> list[dict[str, Any]]:
    c = certificate
    rows: list[tuple[Any, ...]] = [(c.winner, "winner", c.winner_mean, c.winner_low, c.winner_high, "largest mean")]
    for rival in c.closest(MOST_DRAWN):
        note = (
            "not separated" if rival.budget is None else f"ruled out up to C = {tables.budget_as_text(rival.budget, c)}"
        )
        rows.append((rival.label, "rival", rival.mean, rival.low, rival.high, note))
    keys = ("arm", "role", "mean", "low", "high", "note")
    return [dict(zip(keys, row, strict=True)) for row in rows]
