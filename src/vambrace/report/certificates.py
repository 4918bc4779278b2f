"""A certificate as figures, and as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import Any

from vambrace.audit import tables, words
from vambrace.audit.certificate import UNIT_RANGE, Certificate
from vambrace.data import File
from vambrace.report import page
from vambrace.report.figures import load_altair, svg
from vambrace.report.style import COLOURS

MOST_ARMS = 1000  # in a table of the page
MOST_DRAWN = 40  # in a figure
MOST_FILES = 100  # in a table
MOST_DOTS = 60  # on a line
WIDTHS = {"narrow": 320, "roomy": 700}  # of the figure on a page, on a phone and elsewhere
Certificates = Mapping[str, Certificate]  # by the names of their tests


def save(
    certificates: Certificates,
    path: Path,
    *,
    source: str,
    made_by: str,
    notes: Sequence[str] = (),
    files: Sequence[File] = (),
    command: str = "",
    many: bool = False,
) -> None:
    """Write the page of a certificate, which may have any name, or that of many tests, whole or not at all.

    `source` is what was certified, such as the name of a file, `notes` are sentences that the page must not hide, and
    `command` is the command line that gives the same again.
    """
    values = _contents(certificates, source, notes, files, many)
    values |= {"command": command, "footer": f"{made_by}, {values['made']}"}
    page.write(path, "certificates.html" if many else "certificate.html", **values)


def part(certificate: Certificate, *, source: str) -> str:
    """What the page of a certificate says, as HTML without a frame, for a page of others."""
    values = _contents({"": certificate}, source, certificate.notes, (), False)
    return page.rendered("certificate.html", layout="templates/part.html", **values)


def _contents(
    certificates: Certificates, source: str, notes: Sequence[str], files: Sequence[File], many: bool
) -> dict[str, Any]:
    one, made = next(iter(certificates.values())), f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    facts = {"made": made, "source": source, **_of_files(files)}
    facts |= {f"{use} column": column for use, column in one.columns.items()}
    facts |= {"threat": one.threat, "design": one.design, "delta": f"{one.delta:g}"}
    values = {"one": one, "many": many, "notes": notes, "command": "", "title": f"Certificate: {source}", "made": made}
    values |= {"parameters": page.Table("Source and parameters", (), [*facts.items()])}
    return values | (_of_many(certificates) if many else _of_one(one))


def _of_files(files: Sequence[File]) -> dict[str, str]:
    """The size and the fingerprint of each file, or of the first ones and how many follow."""
    if len(files) == 1:
        return {"size": f"{files[0].size:,} bytes", "SHA-256": files[0].sha256()}
    found = {each.name: f"{each.size:,} bytes, SHA-256 {each.sha256()}" for each in files[:MOST_FILES]}
    return found | ({"more files": f"{len(files) - MOST_FILES:,}"} if len(files) > MOST_FILES else {})


def _of_one(certificate: Certificate) -> dict[str, Any]:
    n_arms, valid = 1 + len(certificate.rivals), intervals_as_text(certificate)
    arms = f"Low and high are the ends of the intervals in the figure.{_closest(n_arms, MOST_ARMS)}"
    verdict, *more = certificate.sentences()
    moments = tables.moments(certificate, MOST_ARMS) if certificate.over_time else []
    return {
        "verdict": verdict,
        "sentences": more,
        "figures": _svgs(certificate_figure, certificate),
        "caption": f"{valid}{_closest(n_arms, MOST_DRAWN)}",
        "arms": page.Table(arms, tables.ARMS, tables.arms(certificate, MOST_ARMS), range(1, len(tables.ARMS))),
        "steps": page.Table(
            "What an attack must have had to hide a better arm", tables.STEPS, tables.steps(certificate)[:MOST_ARMS]
        ),
        "history": _svgs(moments_figure, certificate) if moments else {},
        "moments": page.Table("The winner at each time, and what it withstands", tables.MOMENTS, moments, (1,)),
    }


def intervals_as_text(certificate: Certificate) -> str:
    """What the intervals are."""
    looks = ", however often one looks" if certificate.design == "adaptive" or not certificate.binary else ""
    return (
        f"Each interval is for its arm alone, without fake events, with confidence {1 - certificate.delta:g}{looks}. "
        "The certificate compares pairs of arms, so it may hold where intervals overlap."
    )


def _closest(n_arms: int, most: int) -> str:
    return f" The winner and the {most - 1:,} closest of {n_arms:,} arms." if n_arms > most else ""


def _of_many(certificates: Certificates) -> dict[str, Any]:
    certified = tables.tests(certificates)
    others = [(test, f"{each.events:,}", str(each)) for test, each in certificates.items() if not each.certified]
    standing = tables.stands(certificates.values())
    return {
        "verdict": f"{len(certified):,} of {len(certificates):,} tests have a certified winner",
        "sentences": (),
        "stands": page.Table("Winners that stand although C events may be fake", tables.STANDS, standing, (1,)),
        "certified": page.Table("The firmest first", tables.TESTS, certified, (1, 2, 3)),
        "others": page.Table("In the order of the source", ("test", "events", "why"), others, (1,)),
    }


def _svgs(draw: Callable[..., Any], certificate: Certificate) -> dict[str, str]:
    """A figure as SVG for each width of a page, in the colours of the page's text."""
    ink = {f"{part}Color": "currentColor" for part in ("label", "title", "domain", "tick", "grid")}
    found = {}
    for name, width in WIDTHS.items():
        figure: Any = draw(certificate, width=width).properties(title="")  # which is the page's
        figure = figure.configure(background="transparent").configure_axis(**ink, gridOpacity=0.15, labelFontSize=12)
        figure = figure.configure_text(color="currentColor").configure_view(stroke=None)
        figure = figure.configure_legend(labelColor="currentColor", titleColor="currentColor", labelFontSize=12)
        found[name] = svg(figure)
    return found


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
    subtitle = [*wrap(f"{intervals_as_text(certificate)}{_closest(1 + len(certificate.rivals), MOST_DRAWN)}", 90)]
    return altair.layer(line, point, name, note, description=alt).properties(
        width=width, height=altair.Step(44), title=altair.TitleParams(str(certificate), subtitle=subtitle)
    )


