"""Attack the bandit that you already run, before somebody else does.

    python examples/red_team_your_policy.py

Anything with `ask() -> arm` and `tell(arm, reward)` can play. `attack_suite` sets every attack on it that applies, at
several budgets, and reports the worst: a budget of 50 is, at worst, 50 fake events.
"""

import random
from typing import Any

import vambrace as vb


class YourBandit:
    """Stands for your code: epsilon-greedy, and a good one where every click is honest."""

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.clicks = [1.0] * n_arms  # one click for each to begin with: hopeful
        self.views = [1] * n_arms

    def ask(self) -> int:
        """The arm to show."""
        if self.random.random() < 10 / sum(self.views):
            return self.random.randrange(len(self.views))
        return max(range(len(self.views)), key=lambda arm: self.clicks[arm] / self.views[arm])

    def tell(self, arm: int, reward: float) -> None:
        """What came of it, honest or not."""
        self.views[arm] += 1
        self.clicks[arm] += reward


def main() -> None:
    """Every attack on your bandit; Conceal, and one that is made for it, on one with armour."""
    arms = vb.Bernoulli([0.6, 0.3, 0.2])
    game: dict[str, Any] = {"budgets": [0, 10, 50], "horizon": 3_000, "replications": 2, "seed": 7}
    yours = vb.Foreign(make=YourBandit, name="yours")  # runs at Python's speed: short games will do
    found = vb.attack_suite(yours, arms, **game)
    print(found.to_frame().filter(budget=50).sort("regret", descending=True).select("attack", "regret", "cost").head(5))
    armoured = vb.SEWR(budget=50, radius="tight")
    for report in (found, vb.attack_suite(armoured, arms, attacks=[vb.Conceal(), vb.EliminationRush()], **game)):
        for budget, worst in report.worst.items():
            share = worst.result.pulls[:, 0].mean() / worst.result.horizon
            print(
                f"{report.policy.name:5} {budget:2.0f} fakes by {worst.attack:21} "
                f"lost {worst.regret:5,.0f}, the best arm in {share:3.0%} of the rounds"
            )


if __name__ == "__main__":
    main()
