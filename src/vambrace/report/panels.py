"""What a report shows of a panel: a figure with bands and bounds, and a table of how its games ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from vambrace import theory
from vambrace.lab.experiment import Experiment, Panel
from vambrace.lab.study import Play, Study, share_of_best, worst
from vambrace.parameters import spec_of
from vambrace.protocols import Floats
from vambrace.report.figures import Rows, is_logarithmic, lines_figure, number
from vambrace.report.page import Table

RESAMPLES = 1000  # for a band
MANY = 5  # budgets: a figure of at least this number is drawn against them
WORST = "the worst of all arms and attacks"
LEGEND = {  # what the headings of a table mean
    "95 %": "Regret: the mean; 95 %: the interval of that mean",
    "best arm": "Best arm: how often it was pulled",
    "bound": "Bound: what the theory promises",
}


class Band(NamedTuple):
    """A mean with its interval of 95 %, at every checkpoint."""

    mean: Floats
    low: Floats
    high: Floats


def bootstrap(values: Floats) -> Band:
    """The band of the mean of replications (rows) at each checkpoint (columns); with one replication it has no width.

    Whole replications are drawn with replacement, so that a band is one of curves. The draws are fixed by the number of
    replications, so that the same results always give the same picture.
    """
    values = np.asarray(values, dtype=np.float64)
    copies = len(values)
    chosen = np.random.default_rng(2026).multinomial(copies, np.full(copies, 1 / copies), size=RESAMPLES)
    low, high = np.quantile(chosen @ values / copies, [0.025, 0.975], axis=0)
    return Band(values.mean(axis=0), low, high)


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
    return list(worst(plays, lambda play: (play.game.line, play.game.budget, play.game.horizon)).values())


def finals(panel: Panel, plays: Sequence[Play]) -> Table:
    """How each game ended, the most important columns first; what all rows share stands in the caption only."""
    kept = _kept(panel, plays)
    rows = [_final(play) for play in kept]
    one_for_all = {key for key in ("attack", "C", "T", "arms") if len({row[key] for row in rows}) == 1}
    shared = [f"{key} = {rows[0][key]}" for key in ("C", "T") if key in one_for_all]
    shared += [rows[0]["attack"]] if "attack" in one_for_all and rows[0]["C"] != "0" else []
    headings = [key for key in rows[0] if key not in one_for_all and any(row[key] for row in rows)]
    legend = [text for key, text in LEGEND.items() if key in headings]
    caption = ". ".join([panel.title or panel.name, *([", ".join(shared)] if shared else []), *legend])
    numbers = [k for k, key in enumerate(headings) if key not in ("policy", "attack", "arms")]
    return Table(f"{caption}.", headings, [[row[key] for key in headings] for row in rows], numbers)


def _final(play: Play) -> dict[str, str]:
    values, bound = play.result.pseudo_regret[:, -1:], promise(play)
    band = bootstrap(values)
    return {
        "policy": spec_of(play.game.policy),
        "attack": play.game.attack,
        "C": number(play.spendable, 6),
        "regret": number(play.regret),
        "95 %": f"{number(float(band.low[0]))} … {number(float(band.high[0]))}" if len(values) > 1 else "",
        "best arm": f"{100 * share_of_best(play):.1f} %",
        "T": number(play.game.horizon, 6),
        "spent": number(float(play.result.cost[:, -1].mean())),
        "bound": number(bound.value) if bound else "",
        "arms": play.game.place,
    }


def promise(play: Play) -> theory.Bound | None:
    """The smallest bound with explicit constants that speaks of a game."""
    game = play.game
    found = theory.promises(game.policy, play.gaps, horizon=game.horizon, budget=play.spendable)
    return min((bound for bound in found if bound.explicit), key=lambda bound: bound.value, default=None)


def figures_of(study: Study, more: Mapping[str, Rows] | None = None) -> Iterator[tuple[str, Drawn]]:
    """The figures of an experiment by the names of their panels, with `more` lines by the names of their figures."""
    for panel in panels(study.experiment):
        plays = study.panel(panel.name)
        if plays:
            yield panel.name, _of_panel(study, panel, plays, (more or {}).get(f"{study.name}-{panel.name}", ()))


def _of_panel(study: Study, panel: Panel, plays: Sequence[Play], more: Rows) -> Drawn:
    horizons, budgets = {play.game.horizon for play in plays}, {play.game.budget for play in plays}
    most = "horizon" if len(horizons) > 1 else "budget" if len(budgets) >= MANY else "round"
    axis = panel.axis or most
    kept = _kept(panel, plays)
    rows = [row for play in kept for row in _rows(axis, play, kept, panel.worst)]
    room = 1.5 * max(row["high"] for row in rows) if axis == "round" and not is_logarithmic(rows, axis) else inf
    games = study.experiment.replications
    caption = [f"Mean of {games:,} games; band: the 95 % interval of that mean." if games > 1 else "One game, no band."]
    caption += _fit_bounds(rows, room)
    title = panel.title or study.experiment.title or study.name
    every = [*rows, *({"facet": rows[0]["facet"]} | dict(row) for row in more)]
    chart = lines_figure(every, axis=axis, title=title, subtitle=caption, alt=_alt(title, axis, kept))
    return Drawn(f"{study.name}-{panel.name}", chart, len({row["facet"] for row in rows}), " ".join(caption))


def _fit_bounds(rows: Sequence[dict[str, Any]], room: float) -> list[str]:
    """Leave out bounds that a figure has no room for; the sentences that say what is dotted, and what is not drawn."""
    bounds = [row["bound"] for row in rows if row["bound"] is not None]
    if not bounds:
        return []
    for row in rows:
        if row["bound"] is not None and row["bound"] > room:
            row["bound"] = None
    if min(bounds) > room:
        return ["What the theory promises lies above the figure; the table has it."]
    rest = ", where the figure has room; the table has the rest" if max(bounds) > room else ""
    return [f"Dotted, in the colour of its policy: what the theory promises{rest}."]


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
            rounded = {key: float(f"{height:.5g}") for key, height in heights.items()}
            yield {"facet": facet, "line": line, "x": x, "bound": value} | rounded


def _facets(axis: str, play: Play, plays: Sequence[Play], worst_only: bool) -> list[str]:
    """Where a game is shown: its arms, its attack and its budget, as far as they differ and are not drawn otherwise."""
    if worst_only:
        return [WORST]
    arms = [play.game.place] if len({each.game.place for each in plays}) > 1 else []
    attacks = list(dict.fromkeys(each.game.attack for each in plays if each.game.adversary is not None))
    budget = [] if axis == "budget" or play.game.power is not None else [f"C = {number(play.game.budget, 6)}"]
    if play.game.adversary is not None:
        return [", ".join([*arms, play.game.attack, *budget])]
    if axis == "budget" and attacks:  # no attack is where every attack begins
        return [", ".join([*arms, attack]) for attack in attacks]
    return [", ".join([*arms, "no attack"])]


def _alt(title: str, axis: str, plays: Iterable[Play]) -> str:
    """The figure in words: what is drawn, and how each line ends."""
    ends = [
        f"{line} {number(play.regret)} "
        f"({play.game.attack}, C = {number(play.game.budget, 6)}, T = {number(play.game.horizon, 6)})"
        for line, play in {play.game.line: play for play in plays}.items()
    ]
    return f"{title}. Regret against the {axis}. The last point of each line: {'; '.join(ends)}."
