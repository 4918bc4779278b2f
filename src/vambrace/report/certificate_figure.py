"""The figure of a certificate."""

from typing import TYPE_CHECKING, Any

from vambrace.audit.certificate import Certificate
from vambrace.report.figures import COLOURS, load_altair

if TYPE_CHECKING:
    import altair

WIDTH = 420
MOST_ARMS = 40


def certificate_figure(certificate: Certificate) -> "altair.LayerChart":
    """The interval of each arm without an attack, largest mean on top, and beside it what the winner withstands.

    Of more than MOST_ARMS arms the winner is shown and those that come closest.
    """
    altair = load_altair()
    rows = _rows(certificate)
    order = [row["arm"] for row in rows]
    alt = f"{certificate} Intervals: " + "; ".join(
        f"{row['arm']} {row['low']:.4g} to {row['high']:.4g}, {row['note']}" for row in rows
    )
    roles = ["winner", "rival"]
    legend = altair.Legend(orient="bottom")
    colours = altair.Scale(domain=roles, range=[COLOURS[1], COLOURS[0]])
    colour = altair.Color("role:N", title=None, scale=colours, legend=legend)
    shapes = altair.Scale(domain=roles, range=["diamond", "circle"])
    shape = altair.Shape("role:N", title=None, scale=shapes, legend=legend)
    axis = altair.Axis(labelLimit=160)
    base = altair.Chart(altair.Data(values=rows)).encode(y=altair.Y("arm:N", title=None, sort=order, axis=axis))
    scale, ticks = altair.Scale(zero=False), altair.Axis(tickCount=6)
    line = base.mark_rule(strokeWidth=2).encode(
        x=altair.X("low:Q", title="mean reward", scale=scale, axis=ticks), x2="high:Q", color=colour
    )
    point = base.mark_point(filled=True, size=90, opacity=1).encode(x="mean:Q", color=colour, shape=shape)
    note = base.mark_text(align="left").encode(x=altair.value(WIDTH + 10), text="note:N")
    subtitle = f"intervals without an attack, all valid together with probability {1 - certificate.delta:g}"
    if len(rows) <= len(certificate.rivals):
        subtitle = f"the winner and the {len(rows) - 1} closest of {1 + len(certificate.rivals):,} arms; {subtitle}"
    return altair.layer(line, point, note, description=alt).properties(
        width=WIDTH, height=altair.Step(28), title=altair.TitleParams(str(certificate), subtitle=subtitle)
    )


def _rows(certificate: Certificate) -> list[dict[str, Any]]:
    rows = [
        {
            "arm": rival.label,
            "role": "rival",
            "mean": rival.mean,
            "low": rival.low,
            "high": rival.high,
            "note": "not separated" if rival.budget is None else f"ruled out up to {rival.budget:,.10g}",
        }
        for rival in certificate.closest(MOST_ARMS)
    ]
    winner = {"arm": certificate.winner, "role": "winner", "mean": certificate.winner_mean, "note": "largest mean"}
    return [{**winner, "low": certificate.winner_low, "high": certificate.winner_high}, *rows]
