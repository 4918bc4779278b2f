"""Results read back: Parquet files and the objects that were played.

What was played from a file of the user comes back as a name, with what figures and tables need: reading results runs no
code that somebody else may have put into the folder.
"""

import io
import re
from typing import Any

import numpy as np
import polars as pl

from vambrace import own_code, registry
from vambrace.engine.delays import Delay
from vambrace.engine.openings import Openings, parse_windows
from vambrace.engine.result import Result
from vambrace.lab.cells import Cell
from vambrace.protocols import Adversary, Environment, Floats, Policy


class OwnPolicy(Policy):
    """A policy of which only the name is known."""

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]


class OwnAdversary(Adversary):
    """An attack of which only the name and the budget are known."""

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]
        found = re.search(r"[:,]budget=([^,]*)", name)
        self.budget = float(found[1]) if found else float("inf")


class OwnEnvironment(Environment):
    """Arms of which only the name and the means are known."""

    def __init__(self, name: str, means: Any) -> None:
        self.name = name  # type: ignore[misc]
        self.means = np.array(means, dtype=float)

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return len(self.means)

    def arm_means(self) -> Floats:
        """The means as they were when the games were played."""
        return self.means


def encode(cell: Cell, result: Result) -> bytes:
    """A result as the bytes of a Parquet file: a row for each replication and checkpoint, the pulls in the last."""
    points, rows = len(result.checkpoints), result.replications * len(result.checkpoints)
    last = [None] * (points - 1)
    places = pl.Series([place for copy in range(result.replications) for place in (*last, copy)], dtype=pl.UInt32)
    # series by series, since an expression would take as long as a small game
    pulls = pl.Series("pulls", result.pulls).arr.to_list().gather(places)
    texts = {"engine": result.engine, "cell": cell.hash}
    named = [pl.Series(name, [text]).new_from_index(0, rows) for name, text in texts.items()]
    frame = result.to_frame().hstack([pulls, *named])
    return to_bytes(frame.with_columns(pl.col("replication") + cell.first) if cell.first else frame)


def to_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as the bytes of a Parquet file: equal bytes for equal frames."""
    target = io.BytesIO()
    frame.rechunk().write_parquet(target)
    return target.getvalue()


def decode(cell: Cell, frame: pl.DataFrame) -> Result:
    """The result that `encode` was given."""

    def column(name: str) -> Any:
        return frame[name].to_numpy().reshape(cell.replications, -1) if name in frame.columns else None

    own = {role: bool(own_code.split(getattr(cell, role)).file) for role in ("policy", "environment", "adversary")}
    environment: Environment
    if own["environment"]:
        environment = OwnEnvironment(cell.environment, cell.means)
    else:
        environment = registry.environment(cell.environment)
    windows = parse_windows(cell.arms_open)
    return Result(
        policy=OwnPolicy(cell.policy) if own["policy"] else registry.policy(cell.policy),
        environment=environment,
        adversary=OwnAdversary(cell.adversary) if own["adversary"] else registry.adversary(cell.adversary),
        engine=str(frame["engine"][0]),
        checkpoints=column("round")[0],
        pulls=np.array(frame["pulls"].drop_nulls().to_list(), dtype=np.int64),
        realized=column("realized_regret"),
        observed=column("observed_regret"),
        **{key: column(key) for key in ("pseudo_regret", "cost")},
        **{key: getattr(cell, key) for key in ("horizon", "replications", "seed", "bounded", "lost")},
        delay=None if cell.delay is None else Delay.parse(cell.delay),
        arms_open=None if windows is None else Openings.check(windows, environment.n_arms, cell.horizon).windows,
    )
