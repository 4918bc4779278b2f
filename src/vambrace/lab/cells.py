"""Cells: an experiment as a list of `simulate` calls, each with a readable name, a seed and a fingerprint.

Seeds     A cell's seed follows from the experiment's seed, the environment and the horizon, and from nothing else. So
          every policy meets the same rewards, clean and attacked games are paired, and differences between cells have
          less noise than the cells themselves. Adding a cell changes nobody else's numbers.
Names     Files are called after what is in them: ``ten-arms--se-wr_budget-3000--jun-ucb--c3000--t200000``.
Hashes    A fingerprint of everything that determines the numbers, and of vambrace's version.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vambrace import registry
from vambrace.engine.result import Result
from vambrace.engine.simulation import Engine, simulate
from vambrace.errors import InvalidParameter
from vambrace.lab.experiment import Experiment, Game
from vambrace.protocols import Adversary
from vambrace.specs import spec_of
from vambrace.version import __version__

LONGEST = 80  # characters of one part of a name: four of them and an ending fit into what file systems allow


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One call of `simulate`, in plain texts and numbers."""

    id: str
    policy: str
    environment: str
    adversary: str  # "none" for none
    horizon: int
    replications: int
    seed: int
    checkpoints: int | Sequence[int]
    bounded: bool
    engine: Engine

    @property
    def content(self) -> dict[str, Any]:
        """Everything that determines the numbers."""
        found = asdict(self) | {"vambrace": __version__}
        del found["id"]
        return found

    @property
    def hash(self) -> str:
        """A fingerprint of the content."""
        return hashlib.sha256(canonical_json(self.content).encode()).hexdigest()

    def play(self, threads: int | None = None) -> Result:
        """Play the games."""
        return simulate(
            registry.policy(self.policy),
            registry.environment(self.environment),
            registry.adversary(self.adversary),
            horizon=self.horizon,
            replications=self.replications,
            seed=self.seed,
            engine=self.engine,
            checkpoints=self.checkpoints,
            bounded=self.bounded,
            threads=threads,
            progress=False,
        )


def canonical_json(value: Any) -> str:
    """One text for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def games_of(experiment: Experiment) -> Iterator[tuple[Game, Cell]]:
    """Every game of every panel with the cell that plays it."""
    return ((game, _cell(experiment, game)) for game in experiment.games())


def cells_of(experiment: Experiment) -> dict[str, Cell]:
    """Every cell by its name; what several panels show is one cell."""
    found: dict[str, Cell] = {}
    for _, cell in games_of(experiment):
        if found.setdefault(cell.id, cell) != cell:
            raise InvalidParameter(
                f"cells: expected specs that give different names, got {cell.id!r} twice, for {cell.policy!r} "
                f"against {cell.adversary!r} and for {found[cell.id].policy!r} against {found[cell.id].adversary!r}"
            )
    return found


def panels_of(experiment: Experiment) -> dict[str, list[str]]:
    """The names of each panel's cells, in the order of the file."""
    found: dict[str, dict[str, None]] = {}
    for game, cell in games_of(experiment):
        found.setdefault(game.panel, {})[cell.id] = None
    return {panel: list(names) for panel, names in found.items()}


def _cell(experiment: Experiment, game: Game) -> Cell:
    policy, environment = spec_of(game.policy), spec_of(game.environment)
    adversary = spec_of(game.adversary) if game.adversary else "none"
    budget = game.adversary.budget if game.adversary else 0.0
    parts = [game.place, _slug(policy), _slug(_without_budget(game.adversary)), f"c{budget:.15g}", f"t{game.horizon}"]
    return Cell(
        id="--".join(parts),
        policy=policy,
        environment=environment,
        adversary=adversary,
        horizon=game.horizon,
        replications=experiment.replications,
        seed=seed_of(experiment.seed, environment, game.horizon),
        checkpoints=experiment.checkpoints,
        bounded=experiment.bounded,
        engine=experiment.engine,
    )


def seed_of(seed: int, environment: str, horizon: int) -> int:
    """A seed for all games on one environment; 48 bits, which every reader of JSON keeps exact."""
    digest = hashlib.sha256(canonical_json([seed, environment, horizon]).encode()).digest()
    return int.from_bytes(digest[:6], "big")


def _without_budget(adversary: Adversary | None) -> str:
    """The adversary's spec; its budget has a place of its own in the name."""
    if adversary is None:
        return "none"
    name, _, rest = spec_of(adversary).partition(":")
    others = [part for part in rest.split(",") if part and not part.startswith("budget=")]
    return f"{name}:{','.join(others)}" if others else name


def _slug(spec: str) -> str:
    """A spec as a part of a file's name; what cannot be spelled there is told apart by a fingerprint."""
    text = spec.replace(":", "_").replace(",", "_").replace("=", "-")
    safe = re.sub(r"[^a-z0-9._-]+", "-", text)
    if safe == text and len(safe) <= LONGEST and "--" not in safe:
        return safe
    return f"{re.sub('-+', '-', safe)[: LONGEST - 9].rstrip('-')}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
