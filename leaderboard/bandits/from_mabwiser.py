"""MABWiser's bandits."""

import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

with warnings.catch_warnings():  # what MABWiser warns of when it is imported is for MABWiser to mend
    warnings.simplefilter("ignore")
    from mabwiser.mab import MAB, LearningPolicy


class MABWiser:
    """A learning policy of MABWiser, which wants one observation of each arm before it is asked.

    Args:
        n_arms: The number of arms.
        horizon: The number of rounds.
        seed: The seed of its random numbers.
    """

    library = f"MABWiser {version('mabwiser')}"
    policy: Any

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.unseen, self.seen = list(range(n_arms)), list[tuple[int, float]]()
        self.mab = MAB(list(range(n_arms)), self.policy, seed=seed)
        self.decision, self.reward = np.zeros(1, dtype=np.int64), np.zeros(1)

    def ask(self) -> int:
        """The arm to pull."""
        return self.unseen[0] if self.unseen else int(self.mab.predict())

    def tell(self, arm: int, reward: float) -> None:
        """Learn from a reward."""
        if not self.unseen:
            self.decision[0], self.reward[0] = arm, reward
            self.mab.partial_fit(self.decision, self.reward)
            return
        self.unseen.remove(arm)
        self.seen.append((arm, reward))
        if not self.unseen:
            arms, rewards = zip(*self.seen, strict=True)
            self.mab.fit(np.array(arms), np.array(rewards))


class UCB1(MABWiser):
    """With alpha = 1, which is UCB1: alpha multiplies the whole bonus."""

    policy = LearningPolicy.UCB1(alpha=1.0)


class EpsilonGreedy(MABWiser):
    """A tenth of the rounds at random, which is MABWiser's default."""

    policy = LearningPolicy.EpsilonGreedy()
