"""Games between one policy and many attacks: every attack meets the same games, each with its own order of the arms.

The games of a *step* (search, report, ...) have seeds of their own, so that what was found in one step is measured in
games that had no part in finding it.
"""

import dataclasses
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.engine.simulation import simulate
from vambrace.errors import InvalidParameter
from vambrace.kernels import is_kernel
from vambrace.protocols import Adversary, Environment, Floats, Integers, Policy
from vambrace.redteam.goals import Goal
from vambrace.redteam.shuffling import shuffled


class Outcome(NamedTuple):
    """One game: how often each arm was pulled, and what the attack spent."""

    pulls: Integers
    cost: float


class Played(NamedTuple):
    """Some games against one attack, in order."""

    scores: Floats
    regrets: Floats
    costs: Floats

    @property
    def score(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def regret(self) -> float:
        """The mean regret."""
        return float(self.regrets.mean())

    @property
    def cost(self) -> float:
        """What the attack spent, on average."""
        return float(self.costs.mean())


class Games:
    """The games of one policy, remembered: no game is played twice.

    Args:
        policy: The policy.
        environment: The arms.
        horizon: The number of rounds.
        goal: What is measured.
        seed: The seed of all games and orders.
        threads: The number of games at the same time; None: one per core.
        bounded: Clip altered rewards to [0, 1].
    """

    def __init__(
        self,
        policy: Policy,
        environment: Environment,
        *,
        horizon: int,
        goal: Goal,
        seed: int = 0,
        threads: int | None = None,
        bounded: bool = True,
    ) -> None:
        if not isinstance(policy, Policy):
            hint = "a bandit of your own, or of another library, is wrapped as vb.Foreign(make=...)"
            raise InvalidParameter(f"policy: expected a vambrace.Policy, got {policy!r}; {hint}")
        self.policy, self.environment, self.goal, self.bounded = policy, environment, goal, bounded
        self.n_arms, self.horizon = validation.game_size(environment.n_arms, horizon)
        self.means, self.seed = environment.arm_means(), validation.seed(seed)
        goal.check(self.means)
        workers = validation.whole("threads", os.cpu_count() or 1 if threads is None else threads, low=1, high=10**4)
        self.is_compiled = is_kernel(policy.select)
        self.workers = workers if self.is_compiled else 1  # plain Python gains nothing from threads
        self.played = 0
        self._known: dict[tuple[Any, str, int], Outcome] = {}
        self._programs: set[Any] = set()

    def play(self, attacks: Sequence[Adversary | None], step: str, games: int, first: int = 0) -> list[Played]:
        """Games `first`, `first` + 1, ... of a step against each attack; the same games against all of them."""
        numbers = range(first, first + games)
        wanted = list(dict.fromkeys((attack, step, game) for attack in attacks for game in numbers))
        missing = [each for each in wanted if each not in self._known]
        waiting = []
        for each in missing:
            program = None if each[0] is None else getattr(each[0], "alter", None) or type(each[0])
            if self.workers == 1 or program not in self._programs:  # the first one may compile
                self._programs.add(program)
                self._known[each] = self._play(*each)
            else:
                waiting.append(each)
        if waiting:
            with ThreadPoolExecutor(self.workers) as pool:
                self._known.update(zip(waiting, pool.map(lambda each: self._play(*each), waiting), strict=True))
        self.played += len(missing)
        return [self._summed([self._known[attack, step, game] for game in numbers]) for attack in attacks]

    def _play(self, attack: Adversary | None, step: str, game: int) -> Outcome:
        seed = int(np.random.SeedSequence((self.seed, *step.encode(), game)).generate_state(1, np.uint64)[0])
        arms, moved, order = shuffled(self.environment, attack, seed, game)
        result = simulate(
            self.policy,
            arms,
            moved,
            horizon=self.horizon,
            seed=seed,
            checkpoints=1,
            bounded=self.bounded,
            realized=False if attack is None or attack.strength == "strong" else None,
            threads=1,
            progress=False,
        )
        pulls = np.zeros(self.n_arms, dtype=np.int64)
        pulls[list(order)] = result.pulls[0]
        return Outcome(pulls, float(result.cost[0, -1]))

    def _summed(self, outcomes: Sequence[Outcome]) -> Played:
        pulls, costs = np.array([each.pulls for each in outcomes]), np.array([each.cost for each in outcomes])
        return Played(self.goal.scores(self.means, pulls), pulls @ (self.means.max() - self.means), costs)

    @property
    def everything(self) -> float:
        """The regret of playing the worst arm only."""
        return float(self.horizon * np.ptp(self.means))

    @property
    def random(self) -> float:
        """The regret of random play."""
        return float(self.horizon * (self.means.max() - self.means.mean()))


def sized(attack: Any, budget: float) -> Adversary:
    """The attack with another budget."""
    changed: Adversary = dataclasses.replace(attack, budget=budget)
    return changed
