"""River's bandits."""

import warnings
from importlib.metadata import version
from typing import Any

with warnings.catch_warnings():  # what River warns of when it is imported is for River to mend
    warnings.simplefilter("ignore")
    from river import bandit, proba


class River:
    """A policy of River that is asked and told.

    Args:
        n_arms: The number of arms.
        horizon: The number of rounds.
        seed: The seed of its random numbers.
    """

    library = f"River {version('river')}"

    def __init__(self, n_arms: int, horizon: int, seed: int) -> None:
        self.arms = list(range(n_arms))
        self.policy = self.made(seed)

    def made(self, seed: int) -> Any:
        """The policy."""
        raise NotImplementedError

    def ask(self) -> int:
        """The arm to pull."""
        return int(self.policy.pull(self.arms))

    def tell(self, arm: int, reward: float) -> None:
        """Learn from a reward."""
        self.policy.update(arm, reward)


class UCB(River):
    """With delta = 1, which River calls UCB1."""

    def made(self, seed: int) -> Any:
        """The policy."""
        return bandit.UCB(delta=1.0, seed=seed)


class Thompson(River):
    """With River's uniform prior; its rewards have to be 0 or 1."""

    def made(self, seed: int) -> Any:
        """The policy."""
        return bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed)

    def tell(self, arm: int, reward: float) -> None:
        """Learn from a reward."""
        self.policy.update(arm, reward >= 0.5)


class EpsilonGreedy(River):
    """A tenth of the rounds at random, as in River's examples."""

    def made(self, seed: int) -> Any:
        """The policy."""
        return bandit.EpsilonGreedy(epsilon=0.1, seed=seed)
