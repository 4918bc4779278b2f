"""No line joins points of different games: a property of every panel that a file can describe."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper import fabricated
from vambrace.lab import experiment as spec
from vambrace.lab.experiment import Panel
from vambrace.lab.panels import axis_of
from vambrace.lab.study import Play
from vambrace.parameters import spec_of
from vambrace.report import panels
from vambrace.report.panels import Point

ENVIRONMENTS = {
    "two": "bernoulli:means=0.9/0.5",
    "by-budget": "bernoulli:means=0.9/{0.1 + 0.1 / (1 + budget)}",
    "by-horizon": "bernoulli:means=0.9/{0.1 + 0.1 / horizon}",
}
HORIZONS = [10, 400, 1_000_000, 1_000_001]
BUDGETS = [0.0, 1.0, 5.0, 1_000_000.1, 1_000_000.2]  # the last two look the same, with few digits
POWERS = [0.0, 0.25, 0.3333333, 0.33333333, 0.5]
POLICIES = ["ucb1", "se-wr:budget={budget}", "se-wr:budget={2 * budget}"]
ATTACKS = ["conceal", "none", "conceal:budget={2 * budget}"]


def some(values: list[Any], least: int = 1) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), min_size=least, max_size=3, unique=True)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Experiments of one panel: everything that a panel may vary varies, with every axis."""
    names = draw(some([*ENVIRONMENTS]))
    powers = draw(st.booleans())
    sizes = {"budget_powers": draw(some(POWERS))} if powers else {"budgets": draw(some(BUDGETS))}
    axis = draw(st.sampled_from([None, "round", "budget", "horizon"]))
    panel = {"name": "panel", "worst": draw(st.booleans()), **sizes, **({"axis": axis} if axis else {})}
    return {
        "name": "any",
        "replications": 2,
        "horizons": draw(some(HORIZONS)),
        "policies": draw(some(POLICIES)),
        "adversaries": draw(some(ATTACKS)),
        "environments": {name: ENVIRONMENTS[name] for name in names},
        "panels": [panel],
    }


def played(document: dict[str, Any], gaps: int) -> tuple[spec.Experiment, list[Play]]:
    """The games of an experiment with random regrets; some are missing, as in a run that goes on."""
    experiment = spec.parse(document)
    rng = np.random.default_rng(gaps)
    plays = [
        fabricated.fabricated(experiment, game, seed, lambda _: float(rng.integers(1, 50)))
        for seed, game in enumerate(experiment.games)
    ]
    kept = [play for play in plays if gaps % 2 == 0 or rng.random() < 0.7]
    return experiment, kept or plays[:1]


def what_is_not_on_the_axis(play: Play, axis: str, panel: Panel) -> tuple[object, ...]:
    """What all points of a line must have in common; a game without attack is where the lines of all attacks begin."""
    game = play.game
    size = game.budget if game.power is None else game.power
    arms = game.place.partition("-at-")[0]
    shared: list[object] = [game.line]
    shared += [] if axis == "budget" else [size]
    shared += [] if axis == "horizon" else [game.horizon]
    if not panel.worst:
        shared += [arms, None if axis == "budget" and game.budget == 0 else game.attack]
    return tuple(shared)


def lines_of(points: list[Point]) -> dict[tuple[str, str], list[Point]]:
    found = defaultdict(list)
    for point in points:
        found[point.facet, point.line].append(point)
    return found


@settings(max_examples=150, deadline=None)
@given(document=documents(), gaps=st.integers(0, 9))
def test_a_line_joins_only_games_that_differ_in_the_axis_alone(document: dict[str, Any], gaps: int) -> None:
    experiment, plays = played(document, gaps)
    (panel,) = experiment.panels
    axis = axis_of(panel, [play.game for play in plays])
    points = panels.points(panel, plays, experiment.environments)
    for line in lines_of(points).values():
        assert len({point.x for point in line}) == len(line)  # no zigzag
        keys = [what_is_not_on_the_axis(point.play, axis, panel) for point in line]
        attacked = {key for key in keys if None not in key}
        assert len(attacked) <= 1
        assert len({key[:-1] if not panel.worst else key for key in keys}) == 1
    for point in points:  # each is of the game that it names, at the round that it says
        rounds = int(point.play.result.checkpoints[point.at])
        game = point.play.game
        assert point.x == {"round": rounds, "budget": game.budget, "horizon": game.horizon}[axis]
        assert axis == "round" or rounds == game.horizon
    if not panel.worst:  # and no game is left out
        assert {names(point.play) for point in points} == {names(play) for play in plays}