def _rows(certificate: Certificate) -> list[dict[str, Any]]:
    c = certificate
    rows: list[tuple[Any, ...]] = [(c.winner, "winner", c.winner_mean, c.winner_low, c.winner_high, "largest mean")]
    for rival in c.closest(MOST_DRAWN):
        budget = None if rival.budget is None else tables.budget_as_text(rival.budget, c)
        note = tables.UNCERTAIN if budget is None else f"beaten up to C = {budget}"
        rows.append((rival.label, "rival", rival.mean, rival.low, rival.high, note))
    keys = ("arm", "role", "mean", "low", "high", "note")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def moments_figure(certificate: Certificate, *, width: int = 560) -> Any:
    """What the winner of each time withstood as the log grew, as steps; times without a certified winner are ticks."""
    altair, c = load_altair(), certificate
    moments = [_moment(each.time) for each in c.over_time]
    is_date = any(isinstance(each, datetime) for each in moments)
    places = [1000 * each.timestamp() if isinstance(each, datetime) else each for each in moments]
    rows: list[dict[str, Any]] = [
        {"at": at, "C": each.budget, "winner": each.winner, "time": each.time}
        for at, each in zip(places, c.over_time, strict=True)
    ]
    certified = [row for row in rows if row["C"] is not None]
    winners = list(dict.fromkeys([c.winner, *(row["winner"] for row in certified)]))[: len(COLOURS)]
    unit = c.unit or "in the units of the rewards"
    what = f"stands up to C ({'events' if c.whole else unit})"
    scale = {"scale": altair.Scale(type="utc")} if is_date else {"scale": altair.Scale(zero=False)}
    dates = {"format": "%-d %b" if len(c.over_time[0].time) == len("2026-01-31") else "%-d %b %H:00"} if is_date else {}
    ticks = altair.Axis(tickCount=3 if width < 500 else 7, grid=False, labelOverlap=True, **dates)
    x = altair.X("at:T" if is_date else "at:Q", title=c.columns.get("time", "time"), axis=ticks, **scale)
    y = altair.Y("C:Q", title=what, axis=altair.Axis(tickCount=5), scale=altair.Scale(domainMin=0))
    legend = altair.Legend(orient="top", labelLimit=width - 60, columns=1) if len(winners) > 1 else None
    colour = altair.Color("winner:N", title=None, scale=altair.Scale(domain=winners, range=COLOURS[1:]), legend=legend)
    base = altair.Chart(altair.Data(values=rows)).encode(x=x)
    line = base.mark_line(interpolate="step-after", strokeWidth=2, color=COLOURS[1]).encode(y=y)
    size = 40 if len(rows) <= MOST_DOTS else 8
    dots = base.transform_filter("datum.C !== null").mark_point(filled=True, size=size, opacity=1)
    open_ = base.transform_filter("datum.C === null").mark_tick(
        size=9, thickness=2, yOffset=-6, orient="vertical", color="currentColor"
    )
    figure = altair.layer(line, dots.encode(y=y, color=colour), open_.encode(y=altair.value(220)))
    first = f"from {c.over_time[0].time} to {c.over_time[-1].time}"
    best = max(certified, key=lambda row: row["C"], default=None)
    highest = f"It was largest at {best['time']}: {tables.budget_as_text(best['C'], c)}." if best else "It had none."
    alt = f"C as the log grew, {first}. {words.over_time(c)} {highest}"
    title = altair.TitleParams("What the winner withstood as the log grew", subtitle=words.over_time(c))
    return figure.properties(width=width - 60, height=220, title=title, description=alt)


def _moment(time: str) -> datetime | float:
    """A time of a log, which is a number or a date."""
    try:
        return float(time)
    except ValueError:
        return datetime.fromisoformat(time).replace(tzinfo=UTC)
