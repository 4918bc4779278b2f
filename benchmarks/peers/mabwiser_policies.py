"""Time a policy of MABWiser: its online loop of one predict and one partial_fit per round."""

import random

import numpy as np
from common import MEANS, Maker, Policies, main
from mabwiser.mab import MAB, LearningPolicy

# In MABWiser's scale alpha=1 gives the index mean + sqrt(2 ln t / n).
POLICIES: Policies = {"UCB1": lambda rounds: LearningPolicy.UCB1(alpha=1.0)}


class Online:
    """One online replication."""

    def __init__(self, maker: Maker, rounds: int, seed: int) -> None:
        """Construct the bandit and the reward source."""
        self.rounds = rounds
        self.random = random.Random(seed).random
        self.mab = MAB(list(range(len(MEANS))), maker(rounds), seed=seed)
        self.best = 0

    def run(self) -> None:
        """Fit on one pull of each arm, then predict and update once per remaining round."""
        mab, draw, best = self.mab, self.random, 1
        mab.fit(np.arange(len(MEANS)), np.array([float(draw() < mean) for mean in MEANS]))
        # MABWiser does not keep these arrays; reusing them is faster than a list or a new array each round.
        decision, reward = np.zeros(1, dtype=np.int64), np.zeros(1)
        for _ in range(self.rounds - len(MEANS)):
            arm = mab.predict()
            decision[0] = arm
            reward[0] = draw() < MEANS[arm]
            mab.partial_fit(decision, reward)
            best += arm == 0
        self.best = best

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return self.best


if __name__ == "__main__":
    main("mabwiser", POLICIES, {"online": Online}, default_rounds=10_000)
