"""A sweep over policies and budgets on a Dask cluster, and its results in one table.

    python examples/sweep_on_a_dask_cluster.py

The cluster here is two processes on this machine, which end with the run. For a real cluster, give the address of its
scheduler instead of "local". Stop the run and start it again: it plays only what is missing. Needs `vambrace[dask]`.
"""

import tempfile
from pathlib import Path

import polars as pl

from vambrace.lab.experiment import parse
from vambrace.lab.runner import run

EXPERIMENT = {
    "name": "sweep",
    "seed": 7,
    "replications": 10,
    "checkpoints": 16,
    "horizons": [100_000],
    "budgets": [0, 100],
    "policies": ["ucb1", "se-wr:budget={budget},radius=tight"],  # given what the attack may spend
    "adversaries": ["conceal"],
    "environments": {"three": "bernoulli:means=0.9/0.8/0.7"},
}  # as a TOML file, run it with `vambrace run FILE --dask ADDRESS`


def main() -> None:
    """Run it, then read the Parquet files."""
    with tempfile.TemporaryDirectory() as folder:
        status = run(parse(EXPERIMENT), Path(folder), workers=2, dask="local", progress=False)
        print(f"{len(status.done)} of {status.total} cells done")
        cells = pl.scan_parquet(f"{folder}/cells/*.parquet", include_file_paths="file")
        name = (
            pl.col("file").str.split("/").list.last().str.split("--")
        )  # environment--policy--adversary--budget--rounds
        table = (
            cells.filter(pl.col("round") == 100_000)
            .group_by(policy=name.list.get(1), budget=name.list.get(-2).str.strip_prefix("c").cast(pl.Int64))
            .agg(regret=pl.col("pseudo_regret").mean().round(1), spent=pl.col("cost").mean().round(1))
            .sort("budget", "regret")
            .collect()
        )
        for row in table.iter_rows(named=True):
            print(row)


if __name__ == "__main__":
    main()
