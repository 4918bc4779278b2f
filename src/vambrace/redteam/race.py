"""The race between policies: few games for all of them, many for those that may win, and fresh ones for the figures.

Screen   Every policy plays CALM games without attack. Then, again and again, the policy that is nearest to winning
         plays FEW games against its next attack, at each number of fakes. A policy *stands* unless, for every goal, it
         lost more than a policy that has met every attack: by more than CLEARLY standard errors of the difference, game
         by game, and the share MARGIN, or by anything if it is HOPELESS. A policy's worst case only grows with each
         attack, so one that does not stand need not meet the others. Whether it stands is computed anew after each
         attack, so nothing is decided too early. This ends when every policy that stands has met every attack.
Search   Unless the caller passed the attacks, each policy that stands is searched for a worse script, at each number of
         fakes (`vambrace.redteam.search`).
Decide   Every policy that stands plays many games with a fresh seed, without attack and against the NEAR attacks that
         did it most harm and the script of the search, at each number of fakes. The least worst case wins, for each
         goal.
Report   The best play the same number of games with a third seed, against the attacks that the second step found to be
         worst. All figures come from here, so that a lucky winner does not look better than it is.

Goals are: the least regret at each number of fakes; for an unknown number, never to lose much more than the least at
any of them, except where nothing helps; and the best with and without armour, which are compared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np

from vambrace.engine.simulation import simulate
from vambrace.environments import Bernoulli
from vambrace.errors import GameFault, NotApplicable
from vambrace.progress import ProgressBar
from vambrace.protocols import Adversary, Floats, Policy
from vambrace.redteam.games import sized
from vambrace.redteam.shuffling import shuffled_attack

FEW = 8  # games of a pair when all are screened
CALM = 64  # of a policy without attack: some, such as epsilon-greedy, fail rarely, and lose much when they do
CLEARLY = 5.0  # standard errors: with FEW games chance exceeds it once in 1,300 comparisons
MARGIN = 0.1  # a smaller share may turn round: rare failures are missed by few games
HOPELESS = 0.9  # of what random play loses: nothing helps, so it is not worth many games to learn who is best
NEAR = 4  # attacks
ORDERS = 2  # of the arms
STEPS = ("screen", "decide", "report")
NO_ATTACK = "none"


class Cell(NamedTuple):
    """One policy against one attack that may spend `fakes`."""

    policy: str
    attack: str
    fakes: float


class Goal(NamedTuple):
    """What to be best at: a number of fakes, or None for an unknown one; and who is compared."""

    fakes: float | None
    among: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Arena:
    """The games: arms, length, who plays against whom.

    Half of the games have the arms in reverse order. Otherwise a policy that happens to begin with the best arm, as
    ties are broken by the lowest number, would look good.
    """

    means: tuple[float, ...]
    horizon: int
    fakes: tuple[float, ...]  # in order; the first is 0
    policies: Mapping[str, Policy]
    attacks: Mapping[str, Adversary]
    seed: int
    threads: int | None = None
    interpret: bool | None = None

    def play(self, cell: Cell, step: str, games: int) -> Floats:
        """The regret of each game."""
        found = []
        for order in range(ORDERS):
            attack = None if cell.attack == NO_ATTACK else self._attack(cell, mirrored=order == 1)
            result = simulate(
                self.policies[cell.policy],
                Bernoulli(self.means[::-1] if order == 1 else self.means),
                attack,
                horizon=self.horizon,
                replications=games // ORDERS,
                seed=self.seed_of(step, order),
                checkpoints=1,
                realized=False,
                threads=self.threads,
                interpret=self.interpret,
                progress=False,
            )
            found.append(result.pseudo_regret[:, -1])
        return np.stack(found, axis=1).ravel()  # in turns, so that the first games have both orders

    @property
    def random(self) -> float:
        """What random play loses."""
        return self.horizon * (max(self.means) - fsum(self.means) / len(self.means))

    def seed_of(self, step: str, order: int) -> int:
        """A seed that no other step, order or seed of the whole has."""
        return (self.seed * len(STEPS) + STEPS.index(step)) * ORDERS + order

    def _attack(self, cell: Cell, *, mirrored: bool) -> Adversary:
        attack, arms = sized(self.attacks[cell.attack], cell.fakes), range(len(self.means))
        return shuffled_attack(attack, tuple(reversed(arms))) if mirrored else attack


class Table:
    """The regrets of the games of one step, and the worst case of each policy.

    Args:
        fakes: The numbers of fakes.
        random: What random play loses.
    """

    def __init__(self, fakes: Sequence[float], random: float) -> None:
        self.fakes, self.random = fakes, random
        self.regrets: dict[Cell, Floats] = {}
        self.means: dict[Cell, float] = {}
        self._worst: dict[tuple[str, float], Cell] = {}

    def add(self, cell: Cell, regrets: Floats) -> None:
        """Enter games."""
        self.regrets[cell], self.means[cell] = regrets, float(regrets.mean())
        for fakes in self.fakes:
            before = self._worst.get((cell.policy, fakes))
            if cell.fakes <= fakes and (before is None or self.means[cell] > self.means[before]):
                self._worst[cell.policy, fakes] = cell

    def worst(self, policy: str, fakes: float) -> Cell:
        """The games in which a policy lost most to at most this many fakes."""
        return self._worst[policy, fakes]

    def loss(self, policy: str, fakes: float) -> float:
        """Its mean regret there."""
        return self.means[self._worst[policy, fakes]]

    def least(self, policies: Sequence[str]) -> dict[float, float]:
        """The least loss at each number of fakes."""
        return {fakes: min(self.loss(each, fakes) for each in policies) for fakes in self.fakes}

    def useful(self, least: Mapping[float, float]) -> list[float]:
        """The numbers of fakes at which some policy helps; all of them, if there is none."""
        return [each for each in self.fakes if least[each] < HOPELESS * self.random] or list(self.fakes)

    def losses(self, policy: str, goal: Goal, least: Mapping[float, float]) -> Floats:
        """What a policy loses in each game; for an unknown number: how much more than the least, where that is most."""
        if goal.fakes is not None:
            return self.regrets[self.worst(policy, goal.fakes)]
        fakes = max(self.useful(least), key=lambda each: self.loss(policy, each) - least[each])
        return self.regrets[self.worst(policy, fakes)] - least[fakes]

    def best(self, goal: Goal, policies: Sequence[str]) -> list[str]:
        """The policies that are compared for a goal, best first."""
        least = self.least(policies)
        among = [each for each in policies if each in goal.among]
        return sorted(among, key=lambda each: float(self.losses(each, goal, least).mean()))

    def harmful(self, policy: str, fakes: float) -> list[Cell]:
        """The cells of the attacks that did most harm to a policy with this many fakes."""
        cells = [cell for cell in self.regrets if cell.policy == policy and cell.fakes == fakes]
        return sorted(cells, key=lambda cell: -self.means[cell])[:NEAR]


def standard_error(values: Floats) -> float:
    """Of the mean; 0 for one value, of which nothing is known."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def is_beaten(losses: Floats, leader: Floats) -> bool:
    """Whether more games would hardly change who lost more; by the games that both played."""
    games = min(len(losses), len(leader))
    behind = losses[:games] - leader[:games]
    return bool(behind.mean() > max(MARGIN * leader.mean(), CLEARLY * standard_error(behind)))


