"""Cells: an experiment as a list of `simulate` calls, each with a readable name, a seed and a fingerprint.

Seeds     A cell's seed depends only on the experiment's seed, the environment and the horizon. So every policy meets
          the same rewards, clean and attacked games are paired, and differences between cells have less noise than the
          cells themselves. Adding a cell does not change the numbers of the others.
Names     A file is named after its content: ``ten-arms--se-wr_budget-3000--jun-ucb--c3000--t200000``.
Hashes    A fingerprint of everything that determines the numbers. It is computed once, when the cell becomes a part of
          a folder of results, and kept there: later versions of vambrace read it and never compute it again.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

from vambrace import own_code
from vambrace.engine.delays import Delay
from vambrace.engine.openings import parse_windows
from vambrace.engine.result import Result
from vambrace.engine.simulation import Engine, simulate
from vambrace.errors import InvalidParameter
from vambrace.lab.experiment import Experiment, Game
from vambrace.parameters import spec_of

LONGEST = 80  # characters of one part of a name: four parts and an ending fit into the limit of file systems
ROLES = ("policy", "environment", "adversary")
NOT_CONTENT = ("id", "hash", "first", "code", "means")
RARE = ("delay", "lost", "arms_open", "sources")
NAMES = ("place", "budget", "line", "attack", "power")  # fields of a game that name it; the cell has the others


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One call of `simulate`, as plain strings and numbers."""

    id: str  # its name, also of its file
    hash: str  # the fingerprint that its file must have
    policy: str
    environment: str
    adversary: str  # a spec, or "none"
    horizon: int
    replications: int
    seed: int
    checkpoints: int | Sequence[int]
    bounded: bool
    engine: Engine
    delay: str | None = None
    lost: float = 0.0
    arms_open: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)  # fingerprints of files of the user that the specs name
    first: int = 0  # the first replication to play: those before it are there already
    code: Mapping[str, str] = field(default_factory=dict, repr=False)  # the texts of these files, to run them
    means: Sequence[float] = ()  # of the arms, if a file of the user says how they pay

    @property
    def content(self) -> dict[str, Any]:
        """Everything that determines the numbers; what is rare only if the cell has it, as files of 0.1.0 expect."""
        found = {key: value for key, value in asdict(self).items() if key not in NOT_CONTENT}
        return {key: value for key, value in found.items() if value or key not in RARE}

    @property
    def meaning(self) -> dict[str, Any]:
        """The content of one replication."""
        return {key: value for key, value in self.content.items() if key != "replications"}

    def play(self, threads: int | None = None) -> Result:
        """Play the games that are missing."""
        for file, text in self.code.items():
            own_code.load(file, text)
        options = {key: value for key, value in self.content.items() if key not in (*ROLES, "sources")}
        if self.first:
            options["replications"] = range(self.first, self.replications)
        if self.delay is not None:
            options["delay"] = Delay.parse(self.delay)
        if self.arms_open is not None:
            options["arms_open"] = parse_windows(self.arms_open)
        parts = [getattr(own_code, role)(getattr(self, role), self.sources) for role in ROLES]
        return simulate(*parts, **options, threads=threads, progress=False)


STORED = [each.name for each in fields(Cell) if each.name not in ("id", "first", "code")]  # under its id
REQUIRED = {"hash"} | {each.name for each in fields(Cell)} - {*NOT_CONTENT, *RARE}


def to_entry(cell: Cell) -> dict[str, Any]:
    """A cell as experiment.json has it."""
    return cell.content | {"hash": cell.hash} | ({"means": [*cell.means]} if cell.means else {})


def from_entry(name: str, entry: Mapping[str, Any]) -> Cell:
    """The cell of an entry of experiment.json."""
    return Cell(id=name, **{key: entry[key] for key in STORED if key in entry})


class Expansion(NamedTuple):
    """Every cell by its name, and for each panel its games: the name of the cell, and the names of the game."""

    cells: dict[str, Cell]
    panels: dict[str, list[dict[str, Any]]]


def expand(experiment: Experiment) -> Expansion:
    """The cells of an experiment; a game that several panels show is one cell."""
    found = Expansion({}, {})
    for game in experiment.games:
        cell = _cell(experiment, game)
        other = found.cells.setdefault(cell.id, cell)
        if other != cell:
            both = " and for ".join(f"{each.policy!r} against {each.adversary!r}" for each in (cell, other))
            raise InvalidParameter(f"cells: expected specs with different names, got {cell.id!r} twice, for {both}")
        named = {"cell": cell.id} | {key: getattr(game, key) for key in NAMES}
        found.panels.setdefault(game.panel, []).append(named)
    return found


def _cell(experiment: Experiment, game: Game) -> Cell:
    environment = spec_of(game.environment)
    content: dict[str, Any] = {
        "policy": spec_of(game.policy),
        "environment": environment,
        "adversary": spec_of(game.adversary),
        "horizon": game.horizon,
        # the same for all games on one environment; 48 bits, which every JSON reader keeps exactly
        "seed": int(fingerprint([experiment.seed, environment, game.horizon])[:12], 16),
    }
    everywhere = ("replications", "checkpoints", "bounded", "engine", "delay", "lost", "arms_open")
    content |= {key: getattr(experiment, key) for key in everywhere}
    content["sources"] = own_code.fingerprints([content[role] for role in ROLES], experiment.sources)
    budget = game.adversary.budget if game.adversary else 0.0
    names = game.place, _slug(content["policy"]), _slug(spec_of(game.adversary, without="budget"))
    cell = Cell(id="--".join([*names, f"c{budget:.15g}", f"t{game.horizon}"]), hash="", **content)
    own = own_code.split(environment).file
    means = tuple(float(mean) for mean in game.environment.arm_means()) if own else ()
    return replace(cell, hash=fingerprint(cell.content), means=means)


def fingerprint(content: Any) -> str:
    """A string of 64 characters, the same for equal values."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _slug(spec: str) -> str:
    """A spec as a part of a file name; if characters had to be replaced, a fingerprint keeps the names different."""
    text = spec.replace(":", "_").replace(",", "_").replace("=", "-")
    safe = re.sub(r"[^a-z0-9._-]+", "-", text.lower())
    if safe == text and len(safe) <= LONGEST and "--" not in safe:
        return safe
    return f"{re.sub('-+', '-', safe)[: LONGEST - 9].rstrip('-')}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
