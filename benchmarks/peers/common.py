"""The shared experiment, command line, timing and output of the peer benchmark scripts."""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Protocol

MEANS: tuple[float, ...] = tuple((95 - 5 * arm) / 100 for arm in range(10))
"""Bernoulli means 0.95, 0.90, ..., 0.50; arm 0 is the best."""

SANE_ROUNDS = 1000
"""From this horizon on, UCB1 must play the best arm more often than uniform play does."""


class Replication(Protocol):
    """One constructed replication of the experiment; only ``run`` is timed."""

    def run(self) -> None:
        """Play every round."""

    def best_arm_pulls(self) -> int:
        """Count how often the finished run played arm 0."""


Builder = Callable[[int, int], Replication]
"""Construct a fresh replication from (rounds, seed)."""


def main(peer: str, paths: Mapping[str, Builder], default_rounds: int) -> None:
    """Parse the command line, then measure each chosen path and print one JSON line for it."""
    parser = argparse.ArgumentParser(description=f"Time one UCB1 replication in {peer}.")
    parser.add_argument("--rounds", type=int, default=default_rounds, help="horizon T (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=1, help="timed runs; the fastest counts (default: %(default)s)")
    parser.add_argument("--path", choices=list(paths), help="measure only this path (default: all)")
    args = parser.parse_args()
    if args.rounds < len(MEANS):
        parser.error(f"--rounds must be at least the number of arms, {len(MEANS)}")
    if args.repeats < 1:
        parser.error("--repeats must be at least 1")
    for path in [args.path] if args.path else paths:
        seconds, pulls = measure(paths[path], args.rounds, args.seed, args.repeats)
        share = pulls / args.rounds
        if args.rounds >= SANE_ROUNDS and share <= 1 / len(MEANS):
            raise SystemExit(f"{peer} {path}: best-arm share {share:.3f} is no better than uniform play")
        record = {
            "peer": peer,
            "version": version(peer),
            "path": path,
            "rounds": args.rounds,
            "seconds": round(seconds, 6),
            "rounds_per_second": round(args.rounds / seconds, 1),
            "best_arm_share": round(share, 6),
        }
        print(json.dumps(record), flush=True)


def measure(build: Builder, rounds: int, seed: int, repeats: int) -> tuple[float, int]:
    """Warm up with one full run, then return the seconds of the fastest timed run and the pulls of arm 0.

    Every run gets a freshly built replication with the same seed, so all of them play the same game.
    """
    replication = build(rounds, seed)
    replication.run()
    fastest = float("inf")
    for _ in range(repeats):
        replication = build(rounds, seed)
        start = time.perf_counter()
        replication.run()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest, replication.best_arm_pulls()
