"""The shared experiment, command line, timing and output of the peer benchmark scripts."""

import argparse
import json
import math
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, Protocol

MEANS: tuple[float, ...] = tuple((95 - 5 * arm) / 100 for arm in range(10))
"""Bernoulli means 0.95, 0.90, ..., 0.50; arm 0 is the best."""

SANE_ROUNDS = 1000
"""From this horizon on, a policy must play the best arm more often than uniform play does."""


def exp3_gamma(rounds: int) -> float:
    """The share of uniform play in EXP3 that Auer et al. 2002 recommend; the peers leave it to their user."""
    return min(1.0, math.sqrt(len(MEANS) * math.log(len(MEANS)) / ((math.e - 1) * rounds)))


class Replication(Protocol):
    """One constructed replication of the experiment; only ``run`` is timed."""

    def run(self) -> None:
        """Play every round."""

    def best_arm_pulls(self) -> int:
        """Count how often the finished run played arm 0."""


Maker = Callable[[int], Any]
"""What a path needs in order to play a policy, for a given horizon."""

Policies = Mapping[str, Maker]
"""The policies of a peer, under the names that vambrace's classes have."""

Builder = Callable[[Maker, int, int], Replication]
"""Construct a fresh replication from (maker of the policy, rounds, seed)."""


def main(
    peer: str, policies: Policies, paths: Mapping[str, Builder], default_rounds: int, hapless: Collection[str] = ()
) -> None:
    """Parse the command line, then measure each chosen path and print one JSON line for it.

    From `hapless` policies nobody expects that they find the best arm; the script says why.
    """
    parser = argparse.ArgumentParser(description=f"Time one replication of a policy in {peer}.")
    parser.add_argument("--policy", choices=list(policies), default="UCB1", help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=default_rounds, help="horizon T (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=0, help="time runs for so long; the fastest counts (default: one)"
    )
    parser.add_argument("--path", choices=list(paths), help="measure only this path (default: all)")
    args = parser.parse_args()
    if args.rounds < len(MEANS):
        parser.error(f"--rounds must be at least the number of arms, {len(MEANS)}")
    for path in [args.path] if args.path else paths:
        build = partial(paths[path], policies[args.policy], args.rounds, args.seed)
        seconds, pulls = measure(build, args.seconds)
        share = pulls / args.rounds
        if args.rounds >= SANE_ROUNDS and share <= 1 / len(MEANS) and args.policy not in hapless:
            raise SystemExit(f"{peer} {args.policy} {path}: best-arm share {share:.3f} is no better than uniform play")
        record = {
            "peer": peer,
            "version": version(peer),
            "policy": args.policy,
            "path": path,
            "rounds": args.rounds,
            "seconds": round(seconds, 6),
            "rounds_per_second": round(args.rounds / seconds, 1),
            "best_arm_share": round(share, 6),
        }
        print(json.dumps(record), flush=True)


def measure(build: Callable[[], Replication], seconds: float) -> tuple[float, int]:
    """Warm up with one full run, then return the seconds of the fastest timed run and the pulls of arm 0.

    Every run gets a freshly built replication with the same seed, so all of them play the same game. The clock is the
    processor's, because the machine may be shared; no peer uses a second thread.
    """
    build().run()
    fastest, spent = float("inf"), 0.0
    while True:
        replication = build()
        start = time.process_time()
        replication.run()
        taken = time.process_time() - start
        fastest, spent = min(fastest, taken), spent + taken
        if spent >= seconds:
            return fastest, replication.best_arm_pulls()