def names(play: Play) -> tuple[object, ...]:
    """Two powers of a horizon may be the same budget: then two games are one."""
    return play.game.place, play.game.line, play.game.attack, play.game.budget, play.game.horizon


@settings(max_examples=60, deadline=None)
@given(document=documents(), gaps=st.integers(0, 9))
def test_the_worst_is_over_arms_and_attacks_at_each_point_and_never_over_budgets(
    document: dict[str, Any], gaps: int
) -> None:
    document["panels"][0]["worst"] = True
    experiment, plays = played(document, gaps)
    (panel,) = experiment.panels
    axis = axis_of(panel, [play.game for play in plays])
    for point in panels.points(panel, plays, experiment.environments):
        game = point.play.game
        rivals = [
            play.result.pseudo_regret[:, point.at].mean()
            for play in plays
            if play.game.line == game.line and play.game.budget == game.budget and play.game.horizon == game.horizon
        ]
        assert point.play.result.pseudo_regret[:, point.at].mean() == max(rivals), axis


def test_every_point_of_the_data_names_its_game() -> None:
    study = fabricated.study("lower-bound", fabricated.plausible)
    ((_, drawn),) = panels.figures_of(study)
    rows = {
        (play.game.place, spec_of(play.game.policy), play.spendable, play.game.horizon, play.result.seed): play
        for play in study.plays
    }
    data = drawn.data.to_dicts()
    assert len(data) == len(drawn.chart.to_dict()["data"]["values"]) == 5 * 6
    for row in data:
        play = rows[row["environment"], row["policy"], row["budget"], row["horizon"], row["seed"]]
        assert row["mean"] == pytest.approx(play.regret, rel=1e-4)
        assert (row["attack"], row["games"]) == (
            None if play.spendable == 0 else f"conceal:budget={play.spendable:g}",
            20,
        )
    tips = {row["game"] for row in drawn.chart.to_dict()["data"]["values"]}
    assert any("first-pays" in each or "eighth-pays" in each for each in tips)


def test_the_two_figures_that_used_to_mix_games_have_facets() -> None:
    """`worst` with several budgets along horizons, and budgets or rounds with several horizons."""
    base = {
        "name": "any",
        "horizons": [10, 400],
        "policies": ["ucb1"],
        "adversaries": ["conceal", "random-flips"],
        "environments": {"two": ENVIRONMENTS["two"]},
    }
    expected = {
        "horizon": ["the worst of all arms and attacks, C = 1", "the worst of all arms and attacks, C = 5"],
        "budget": ["the worst of all arms and attacks, T = 10", "the worst of all arms and attacks, T = 400"],
    }
    for axis, facets in expected.items():
        panel = {"name": "panel", "worst": True, "axis": axis, "budgets": [1, 5]}
        experiment, plays = played(base | {"panels": [panel]}, 0)
        points = panels.points(experiment.panels[0], plays, experiment.environments)
        assert [*dict.fromkeys(point.facet for point in points)] == facets
    panel = {"name": "panel", "axis": "round", "budgets": [0, 1], "adversaries": ["conceal"]}
    experiment, plays = played(base | {"panels": [panel]}, 0)
    points = panels.points(experiment.panels[0], plays, experiment.environments)
    assert [*dict.fromkeys(point.facet for point in points)] == [
        "no attack, T = 10",
        "conceal, C = 1, T = 10",
        "no attack, T = 400",
        "conceal, C = 1, T = 400",
    ]
