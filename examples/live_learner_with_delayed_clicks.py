"""A live learner whose clicks come late, in any order or never, and whose server crashes halfway.

    python examples/live_learner_with_delayed_clicks.py

A view without a click is a reward of 0, told when you stop waiting. Decisions whose answers are lost stay open, and
nothing waits for them. After a crash the learner continues from its last snapshot; decisions after it are void.
"""

import heapq
import json
import random
import tempfile
from pathlib import Path

import vambrace as vb

RATES = (0.6, 0.4, 0.35)  # unknown to the learner
VIEWS = 40_000
FAKES = 50  # clicks on the best arm that an attacker hides at the start, where it hurts most


def main() -> None:
    """Play a month of traffic and print the result."""
    world = random.Random(11)
    learner = vb.SEWR(budget=FAKES, radius="tight").learner(n_arms=len(RATES), horizon=VIEWS, seed=1)
    on_the_way: list[tuple[float, int, float]] = []  # when an answer arrives, its decision, its reward
    played, fakes, lost, void = [0] * len(RATES), FAKES, 0, 0

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "learner.json"
        crashed = False
        while learner.asked < VIEWS:
            if learner.asked % 1_000 == 0:
                file.write_text(json.dumps(learner.snapshot()), encoding="utf-8")
            decision = learner.ask()
            played[decision.arm] += 1
            reward = float(world.random() < RATES[decision.arm])
            if decision.arm == 0 and reward == 1.0 and fakes > 0:
                reward, fakes = 0.0, fakes - 1
            if world.random() < 0.02:
                lost += 1
            else:
                heapq.heappush(on_the_way, (decision.round + world.expovariate(1 / 200), decision.id, reward))
            while on_the_way and on_the_way[0][0] <= decision.round:
                _, key, late = heapq.heappop(on_the_way)
                learner.tell(key, late)
            if decision.round == VIEWS // 2 + 300 and not crashed:
                learner, crashed = vb.Learner.restore(json.loads(file.read_text(encoding="utf-8"))), True
                void = len(on_the_way)
                on_the_way = [each for each in on_the_way if each[1] in learner.open]
                heapq.heapify(on_the_way)
                void -= len(on_the_way)
                print(f"crash after {decision.round:,} views; on from view {learner.asked:,}, {void} answers void")

    print(f"{lost:,} answers were lost, {len(on_the_way)} are still on the way, {FAKES - fakes} clicks were hidden")
    for arm, rate in enumerate(RATES):
        print(f"arm {arm}, which pays {rate:.0%}, was shown in {played[arm] / sum(played):6.1%} of the views")


if __name__ == "__main__":
    main()
