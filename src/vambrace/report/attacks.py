"""What the red team found as one page that loads nothing from elsewhere: for a phone, a desk, light and dark."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from vambrace.parameters import spec_of
from vambrace.redteam.breakdown import Breakdown
from vambrace.redteam.race import standard_error
from vambrace.redteam.shuffling import has_order
from vambrace.redteam.team import WIDE, RedTeam
from vambrace.report import page
from vambrace.report.figures import load_altair
from vambrace.report.style import COLOURS

WIDTH, HEIGHT = 620, 300
CAPTION = "Mean regret in fresh games, with an interval of 95 %"


class Figure(NamedTuple):
    """A figure of a page."""

    chart: Any
    caption: str
    facets: int = 1
    entries: Sequence[Any] = ()  # of a legend
    name: str = "attack"


class Point(NamedTuple):
    """The regret at one budget, and how far it may be off."""

    budget: float
    regret: float
    error: float


def save(report: RedTeam, path: Path, *, made_by: str) -> None:
    """Write the page of a search, whole or not at all.

    Args:
        report: What `vb.red_team` returned.
        path: The file.
        made_by: The program and its version.
    """
    points = [Point(each.budget, each.regret, standard_error(each.played.regrets)) for each in report.worst.values()]
    recipes = [[f"{each.budget:,g}", each.words, each.spec] for each in report.worst.values()]
    worst = report.worst[max(report.worst)]
    _write(report, path, f"{report.answer(worst)}.", points, None, recipes, made_by)


def save_breakdown(found: Breakdown, path: Path, *, made_by: str) -> None:
    """Write the page of a break-down point, whole or not at all.

    Args:
        found: What `vb.breakdown` returned.
        path: The file.
        made_by: The program and its version.
    """
    share = found.everything
    rows = zip(found.budgets, found.regrets, found.errors, strict=True)
    points = [
        Point(budget, regret, error * share if found.goal.measure == "loss" else 0.0) for budget, regret, error in rows
    ]
    recipes = [] if found.attack is None else [[f"{found.budget:,g}", found.words, spec_of(found.attack)]]
    span = None if found.attack is None else (found.low, found.budget, found.high)
    answer = str(found).partition(";")[0]
    _write(found, path, f"{answer[0].upper()}{answer[1:]}.", points, span, recipes, made_by)


def _write(
    report: Any,
    path: Path,
    answer: str,
    points: Sequence[Point],
    span: tuple[float, float, float] | None,
    recipes: list[list[str]],
    made_by: str,
) -> None:
    means = ", ".join(f"{each:.4g}" for each in report.environment.arm_means()[:50])
    facts = {"policy": spec_of(report.policy), "means of the arms": means, "rounds of a game": f"{report.horizon:,}"}
    facts |= {"arms": report.environment.note} if report.environment.note else {}
    facts |= {"answers": report.conditions} if report.conditions else {}
    facts |= {"goal of the attacker": report.goal.words, "games played": f"{report.games:,}"}
    facts |= {"games behind each figure": f"{len(report.clean.scores):,}"}
    text = range(1, len(report.TABLE) - ("attack" in report.TABLE))
    page.write(
        path,
        "attack.html",
        title=f"Attack on {spec_of(report.policy)}",
        answer=answer,
        scale=page.Table("What that means", report.SCALE, report.scale(), (1, 2)),
        figure=Figure(attack_figure(report, points, span), _caption(span)) if points else None,
        recipes=page.Table("The attack, in words and to be replayed", ("budget", "words", "spec"), recipes),
        table=page.Table(CAPTION, report.TABLE, report.table(), text),
        facts=page.Table("Arms and parameters", (), [*facts.items()]),
        shuffled=has_order(report.environment),
        footer=made_by,
    )


def _caption(span: tuple[float, float, float] | None) -> str:
    return f"{CAPTION}. " + ("The vertical line is the break-down point, the band its interval." if span else "")


def attack_figure(report: Any, points: Sequence[Point], span: tuple[float, float, float] | None) -> Any:
    """Regret against budget; without attack, random play and everything lost as lines; the break-down point, if any.

    Args:
        report: What was found.
        points: The regret at each budget.
        span: The break-down point between the ends of its interval; None: none.
    """
    altair = load_altair()
    rows = [{"budget": each.budget, "regret": each.regret} for each in points]
    for row, each in zip(rows, points, strict=True):
        row |= {"low": max(0.0, each.regret - WIDE * each.error), "high": each.regret + WIDE * each.error}
    marks = {"no attack": report.clean.regret, "random play": report.random, "everything lost": report.everything}
    scale = altair.Scale(type="log", nice=False, padding=10)
    x = altair.X(
        "budget:Q", title="budget of the attacker (fake events)", scale=scale, axis=altair.Axis(format=",.4~r")
    )
    y = altair.Y("regret:Q", title="regret", axis=altair.Axis(format=",d"))
    base = altair.Chart(altair.Data(values=rows)).encode(x=x)
    lines = altair.Chart(altair.Data(values=[{"name": name, "regret": regret} for name, regret in marks.items()]))
    layers = [
        lines.mark_rule(strokeDash=[4, 3], opacity=0.6).encode(y=y),
        lines.mark_text(align="left", dx=4, dy=-6).encode(y=y, x=altair.value(0), text="name:N"),
        base.mark_line(color=COLOURS[0], strokeWidth=2).encode(y=y),
        base.mark_rule(color=COLOURS[0]).encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, size=50, opacity=1, color=COLOURS[0]).encode(
            y=y, tooltip=["budget:Q", "regret:Q"]
        ),
    ]
    if span is not None:
        low, middle, high = (points[-1].budget if each == inf else max(each, points[0].budget) for each in span)
        band = altair.Chart(altair.Data(values=[{"budget": middle, "from": low, "to": high}]))
        layers.insert(
            0, band.mark_rect(color=COLOURS[1], opacity=0.2).encode(x=altair.X("from:Q", scale=scale), x2="to:Q")
        )
        layers.append(band.mark_rule(color=COLOURS[1], strokeWidth=2).encode(x=x))
    return altair.layer(*layers).properties(width=WIDTH, height=HEIGHT)
