"""How the games of a panel become lines: what is on the axis, what each line is, and in which facet it is drawn.

A line joins only games that differ in what is on the axis. Policies have lines of their own, and so have budgets that
are powers of the horizon. Whatever else differs, arms, attacks, budgets or horizons, is a facet: a small figure of its
own. ``worst = true`` takes the worst over arms and attacks at each point, never over budgets or horizons.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from vambrace.lab.arithmetic import mentions
from vambrace.lab.experiment import Axis, Experiment, Game, Panel

MANY = 5  # budgets: a figure of at least this number is drawn against them
WORST = "the worst of all arms and attacks"
NO_ATTACK = "no attack"
DIGITS = (6, 9, 12, 17)  # of a number in a label: as few as keep different numbers apart

Write = Callable[[float, int], str]  # a number with these digits


class Spot(NamedTuple):
    """Where a game is drawn."""

    facet: str
    line: str


def panels(experiment: Experiment) -> Sequence[Panel]:
    """The panels of an experiment; without any, it is one."""
    return experiment.panels or [Panel(name=experiment.name)]


def axis_of(panel: Panel, games: Iterable[Game]) -> Axis:
    """The axis that a panel says, or what it has most of: several horizons, at least MANY budgets, or rounds."""
    if panel.axis is not None:
        return panel.axis
    horizons, budgets = zip(*((game.horizon, game.budget) for game in games), strict=True)
    return "horizon" if len({*horizons}) > 1 else "budget" if len({*budgets}) >= MANY else "round"


def spots(panel: Panel, games: Sequence[Game], environments: Mapping[str, str], write: Write) -> list[list[Spot]]:
    """For each game the lines that it belongs to, one in each facet.

    It is one line, except for a game without attack in a figure against budgets: every attack begins there.

    Args:
        panel: The panel.
        games: All its games.
        environments: The arms of the experiment, as its file has them.
        write: How numbers are written in labels.
    """
    axis = axis_of(panel, games)
    arms = [written_arms(game, environments) for game in games]
    horizons = _texts([game.horizon for game in games], write)
    budgets = _texts([game.budget for game in games], write)
    powers = _texts([game.power or 0.0 for game in games], lambda power, digits: f"{power:.{digits}g}")
    attacks = [*dict.fromkeys(game.attack for game in games if game.budget > 0)]
    unattacked = {game.budget for game in games if game.adversary is None}
    found = []
    for game, place in zip(games, arms, strict=True):
        length = [f"T = {horizons[game.horizon]}"] if axis != "horizon" and len(horizons) > 1 else []
        size = f"C = {budgets[game.budget]}"
        if panel.worst:
            several = axis != "budget" and game.power is None and len(budgets) > 1
            facets = [[WORST, *([size] if several else [])]]
        else:
            where = [place] if len({*arms}) > 1 else []
            if axis == "budget":
                facets = [[*where, each] for each in (attacks if game.budget == 0 else [])] or [[*where, game.attack]]
            else:
                shown = game.power is None and (game.adversary is not None or len(unattacked) > 1)
                facets = [[*where, game.attack, *([size] if shown else [])]]
        line = game.line if game.power is None or axis == "budget" else f"{game.line}, C = T^{powers[game.power]}"
        found.append([Spot(", ".join([*facet, *length]), line) for facet in facets])
    return found


def written_arms(game: Game, environments: Mapping[str, str]) -> str:
    """The name of the arms in the file; where they depend on the budget, a game has it with the budget behind it."""
    name = game.place.removesuffix(f"-at-{game.budget:.15g}")
    return name if mentions(environments.get(name, ""), "budget") else game.place


def _texts(values: Iterable[float], write: Write) -> dict[float, str]:
    """Each number as a text, different ones as different texts."""
    numbers = sorted({*values})
    tried = ([write(number, digits) for number in numbers] for digits in DIGITS)
    texts = next((each for each in tried if len({*each}) == len(numbers)), [repr(number) for number in numbers])
    return dict(zip(numbers, texts, strict=True))
