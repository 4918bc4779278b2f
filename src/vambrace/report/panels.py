"""What a report shows of a panel: a figure with bands and bounds, and a table of finals."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from vambrace import theory
from vambrace.lab.experiment import Experiment, Panel
from vambrace.lab.study import Play, Study, several, share_of_best, worst
from vambrace.report import page
from vambrace.report.bands import bootstrap
from vambrace.report.figures import WIDE, lines_figure
from vambrace.specs import spec_of

MANY = 5  # budgets: from so many on a figure is drawn against them
WORST = "the worst of all arms and attacks"
Rows = Sequence[dict[str, Any]]  # the points of lines: facet, line, x, mean, low, high
LONG = 12  # rows: a longer table has to be opened


class Drawn(NamedTuple):
    """A figure with what stands below it."""

    name: str  # of its files
    chart: Any
    facets: int
    caption: str


def panels(experiment: Experiment) -> Sequence[Panel]:
    """The panels of an experiment; without any, it is one."""
    return experiment.panels or [Panel(name=experiment.name)]


def _kept(panel: Panel, plays: Sequence[Play]) -> list[Play]:
    """What a panel shows: all its games, or of those that differ only in arms and attack the worst."""
    if not panel.worst:
        return list(plays)
    return list(worst(plays, lambda play: (play.game.line, _budget(play), play.game.horizon)).values())


def _budget(play: Play) -> float:
    return play.game.budget if play.game.power is None else play.game.power


def finals(panel: Panel, plays: Sequence[Play]) -> str:
    """How each game ended, as a table; to be opened where it is long."""
    kept = _kept(panel, plays)
    places = several([play.game.place for play in kept])
    headings = [
        "policy",
        *(["arms"] if places else []),
        "attack",
        "C",
        "T",
        "regret",
        "95 %",
        "best arm",
        "spent",
        "bound",
    ]
    rows = [_final(play, places) for play in kept]
    figures = range(headings.index("C"), len(headings))
    found = page.table(f"Finals of {panel.title or panel.name}", headings, rows, figures)
    return found if len(rows) <= LONG else page.details(f"The {len(rows)} finals as a table", found)


def _final(play: Play, places: bool) -> list[str]:
    band, bound = bootstrap(play.result.pseudo_regret[:, -1:]), promise(play)
    return [
        spec_of(play.game.policy),
        *([play.game.place] if places else []),
        play.game.attack,
        f"{play.spendable:,.6g}",
        f"{play.game.horizon:,}",
        _number(play.regret),
        f"{_number(float(band.low[0]))} … {_number(float(band.high[0]))}",
        f"{share_of_best(play):.1%}",
        _number(float(play.result.cost[:, -1].mean())),
        _number(bound.value) if bound else "",
    ]


def promise(play: Play) -> theory.Bound | None:
    """The smallest bound with explicit constants that speaks of a game."""
    game = play.game
    found = theory.promises(game.policy, play.gaps, horizon=game.horizon, budget=play.spendable)
    return min((bound for bound in found if bound.explicit), key=lambda bound: bound.value, default=None)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 10 <= abs(value) < 1e7 else f"{value:.3g}"


def figures_of(study: Study, more: Mapping[str, Rows] | None = None) -> Iterator[tuple[str, Drawn]]:
    """The figures of an experiment by the names of their panels.

    Args:
        study: The finished experiment.
        more: Further lines, by the name of the figure that they are drawn in.
    """
    for panel in panels(study.experiment):
        plays = study.panel(panel.name)
        if plays:
            yield panel.name, _of_panel(study, panel, plays, (more or {}).get(f"{study.name}-{panel.name}", ()))


def _of_panel(study: Study, panel: Panel, plays: Sequence[Play], more: Rows) -> Drawn:
    axis = panel.axis or _axis(plays)
    kept = _kept(panel, plays)
    rows = [row for play in kept for row in _rows(axis, play, kept, panel.worst)] + [
        {"bound": None} | row for row in more
    ]
    title = panel.title or study.experiment.title or study.name
    copies = study.experiment.replications
    caption = "One game, so no band."
    if copies > 1:
        caption = f"Mean of {copies} replications and its 95 % band, by resampling them."
    caption += _fit_bounds(rows, axis)
    alt, logarithmic = _alt(title, axis, kept), _logarithmic(axis, kept)
    chart = lines_figure(rows, axis=axis, title=title, alt=alt, logarithmic=logarithmic)
    return Drawn(f"{study.name}-{panel.name}", chart, len({row["facet"] for row in rows}), caption)


def _logarithmic(axis: str, plays: Sequence[Play]) -> bool:
    """Whether heights need it: where what they are drawn against does, and they differ as much."""
    regrets = [play.regret for play in plays if play.regret > 0]
    budgets = [play.game.budget for play in plays if play.game.budget > 0]
    wide = axis == "horizon" or (axis == "budget" and max(budgets, default=1) > WIDE * min(budgets, default=1))
    return wide and max(regrets, default=1) > WIDE * min(regrets, default=1)


def _fit_bounds(rows: Sequence[dict[str, Any]], axis: str) -> str:
    """Leave out bounds that a figure on a plain scale has no room for; says what is dotted, and what is not drawn."""
    bounds = [row["bound"] for row in rows if row["bound"] is not None]
    if not bounds:
        return ""
    room = 1.5 * max(row["high"] for row in rows) if axis == "round" else inf
    for row in rows:
        if row["bound"] is not None and row["bound"] > room:
            row["bound"] = None
    if min(bounds) > room:
        return " What the theory promises lies above the figure; the table has it."
    return " Dotted, in the colour of its policy: what the theory promises" + (
        ", where the figure has room; the table has the rest." if max(bounds) > room else "."
    )


def _axis(plays: Sequence[Play]) -> str:
    """What a panel has most of: horizons, budgets, or else rounds."""
    if several([play.game.horizon for play in plays]):
        return "horizon"
    return "budget" if len({play.game.budget for play in plays}) >= MANY else "round"


def _rows(axis: str, play: Play, plays: Sequence[Play], worst_only: bool) -> Iterator[dict[str, Any]]:
    """The points of a game, in every facet that it belongs to."""
    band, bound, game = bootstrap(play.result.pseudo_regret), promise(play), play.game
    value = bound.value if bound is not None and bound.value < play.most else None
    points = range(len(play.result.checkpoints)) if axis == "round" else [-1]
    line = game.line if game.power is None else f"{game.line}, C = T^{game.power:g}"
    for facet in _facets(axis, play, plays, worst_only):
        for i in points:
            x = {"round": int(play.result.checkpoints[i]), "budget": game.budget, "horizon": game.horizon}[axis]
            heights = {"mean": band.mean[i], "low": band.low[i], "high": band.high[i]}
            yield {"facet": facet, "line": line, "x": x, "bound": value, "marked": axis != "round"} | {
                key: float(f"{height:.5g}") for key, height in heights.items()
            }


def _facets(axis: str, play: Play, plays: Sequence[Play], worst_only: bool) -> list[str]:
    """Where a game is shown: its arms, its attack and its budget, as far as they differ and are not drawn otherwise."""
    if worst_only:
        return [WORST]
    arms = [play.game.place] if several([each.game.place for each in plays]) else []
    attacks = list(dict.fromkeys(each.game.attack for each in plays if each.game.adversary is not None))
    budget = [] if axis == "budget" or play.game.power is not None else [f"C = {play.game.budget:,.6g}"]
    if play.game.adversary is not None:
        return [", ".join([*arms, play.game.attack, *budget])]
    if axis == "budget" and attacks:  # no attack is where every attack begins
        return [", ".join([*arms, attack]) for attack in attacks]
    return [", ".join([*arms, "no attack"])]


def _alt(title: str, axis: str, plays: Sequence[Play]) -> str:
    """The figure in words: what is drawn, and how each line ends."""
    ends = {play.game.line: play for play in plays}
    shown = "; ".join(
        f"{line} {_number(play.regret)} ({play.game.attack}, C = {play.game.budget:,.4g}, T = {play.game.horizon:,})"
        for line, play in ends.items()
    )
    return f"{title}. Regret against the {axis}. The last point of each line: {shown}."
