"""SE-WR once in a process of its own, for `run.py`: how long it takes, how much memory, and what had to be compiled."""

import json
import sys
import time
from pathlib import Path

import vambrace as vb
from vambrace.kernels import cache_statistics


def peak_memory() -> float:
    """Peak resident memory in MB: Linux's own mark where there is one, for ru_maxrss also counts who started us."""
    status = Path("/proc/self/status")
    if status.exists():
        marks = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(marks["VmHWM"].split()[0]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def main(rounds: int) -> None:
    """Print one JSON line."""
    arms = vb.Bernoulli([(95 - 5 * arm) / 100 for arm in range(10)])
    start = time.perf_counter()
    vb.simulate(vb.SEWR(budget=1000), arms, vb.Conceal(budget=1000), horizon=rounds, engine="rounds", threads=1)
    seconds = time.perf_counter() - start
    hits, misses = cache_statistics()
    print(json.dumps({"play": seconds, "peak_mb": peak_memory(), "hits": hits, "misses": misses}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
