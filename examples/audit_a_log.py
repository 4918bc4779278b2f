"""Someone altered the log of a finished test. What can you still believe?

    python examples/audit_a_log.py

A bandit makes a log, an attacker alters some of its events in the most harmful way, and each log is certified as it is.
A certificate cannot tell a fake event from an honest one. It says which arms may be best for a given number of fakes,
and the truly best arm is among them.
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
    world = random.Random(5)
    learner = vb.SEWR(budget=1_000).learner(arms=list(RATES), horizon=EVENTS)
    log = []
    for _ in range(EVENTS):
        decision = learner.ask()
        clicked = int(world.random() < RATES[decision.arm])
        learner.tell(decision, reward=clicked)
        log.append((decision.arm, clicked))
    return log


def altered(log: list[tuple[str, int]], fakes: int) -> list[tuple[str, int]]:
    """Half of the fakes erase clicks on blue, the other half invent clicks on green."""
    left = {("blue", 1): fakes // 2, ("green", 0): fakes - fakes // 2}
    found = []
    for event in log:
        if left.get(event, 0) > 0:
            left[event] -= 1
            event = (event[0], 1 - event[1])
        found.append(event)
    return found


def main() -> None:
    """Certify the honest log, and three altered ones."""
    honest = logged()
    with tempfile.TemporaryDirectory() as folder:
        for fakes in (0, 300, 1_500, 3_000):
            path = Path(folder) / f"log-{fakes}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("variant", "clicked"), *altered(honest, fakes)])
            certificate = vb.certify(path)
            print(f"{fakes:5,} fakes: {certificate}")
            print(f"             with that many fakes, the best may be: {', '.join(certificate.not_ruled_out(fakes))}")


if __name__ == "__main__":
    main()
