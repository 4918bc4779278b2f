"""Certifying a log that is larger than the memory should be: time, as a multiple of a bare group-by, and peak memory.

The log is made in a temporary folder. Both are timed in fresh processes, in turns; the fastest pass counts. The
group-by is Polars' own, streaming, of the same file: each arm's events and the sum of its rewards.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars

BYTES_A_ROW = 32  # more than a row takes on disk
PIECE = 10**7
KINDS = ("group-by", "certify")


def make(path: Path, rows: int) -> None:
    """Four variants; conversions of 1.5 % and, for the last of them, 2 %. Made in pieces that fit into memory."""
    pieces = []
    for first in range(0, rows, PIECE):
        number = polars.int_range(first, min(first + PIECE, rows), dtype=polars.UInt64)
        variant = number.hash(seed=1) % 4
        rate = polars.when(variant == 3).then(200).otherwise(150)
        columns = {
            "user": number,
            "variant": polars.concat_str(polars.lit("variant "), variant.cast(polars.String)),
            "converted": (number.hash(seed=2) % 10_000 < rate).cast(polars.Int8),
        }
        pieces.append(polars.LazyFrame().select(**columns))
    log = polars.concat(pieces)
    log.sink_csv(path) if path.suffix == ".csv" else log.sink_parquet(path)


def measure(kind: str, path: Path) -> dict[str, Any]:
    """In this process: seconds and the peak of its memory."""
    import vambrace as vb

    few = {"arm": ["a", "b"], "events": [9, 9], "successes": [1, 8]}
    vb.certify(few)  # so that nothing is compiled or loaded while the clock runs
    start = time.perf_counter()
    if kind == "certify":
        found = str(vb.certify(path, arm="variant", reward="converted"))
    else:
        scan = polars.scan_csv if path.suffix == ".csv" else polars.scan_parquet
        log = scan(path).group_by("variant").agg(polars.len(), polars.col("converted").sum())
        found = f"{log.collect(engine='streaming').height} arms"
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return {"seconds": seconds, "megabytes": peak / 1024, "found": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8, help="of the log; 1e8 by default")
    parser.add_argument("--csv", action="store_true", help="as text, which is also looked over line by line")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where to make the temporary file")
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        kind, path = arguments.measure
        print(json.dumps(measure(kind, Path(path))))
        return
    rows = int(arguments.rows)
    folder = arguments.folder or Path(tempfile.gettempdir())
    free = shutil.disk_usage(folder).free
    if free < BYTES_A_ROW * rows:
        sys.exit(f"{folder}: expected {BYTES_A_ROW * rows / 1e9:.1f} GB of free space, got {free / 1e9:.1f} GB")
    with tempfile.TemporaryDirectory(prefix="vambrace-", dir=folder) as temporary:
        path = Path(temporary) / ("log.csv" if arguments.csv else "log.parquet")
        make(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of {path.suffix}")
        best: dict[str, dict[str, Any]] = {}
        for _ in range(arguments.passes):
            for kind in KINDS:
                command = [sys.executable, __file__, "--measure", kind, str(path)]
                run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                if kind not in best or run["seconds"] < best[kind]["seconds"]:
                    best[kind] = run
    print("\n| | seconds | peak memory (MB) |\n|---|--:|--:|")
    for kind, run in best.items():
        print(f"| {kind} | {run['seconds']:.2f} | {run['megabytes']:,.0f} |")
    ratio = best["group-by"]["seconds"] / best["certify"]["seconds"]
    peak = best["certify"]["megabytes"]
    print(f"\n{best['certify']['found']}\n\n| target | measured | wanted | |\n|---|--:|--:|---|")
    print(f"| speed, as a multiple of the group-by's | {ratio:.2f} | >= 0.7 | {'ok' if ratio >= 0.7 else 'MISSED'} |")
    print(f"| peak memory, MB | {peak:,.0f} | <= 300 | {'ok' if peak <= 300 else 'MISSED'} |")


if __name__ == "__main__":
    main()
