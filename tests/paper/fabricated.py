"""Studies with made-up numbers: what a report says can be tested without playing a suite."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from vambrace.engine.result import Result
from vambrace.lab import experiment as spec
from vambrace.lab.cells import expand
from vambrace.lab.experiment import Experiment, Game
from vambrace.lab.store import Status
from vambrace.lab.study import Play, Study
from vambrace.paper.suites import find
from vambrace.report.bands import promise

Regret = Callable[[Play], float]


def study(name: str, regret: Regret, *, missing: int = 0) -> Study:
    """A suite in which each game has the regret that `regret` says, give or take a hundredth."""
    experiment, games, names = suite(name)
    seeds = {key: seed for seed, key in enumerate(dict.fromkeys((game.place, game.horizon) for game in games))}
    plays = [
        fabricated(experiment, game, seeds[game.place, game.horizon], regret, noise) for noise, game in enumerate(games)
    ]
    status = Status(
        folder=Path(name),
        name=name,
        done=names[missing:],
        missing=names[:missing],
        failed={},
        damaged={},
        unknown=(),
        running=None,
    )
    head = {"seconds": {}, "versions": {"python": "3"}, "vambrace": "0", "experiment": experiment.canonical()}
    return Study(experiment=experiment, status=status, head=head, plays=tuple(plays))


@cache
def suite(name: str) -> tuple[Experiment, tuple[Game, ...], tuple[str, ...]]:
    """An experiment, its games and the names of its cells."""
    experiment = spec.read(find(name))
    return experiment, experiment.games, tuple(expand(experiment).cells)


def fabricated(experiment: Experiment, game: Game, seed: int, regret: Regret, noise: int | None = None) -> Play:
    """One game; the games of a place have the same seed, and each has its own noise."""
    copies, n_arms = experiment.replications, game.environment.n_arms
    checkpoints = np.array([max(1, game.horizon // 2), game.horizon])
    blank = Result(
        policy=game.policy,
        environment=game.environment,
        adversary=game.adversary,
        horizon=game.horizon,
        replications=copies,
        seed=seed,
        engine="leap",
        bounded=True,
        checkpoints=checkpoints,
        pseudo_regret=np.zeros((copies, 2)),
        cost=np.full((copies, 2), game.adversary.budget if game.adversary else 0.0),
        pulls=np.full((copies, n_arms), game.horizon // n_arms),
        realized=None,
        observed=None,
    )
    final = regret(Play(game, blank))
    rng = np.random.default_rng(seed if noise is None else noise)
    factors = 1.0 + 0.01 * rng.uniform(-1, 1, size=(copies, 1))
    return Play(game, Result(**{**vars(blank), "pseudo_regret": final * factors * np.array([[0.5, 1.0]])}))


def plausible(play: Play) -> float:
    """A regret that agrees with all claims: half of what is promised, or a tenth of all that can be lost."""
    bound = promise(play)
    return 0.5 * bound.value if bound else 0.1 * play.most
