"""A finished experiment, read back: every game of every panel with its result."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vambrace.comparison import Entry, Where
from vambrace.engine.result import Result
from vambrace.errors import StoreError
from vambrace.lab.cells import NAMES
from vambrace.lab.experiment import Experiment, Game, validated
from vambrace.lab.store import HEAD, Status, Store
from vambrace.parameters import spec_of
from vambrace.protocols import Floats


class Play(NamedTuple):
    """A game of a panel, and its result."""

    game: Game
    result: Result

    @property
    def final(self) -> Floats:
        """The regret of each replication at the horizon."""
        return self.result.pseudo_regret[:, -1]

    @property
    def regret(self) -> float:
        """The mean regret at the horizon."""
        return float(self.final.mean())

    @property
    def gaps(self) -> list[float]:
        """The gaps of the other arms; 0 for an arm as good as the best."""
        means = self.game.environment.arm_means()
        return sorted(float(gap) for gap in means.max() - means)[1:]

    @property
    def most(self) -> float:
        """The largest regret that is possible: the worst arm in every round."""
        return max(self.gaps, default=0.0) * self.game.horizon

    @property
    def spendable(self) -> float:
        """What the attack could spend."""
        return self.game.adversary.budget if self.game.adversary is not None else 0.0


@dataclass(frozen=True, kw_only=True)
class Study:
    """An experiment and its finished games: what `vambrace.lab.load` returns.

    Attributes:
        experiment: The experiment.
        status: Which cells are done, missing, failed or damaged.
        head: The content of experiment.json: cells, versions, seconds.
        plays: Every finished game of every panel, in the order of the file.
    """

    experiment: Experiment
    status: Status
    head: dict[str, Any]
    plays: tuple[Play, ...]

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.experiment.name

    def panel(self, name: str) -> list[Play]:
        """The finished games of a panel, in the order of the file.

        Args:
            name: The name of the panel; an experiment without panels is one panel with the experiment's name.
        """
        return [play for play in self.plays if play.game.panel == name]

    def entries(self) -> list[Entry]:
        """Each policy, as the file has it, in each game: for `vb.compare`.

        What several panels show appears once, and so does a game that the file describes twice, such as the one without
        attack for several budgets: no game is counted twice.
        """
        games = dict[Where, dict[str, Result]]()
        for game, result in self.plays:
            attack = game.attack if game.adversary is not None else None
            where = Where(game.place, attack, game.budget, game.horizon, ", ".join(result.conditions()))
            games.setdefault(where, {})[game.line] = result
        once = dict[frozenset[tuple[str, int]], Where]()
        for where, played in games.items():
            once.setdefault(frozenset((line, id(result)) for line, result in played.items()), where)
        return [Entry(line, where, result) for where in once.values() for line, result in games[where].items()]

    def to_frame(self) -> pl.DataFrame:
        """A Polars frame of all numbers: one row for each cell, replication and checkpoint.

        The columns environment, policy, attack (null: no attack), budget (what the attack may spend) and horizon
        identify the cells. A cell that several panels show appears once. The final rows are
        ``frame.filter(pl.col("round") == pl.col("horizon"))``.
        """
        cells: dict[tuple[Any, ...], Play] = {}
        for play in self.plays:
            attack = spec_of(play.game.adversary) if play.game.adversary is not None else None
            cells[play.game.place, spec_of(play.game.policy), attack, play.spendable, play.game.horizon] = play
        names = {"environment": pl.String, "policy": pl.String, "attack": pl.String, "budget": pl.Float64}
        schema = pl.Schema(names | {"horizon": pl.Int64})
        rows = {key: pl.DataFrame([key], schema, orient="row") for key in cells}
        frames = [rows[key].join(play.result.to_frame(), how="cross") for key, play in cells.items()]
        return pl.concat(frames, how="diagonal") if frames else schema.to_frame()


def load(folder: Path | str) -> Study:
    """Read the folder of one experiment.

    Args:
        folder: A folder that `run` filled, with any version of vambrace, completely or not.
    """
    status, head, results = Store(Path(folder)).results()
    plays = []
    for panel, games in head["panels"].items():
        for named in games:
            if (result := results.get(named["cell"])) is not None:
                played = {key: getattr(result, key) for key in ("environment", "policy", "adversary", "horizon")}
                game = Game(panel=panel, **played, **{key: named[key] for key in NAMES})
                plays.append(Play(game, result))
    return Study(experiment=validated(head["experiment"]), status=status, head=head, plays=tuple(plays))


def load_all(folder: Path) -> list[Study]:
    """Read the folder of one experiment, or a folder that contains such folders."""
    if (folder / HEAD).is_file():
        return [load(folder)]
    studies = [load(path.parent) for path in sorted(folder.glob(f"*/{HEAD}"))]
    if not studies:
        raise StoreError(f"{folder}: expected a folder that `vambrace run` made, or one with such folders, got neither")
    for one, other in combinations(studies, 2):
        if one.name == other.name:
            where = f"in {one.status.folder.name} and in {other.status.folder.name}"
            raise StoreError(f"{folder}: expected experiments of different names, got {one.name!r} {where}")
    return studies


def worst(plays: Iterable[Play], key: Callable[[Play], Any]) -> dict[Any, Play]:
    """For each key the game with the largest mean regret."""
    found: dict[Any, Play] = {}
    for play in plays:
        rival = found.setdefault(key(play), play)
        if play.regret > rival.regret:
            found[key(play)] = play
    return found


def share_of_best(play: Play) -> float:
    """How often the best arm was pulled."""
    best = int(np.argmax(play.game.environment.arm_means()))
    return float(play.result.pulls[:, best].mean() / play.game.horizon)