class Screening:
    """The first step.

    Args:
        arena: The games.
        goals: What to be best at.
    """

    def __init__(self, arena: Arena, goals: Sequence[Goal]) -> None:
        self.arena, self.goals, self.table = arena, goals, Table(arena.fakes, arena.random)
        self.waiting = {policy: list(arena.attacks) for policy in arena.policies}
        self.met: set[str] = set()  # attacks that apply to some policy
        self.total = len(arena.policies) * len(arena.attacks)

    def run(self, watch: Callable[[int], None]) -> list[str]:
        """Play until every policy that stands has met every attack; those that stand."""
        for policy in self.arena.policies:
            cell = Cell(policy, NO_ATTACK, 0.0)
            self.table.add(cell, self.arena.play(cell, "screen", CALM))
        while True:
            standing = self.standing()
            unfinished = [policy for policy in standing if self.waiting[policy]]
            watch(self.total - sum(len(self.waiting[policy]) for policy in unfinished))
            if not unfinished:
                return list(standing)
            self._meet_next(min(unfinished, key=lambda each: standing[each]))

    def standing(self) -> dict[str, float]:
        """The policies that stand, with how much more than the least they have lost so far, for their best goal."""
        finished = [policy for policy, attacks in self.waiting.items() if not attacks]
        least = self.table.least(finished or list(self.waiting))
        found: dict[str, float] = {}
        for goal in self.goals:
            losses = {each: self.table.losses(each, goal, least) for each in self.waiting if each in goal.among}
            means = {each: float(values.mean()) for each, values in losses.items()}
            rivals = [each for each in finished if each in losses]
            leader = min(rivals, key=lambda each: means[each]) if rivals else None
            for each, values in losses.items():
                if leader is None or each == leader or self._may_win(goal, values, losses[leader]):
                    found[each] = min(means[each] - min(means.values()), found.get(each, np.inf))
        return found

    def _may_win(self, goal: Goal, losses: Floats, leader: Floats) -> bool:
        if goal.fakes is not None and losses.mean() >= HOPELESS * self.arena.random and losses.mean() > leader.mean():
            return False
        return not is_beaten(losses, leader)

    def _meet_next(self, policy: str) -> None:
        """Play the next attack against a policy, at each number of fakes."""
        attack = self.waiting[policy].pop(0)
        for fakes in self.arena.fakes[1:]:
            cell = Cell(policy, attack, fakes)
            try:
                self.table.add(cell, self.arena.play(cell, "screen", FEW))
            except (NotApplicable, GameFault):  # it cannot be played against this policy
                return
            self.met.add(attack)


def played(arena: Arena, step: str, cells: Sequence[Cell], games: int, title: str, progress: bool | None) -> Table:
    """A table of many games.

    Args:
        arena: The games.
        step: The step, which has seeds of its own.
        cells: Who plays.
        games: The number of games of each cell.
        title: What a progress bar says.
        progress: Whether to show one.
    """
    table = Table(arena.fakes, arena.random)
    with ProgressBar(title, len(cells), show=progress) as bar:
        for done, cell in enumerate(cells):
            bar.update(done)
            table.add(cell, arena.play(cell, step, games))
    return table
