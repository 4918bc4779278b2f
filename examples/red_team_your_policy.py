"""Attack the bandit that you already run, before someone else does.

    python examples/red_team_your_policy.py

Any object with `ask() -> arm` and `tell(arm, reward)` can play. `attack_suite` plays every attack that applies against
it, at several budgets, and reports the worst: a budget of 50 is, at worst, 50 fake events.
"""

import random
from typing import Any

import vambrace as vb


class YourBandit:
    """Replace this with your code: here it is epsilon-greedy, which is good if every click is honest."""

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.clicks = [1.0] * n_arms  # one click each at the start: optimistic
        self.views = [1] * n_arms

    def ask(self) -> int:
        """The arm to show."""
        if self.random.random() < 10 / sum(self.views):
            return self.random.randrange(len(self.views))
        return max(range(len(self.views)), key=lambda arm: self.clicks[arm] / self.views[arm])

    def tell(self, arm: int, reward: float) -> None:
        """The reward, honest or not."""
        self.views[arm] += 1
        self.clicks[arm] += reward


def main() -> None:
    """Every attack on your bandit; then two attacks on a policy with armour."""
    arms = vb.Bernoulli([0.6, 0.3, 0.2])
    game: dict[str, Any] = {"budgets": [0, 10, 50], "horizon": 3_000, "replications": 2, "seed": 7}
    yours = vb.Foreign(make=YourBandit, name="yours")  # runs at Python's speed: play short games
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
