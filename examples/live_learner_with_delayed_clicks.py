"""A live learner whose clicks come late, in any order or never, and whose server crashes halfway.

    python examples/live_learner_with_delayed_clicks.py

A view without a click is a reward of 0, told when you stop waiting. Decisions whose answers are lost expire after a
while, and nothing waits for them. After a crash the learner continues from its last snapshot; answers to decisions that
were made after it are refused, and never count for another arm.
"""

import heapq
import json
import random
import tempfile
from pathlib import Path

import vambrace as vb

RATES = {"old": 0.6, "new": 0.4, "bold": 0.35}  # unknown to the learner
VIEWS = 40_000
FAKES = 50  # clicks on the best arm that an attacker hides at the start, where it hurts most


def main() -> None:
    """Play a month of traffic and print the result."""
    world = random.Random(11)
    learner = vb.SEWR(budget=FAKES, radius="tight").learner(
        arms=list(RATES), horizon=VIEWS, seed=1, expires_after=24 * 3600
    )
    on_the_way: list[tuple[float, str | int, float]] = []  # when an answer arrives, its decision, its reward
    fakes, lost, refused, crashed = FAKES, 0, 0, False

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "learner.json"
        while learner.asked < VIEWS:
            if learner.asked % 1_000 == 0:
                file.write_text(json.dumps(learner.snapshot()), encoding="utf-8")
            decision = learner.ask()
            reward = float(world.random() < RATES[decision.arm])
            if decision.arm == "old" and reward == 1.0 and fakes > 0:
                reward, fakes = 0.0, fakes - 1
            if world.random() < 0.02:
                lost += 1
            else:
                heapq.heappush(on_the_way, (decision.round + world.expovariate(1 / 200), decision.id, reward))
            while on_the_way and on_the_way[0][0] <= decision.round:
                _, key, late = heapq.heappop(on_the_way)
                try:
                    learner.tell(key, late)
                except vb.VambraceError:
                    refused += 1
            if decision.round == VIEWS // 2 + 300 and not crashed:
                learner, crashed = vb.Learner.restore(json.loads(file.read_text(encoding="utf-8"))), True
                print(f"crash after {decision.round:,} views; on from view {learner.asked:,}")

    print(f"{lost:,} answers were lost, {refused} refused after the crash, {FAKES - fakes} clicks were hidden")
    print(learner.explain())


if __name__ == "__main__":
    main()
