"""The contests of the leaderboard: arms and a number of rounds, the same for every bandit."""

from dataclasses import dataclass

from vambrace.environments import Bernoulli
from vambrace.redteam.goals import Goal

ROUNDS = 10_000
BUDGETS = (10, 100, 1_000)  # of the attacks
GOAL = Goal.parse("loss 50%")  # of an attack that breaks a bandit


@dataclass(frozen=True)
class Contest:
    """Arms that pay 0 or 1, and what they stand for.

    Attributes:
        name: Its name in entries.
        title: Its name on the page.
        means: The mean of each arm.
        about: Where the means come from.
        rounds: The number of rounds of a game.

    >>> from vambrace.redteam.contests import CONTESTS
    >>> CONTESTS["two"].environment
    Bernoulli(means=(0.6, 0.4))
    """

    name: str
    title: str
    means: tuple[float, ...]
    about: str
    rounds: int = ROUNDS

    @property
    def environment(self) -> Bernoulli:
        """The arms."""
        return Bernoulli(self.means)

    @property
    def n_worse(self) -> int:
        """The number of arms that are not best: K - 1, if one is best."""
        return sum(mean < max(self.means) for mean in self.means)


CONTESTS = {
    each.name: each
    for each in (
        Contest("steps", "Five steps", (0.9, 0.8, 0.7, 0.6, 0.5), "the example of this documentation"),
        Contest("two", "Two arms", (0.6, 0.4), "the smallest game, where the theory is tight"),
        Contest("shop", "Shop", (0.3, 0.2, 0.1, 0.05), "four offers, of which a third, a fifth or fewer are taken"),
        Contest(
            "headlines",
            "Five headlines",
            (0.1228, 0.1094, 0.0935, 0.0552, 0.0539),
            "real: the click rates of the test with the most clicks (2,844 of 32,717 views) in the exploratory part of "
            "the Upworthy Research Archive (Matias, Munger, Le Quere and Ebersole, 2021)",
        ),
        Contest(
            "twenty",
            "Twenty arms",
            tuple((90 - 4 * arm) / 100 for arm in range(20)),
            "0.9, 0.86, 0.82 and so on, down to 0.14",
        ),
    )
}
