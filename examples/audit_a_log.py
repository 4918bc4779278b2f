"""Somebody altered the log of a finished test. What may still be believed?

    python examples/audit_a_log.py

A bandit makes a log, an attacker alters some of its events as badly as can be, and each log is certified as it stands.
A certificate cannot tell a fake from an honest event. It says which arms may be best if this many events were fake, and
the truth is among them.
"""

import csv
import random
import tempfile
from pathlib import Path

import vambrace as vb

RATES = {"red": 0.30, "blue": 0.50, "green": 0.35}  # blue is best
EVENTS = 30_000


def logged() -> list[tuple[str, int]]:
    """What a bandit showed, and whether it was clicked."""
    world, names = random.Random(5), list(RATES)
    learner = vb.SEWR(budget=1_000).learner(n_arms=len(names), horizon=EVENTS)
    log = []
    for _ in range(EVENTS):
        decision = learner.ask()
        name = names[decision.arm]
        clicked = int(world.random() < RATES[name])
        learner.tell(decision, reward=clicked)
        log.append((name, clicked))
    return log


def altered(log: list[tuple[str, int]], fakes: int) -> list[tuple[str, int]]:
    """Clicks on blue are wiped and clicks on green are invented, half and half."""
    left = {("blue", 1): fakes // 2, ("green", 0): fakes - fakes // 2}
    found = []
    for event in log:
        if left.get(event, 0) > 0:
            left[event] -= 1
            event = (event[0], 1 - event[1])
        found.append(event)
    return found


def main() -> None:
    """The honest log, and three that are not."""
    honest = logged()
    with tempfile.TemporaryDirectory() as folder:
        for fakes in (0, 300, 1_500, 3_000):
            path = Path(folder) / f"log-{fakes}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("variant", "clicked"), *altered(honest, fakes)])
            certificate = vb.certify(path)
            print(f"{fakes:5,} fakes: {certificate}")
            print(f"             if this many were fake, best may be: {', '.join(certificate.not_ruled_out(fakes))}")


if __name__ == "__main__":
    main()
