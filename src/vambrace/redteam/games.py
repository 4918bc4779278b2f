"""Games between one policy and many attacks: every attack meets the same games, each with its own order of the arms.

The games of a *step* (search, report, ...) have seeds of their own, so that what was found in one step is measured in
games that had no part in finding it.
"""

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

from vambrace import validation
from vambrace.engine.delays import Delay, in_words
from vambrace.engine.result import Result
from vambrace.engine.simulation import simulate
from vambrace.errors import InvalidParameter
from vambrace.kernels import is_kernel
from vambrace.protocols import Adversary, Environment, Floats, Integers, Policy
from vambrace.redteam.goals import Goal
from vambrace.redteam.shuffling import shuffled

Job = TypeVar("Job")
Found = TypeVar("Found")


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
        delay: How late answers arrive, as in `simulate`; None: at once.
        lost: The share of answers that never arrive.
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
        delay: Delay | None = None,
        lost: float = 0.0,
    ) -> None:
        self.policy, self.environment, self.goal, self.bounded = checked_policy(policy), environment, goal, bounded
        self.n_arms, self.horizon = validation.game_size(environment.n_arms, horizon)
        self.means, self.seed = environment.arm_means(), validation.seed(seed)
        lost = validation.number("lost", lost, low=0.0, high=1.0)
        self.late = {"delay": delay, "lost": lost} if delay is not None or lost != 0.0 else {}
        self.conditions = ", ".join(in_words(delay, lost))
        goal.check(self.means)
        self.is_compiled, self.workers = is_kernel(policy.select), workers_for(policy, threads)
        self.played = 0
        self._known: dict[tuple[Any, str, int], Outcome] = {}
        self._programs: set[Any] = set()

    def play(self, attacks: Sequence[Adversary | None], step: str, games: int, first: int = 0) -> list[Played]:
        """Games `first`, `first` + 1, ... of a step against each attack; the same games against all of them."""
        numbers = range(first, first + games)
        wanted = list(dict.fromkeys((attack, step, game) for attack in attacks for game in numbers))
        missing = [each for each in wanted if each not in self._known]
        found = in_parallel(lambda each: self._play(*each), missing, self.workers, self._programs, _program)
        self._known.update(zip(missing, found, strict=True))
        self.played += len(missing)
        return [self._summed([self._known[attack, step, game] for game in numbers]) for attack in attacks]

    def _play(self, attack: Adversary | None, step: str, game: int) -> Outcome:
        seed = int(np.random.SeedSequence((self.seed, *step.encode(), game)).generate_state(1, np.uint64)[0])
        realized = False if attack is None or attack.strength != "medium" else None
        options: dict[str, Any] = {"horizon": self.horizon, "bounded": self.bounded, "realized": realized} | self.late
        result = one_game(self.policy, self.environment, attack, seed, (seed, game), **options)
        return Outcome(result.pulls[0], float(result.cost[0, -1]))

    def _summed(self, outcomes: Sequence[Outcome]) -> Played:
        pulls, costs = np.array([each.pulls for each in outcomes]), np.array([each.cost for each in outcomes])
        return Played(self.goal.scores(self.means, pulls), pulls @ (self.means.max() - self.means), costs)

    def about(self) -> dict[str, Any]:
        """What every report says of its games."""
        named = ("policy", "environment", "horizon", "random", "everything", "conditions")
        return {name: getattr(self, name) for name in named} | {"games": self.played}

    @property
    def everything(self) -> float:
        """The regret of playing the worst arm only."""
        return float(self.horizon * np.ptp(self.means))

    @property
    def random(self) -> float:
        """The regret of random play."""
        return float(self.horizon * (self.means.max() - self.means.mean()))


def checked_policy(policy: Any) -> Policy:
    """The policy, if it is one."""
    if not isinstance(policy, Policy):
        hint = "a bandit of your own, or of another library, is wrapped as vb.Foreign(make=...)"
        raise InvalidParameter(f"policy: expected a vambrace.Policy, got {policy!r}; {hint}")
    return policy


def workers_for(policy: Policy, threads: int | None) -> int:
    """How many games are played at the same time; one, if the policy is plain Python, which gains nothing."""
    given = validation.whole("threads", os.cpu_count() or 1 if threads is None else threads, low=1, high=10**4)
    return given if is_kernel(policy.select) else 1


def one_game(
    policy: Policy,
    environment: Environment,
    attack: Adversary | None,
    seed: int,
    order_of: tuple[int, int],
    **options: Any,
) -> Result:
    """One game in which the arms stand in another order; the result has them in their own order.

    Args:
        policy: The policy.
        environment: The arms.
        attack: The attack; None: no attack.
        seed: The seed of the game.
        order_of: A seed and the number of a game, of which the order is made.
        options: What `simulate` takes besides.
    """
    arms, moved, order = shuffled(environment, attack, *order_of)
    result = simulate(policy, arms, moved, seed=seed, checkpoints=1, threads=1, progress=False, **options)
    pulls = np.zeros_like(result.pulls)
    pulls[:, list(order)] = result.pulls
    return dataclasses.replace(result, environment=environment, adversary=attack, pulls=pulls)


def in_parallel(
    play: Callable[[Job], Found],
    jobs: Sequence[Job],
    workers: int,
    programs: set[Any],
    program: Callable[[Job], Any],
) -> list[Found]:
    """The result of each job, in order; the first one of each program is played alone, since it may compile.

    Args:
        play: Plays a job.
        jobs: The jobs.
        workers: How many are played at the same time.
        programs: The programs that were played before; new ones are added.
        program: The program of a job.
    """
    found: dict[int, Found] = {}
    for number, job in enumerate(jobs):
        if workers == 1 or program(job) not in programs:
            programs.add(program(job))
            found[number] = play(job)
    waiting = [number for number in range(len(jobs)) if number not in found]
    if waiting:
        with ThreadPoolExecutor(workers) as pool:
            found.update(zip(waiting, pool.map(lambda number: play(jobs[number]), waiting), strict=True))
    return [found[number] for number in range(len(jobs))]


def _program(job: tuple[Adversary | None, str, int]) -> Any:
    attack = job[0]
    return None if attack is None else getattr(attack, "alter", None) or getattr(attack, "inject", None) or type(attack)


def sized(attack: Any, budget: float) -> Adversary:
    """The attack with another budget."""
    changed: Adversary = dataclasses.replace(attack, budget=budget)
    return changed
