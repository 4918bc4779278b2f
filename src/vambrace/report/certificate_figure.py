"""The figure of a certificate."""

from typing import TYPE_CHECKING, Any

from vambrace.audit.certificate import Certificate
from vambrace.audit.tables import budget_as_text, means_as_text
from vambrace.report.figures import COLOURS, load_altair

if TYPE_CHECKING:
    import altair

WIDTH = 560
MOST_ARMS = 40


def certificate_figure(certificate: Certificate, *, width: int = WIDTH) -> "altair.LayerChart":
    """The interval of each arm without an attack, largest mean on top; above it what the winner withstands.

    Of more than MOST_ARMS arms the winner is shown and those that come closest.

    Args:
        certificate: What `vb.certify` returned.
        width: Of the plot in pixels; long names are cut.
    """
    altair = load_altair()
    rows = _rows(certificate)
    text = means_as_text(certificate)
    alt = f"{certificate} Intervals: " + "; ".join(
        f"{row['arm']} {text(row['low'])} to {text(row['high'])}, {row['note']}" for row in rows
    )
    roles = ["winner", "rival"]
    colours = altair.Scale(domain=roles, range=[COLOURS[1], COLOURS[0]])
    colour = altair.Color("role:N", title=None, scale=colours, legend=None)
    shape = altair.Shape("role:N", scale=altair.Scale(domain=roles, range=["diamond", "circle"]), legend=None)
    places = altair.Y("arm:N", title=None, sort=[row["arm"] for row in rows], axis=None)
    base = altair.Chart(altair.Data(values=rows)).encode(y=places)
    ticks = altair.Axis(tickCount=5, **({"format": "~%"} if certificate.binary else {}))
    title = "rate of success" if certificate.binary else "mean reward"
    ends = altair.X("low:Q", title=title, scale=altair.Scale(zero=False, padding=8), axis=ticks)
    line = base.mark_rule(strokeWidth=2, yOffset=8).encode(x=ends, x2="high:Q", color=colour)
    point = base.mark_point(filled=True, size=90, opacity=1, yOffset=8).encode(x="mean:Q", color=colour, shape=shape)
    name = base.mark_text(align="left", dy=-8, fontSize=12, limit=width - 170).encode(x=altair.value(0), text="arm:N")
    note = base.mark_text(align="right", dy=-8, fontSize=12).encode(x=altair.value(width), text="note:N")
    subtitle = f"intervals without an attack, all valid together with probability {1 - certificate.delta:g}"
    if len(rows) <= len(certificate.rivals):
        subtitle = f"the winner and the {len(rows) - 1} closest of {1 + len(certificate.rivals):,} arms; {subtitle}"
    return altair.layer(line, point, name, note, description=alt).properties(
        width=width, height=altair.Step(44), title=altair.TitleParams(str(certificate), subtitle=subtitle)
    )


def _rows(certificate: Certificate) -> list[dict[str, Any]]:
    c = certificate
    rows: list[tuple[Any, ...]] = [(c.winner, "winner", c.winner_mean, c.winner_low, c.winner_high, "largest mean")]
    for rival in c.closest(MOST_ARMS):
        note = "not separated" if rival.budget is None else f"ruled out up to C = {budget_as_text(rival.budget)}"
        rows.append((rival.label, "rival", rival.mean, rival.low, rival.high, note))
    keys = ("arm", "role", "mean", "low", "high", "note")
    return [dict(zip(keys, row, strict=True)) for row in rows]
