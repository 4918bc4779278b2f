"""What KL-UCB-WR will lose in a game that is not played yet.

In a typical game empirical means are the true ones, and at the end all indices are level: an arm whose index is above
that of another one is played until it is not. So the pulls follow from one number q, the common index, for which they
add up to the horizon. An arm's index reaches q after n pulls with n kl(mean + b / n, q) = f, where b is the budget and
what the attacker has added to the arm, or less what was taken from it. `commit` adds half of its share on average.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import NamedTuple

from vambrace.policies.kl_ucb_wr import KLUCBWR, exploration_level
from vambrace.policies.radii import kl
from vambrace.theory import price

STEPS = 100  # of bisection and of Newton's method, which both stop at the last digit
TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class ArmourPlan:
    """What KL-UCB-WR needs.

    Attributes:
        settled: The pulls after which a typical game has settled the rate of an arm with the gap; None: the horizon is
            too short for that.
        quiet_regret: The expected regret if nobody attacks.
        attacked_regret: The expected regret if the attacker spends the whole budget as is worst.
        most_regret: What it loses at most, with probability 1 - K delta (Theorem A); None: more than random play loses.
        random_regret: What playing at random loses.
        loss: The share of `random_regret` for which the next number is.
        largest_budget: The most fake events that it can survive while it loses at most this share, attacked; None: not
            even without fake events.
    """

    settled: int | None
    quiet_regret: float
    attacked_regret: float
    most_regret: float | None
    random_regret: float
    loss: float
    largest_budget: int | None

    @property
    def verdict(self) -> str:
        """What it loses, and how much the horizon carries, in one sentence."""
        shares = (regret / self.random_regret for regret in (self.quiet_regret, self.attacked_regret))
        quiet, attacked = (f"{share:.0%}" if share >= 0.1 else f"{share:.1%}" for share in shares)
        carries = "nothing" if self.largest_budget is None else f"{self.largest_budget:,} fake events"
        return (
            f"loses about {quiet} of what random play loses if nobody attacks, and {attacked} if the whole budget is "
            f"spent; at {self.loss:.0%} this horizon carries {carries}"
        )


def armour_plan(
    arms: int, rate: float, gap: float, budget: float, horizon: int, delta: float, loss: float
) -> ArmourPlan:
    """The plan of KL-UCB-WR, for one best arm and others that lie this gap below it."""
    means, level = [rate, *[rate - gap] * (arms - 1)], exploration_level(horizon, delta)
    at_random = gap * (arms - 1) * horizon / arms
    settled = _pulls_to(rate, rate - gap, budget, level)

    def lost(fakes: float, attacked: bool) -> float:
        return expected_regret(means, horizon=horizon, budget=fakes, spent=fakes if attacked else 0.0, level=level)

    low, high = -1, horizon
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if lost(middle, True) <= loss * at_random else (low, middle)
    bound = price.kl_ucb_wr([gap] * (arms - 1), horizon=horizon, budget=budget, delta=delta)
    return ArmourPlan(
        settled=round(settled) if settled * (arms - 1) < horizon else None,
        quiet_regret=lost(budget, False),
        attacked_regret=lost(budget, True),
        most_regret=bound.value if bound.value < at_random else None,
        random_regret=at_random,
        loss=loss,
        largest_budget=low if low >= 0 else None,
    )


class Group(NamedTuple):
    """Arms that are alike."""

    mean: float
    share: float  # the budget and what was added to the arm, or less what was taken from it
    copies: int


def expected_regret(means: Sequence[float], *, horizon: int, budget: float, spent: float, level: float) -> float:
    """The regret of a typical game, if what is spent raises the best of the other arms or lowers the best one."""
    copies = Counter(means)
    best = max(copies)
    if len(copies) == 1:
        return 0.0
    found = []
    for target, sign in ((max(mean for mean in copies if mean < best), 1.0), (best, -1.0)):
        groups = [Group(mean, budget, count - (mean == target)) for mean, count in copies.items()]
        groups.append(Group(target, budget + sign * spent, 1))
        pulls = expected_pulls(groups, horizon, level)
        found.append(sum((best - each.mean) * each.copies * count for each, count in zip(groups, pulls, strict=True)))
    return max(found)


def expected_pulls(groups: Sequence[Group], horizon: int, level: float) -> list[float]:
    """The pulls of an arm of each group in a typical game: where all indices are level.

    Args:
        groups: The arms.
        horizon: The number of rounds.
        level: f, which follows from the horizon and delta.
    """

    def pulls(height: float) -> list[float]:
        return [max(1.0, _pulls_to(height, group.mean, group.share, level)) for group in groups]

    def total(counts: list[float]) -> float:
        return sum(group.copies * count for group, count in zip(groups, counts, strict=True) if group.copies)

    low, high = min(group.mean for group in groups), 3.0 + max(group.share for group in groups)
    while (middle := 0.5 * (low + high)) not in (low, high):  # at `low` nobody stops, at `high` all have
        low, high = (middle, high) if total(pulls(middle)) > horizon else (low, middle)
    found = pulls(high)
    leader = max((k for k, group in enumerate(groups) if group.copies), key=lambda k: groups[k].mean)
    left = horizon - total(found)  # where an index falls at once, from 2 to its value, or does not fall at all
    found = [count if k == leader else count * (1.0 + 0.5 * KLUCBWR.commit) for k, count in enumerate(found)]
    found[leader] += max(left, 0.0) / groups[leader].copies
    share = horizon / total(found)
    return [count * share for count in found]


def _pulls_to(height: float, mean: float, share: float, level: float) -> float:
    """After how many pulls the index of an arm has fallen to a height; infinite if it never does.

    Above 1 the index is 1 + mean + b / n. Otherwise it is the smallest root x = 1 / n of kl(mean + b x, height) - f x,
    which is convex and positive at 0: Newton's steps from 0 stay below the root.
    """
    if height <= mean:
        return inf
    if height > 1.0 + mean and share / (height - 1.0 - mean) <= share / max(1.0 - mean, TINY):
        return share / (height - 1.0 - mean)
    if height >= 1.0:
        return share / (1.0 - mean) if mean < 1.0 else inf
    x = 0.0
    for _ in range(STEPS):
        point = min(max(mean + share * x, TINY), height)
        excess = kl(point, height) - level * x
        slope = share * log(point * (1.0 - height) / (height * (1.0 - point))) - level
        step = -excess / slope
        x += step
        if step <= 1e-14 * x:
            break
    return 1.0 / x if x > 0.0 else inf  # the height is the mean, up to rounding
