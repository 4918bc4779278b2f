"""How much of a run of 1,000 small cells is spent playing: the rest is starting workers, compiling twice, and files.

python benchmarks/lab.py [--workers 2]
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from vambrace.lab import experiment as spec
from vambrace.lab import runner as run
from vambrace.lab.store import Store

WANTED = 0.8
EXPERIMENT: dict[str, Any] = {
    "name": "thousand",
    "replications": 20,  # as a file has that says nothing
    "checkpoints": 16,
    "engine": "rounds",
    "horizons": [10_000 * k for k in range(10, 20)],
    "budgets": [float(budget) for budget in range(1, 11)],
    "adversaries": ["conceal"],
    "policies": ["ucb1", "se-wr:budget={budget}"],
    "environments": {f"gap-{k}": f"bernoulli:means=0.9/0.{9 - k}" for k in range(1, 6)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the sentence there")
    arguments = parser.parse_args()
    workers = arguments.workers
    experiment = spec.parse(EXPERIMENT)
    with tempfile.TemporaryDirectory() as folder:
        run.run(spec.parse(EXPERIMENT | {"horizons": [10_000]}), Path(folder) / "warm", workers=workers)  # compile
        started = time.perf_counter()
        status = run.run(experiment, Path(folder) / "cells", workers=workers)
        wall = time.perf_counter() - started
        playing = sum(Store(Path(folder) / "cells").head()["seconds"].values())
    share = playing / (wall * workers)
    verdict = "ok" if share >= WANTED else "MISSED"
    found = f"{len(status.done):,} cells on {workers} workers: {wall:.1f} s, {share:.0%} of it playing"
    text = f"{found} (wanted {WANTED:.0%}) {verdict}"
    print(text)
    if arguments.markdown is not None:
        arguments.markdown.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
