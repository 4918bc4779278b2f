"""A sweep over policies and budgets on a Dask cluster, and its results in one table.

    python examples/sweep_on_a_dask_cluster.py

The cluster here is two processes on this machine, which end with the run. For a real cluster, give the address of its
scheduler instead of "local". Stop the run and start it again: it plays only what is missing. Needs `vambrace[dask]`.
"""

import tempfile

import polars as pl

from vambrace import lab

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
    """Run it, then load the results as one frame."""
    with tempfile.TemporaryDirectory() as folder:
        status = lab.run(lab.parse(EXPERIMENT), folder, workers=2, dask="local", progress=False)
        print(f"{len(status.done)} of {status.total} cells done")
        table = (
            lab.load(folder)
            .to_frame()
            .filter(pl.col("round") == pl.col("horizon"))
            .group_by("policy", "budget")
            .agg(regret=pl.col("pseudo_regret").mean().round(1), spent=pl.col("cost").mean().round(1))
            .sort("budget", "regret")
        )
        for row in table.iter_rows(named=True):
            print(row)


if __name__ == "__main__":
    main()
