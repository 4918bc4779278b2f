"""Look ahead: with a copy of the victim, ask what it would do after each answer, and spend where that changes most.

Setting     Strong and white box; knows the true means.
Algorithm   A forecast plays a copy of the policy for the next `ahead` rounds, in which every arm pays its mean, and
            adds up the regret. A script says for some arms: show 0, or show 1, in the next `depth` answers, while the
            budget lasts. Its worth is the regret of its forecast minus that of the forecast without attack, minus
            `price` times what it costs. Beam search: the `width` best scripts get another arm, as long as that makes
            the best one worth more. If it is worth more than 0 it is followed; after `every` answers comes a new one.
Effect      Needs no recipe for a policy. With `depth` and `every` 1 it sees what one answer changes; most policies
            change their mind only after many.
Reading     A randomised policy draws its decision again, with the attacker's random numbers, until it plays the same
            arm, since the attacker sees the arm only; all forecasts of a round use the same random numbers.
"""

from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np

from vambrace.engine.slots import copy, select, update
from vambrace.kernels import kernel, rare_kernel
from vambrace.parameters import AttackBudget, Range
from vambrace.protocols import Adversary, Answer, Floats, Game, Integers, Round, Stream
from vambrace.sampling import next_word

KEEP, LOWER, RAISE = 0, 1, 2
TRIES = 64  # of a randomised policy, to play the same arm again
Steps = Annotated[int, Range(1, 10**6)]


class State(NamedTuple):
    """A victim to try things on, what arms pay, and memory for scripts."""

    spare: Any
    means: Floats
    gaps: Floats
    left: Floats  # of the budget; one number
    script: Integers  # (arms,) what is shown on each arm
    rest: Integers  # for how many answers; one number
    scripts: Integers  # (width, arms) the best scripts with one number of arms
    longer: Integers  # (2 width arms, arms) those with one more
    worths: Floats  # of these
    draws: Stream  # the random numbers of a forecast
    ahead: int
    depth: int
    every: int
    price: float
    horizon: int


class Case(NamedTuple):
    """The decision that is about to be answered."""

    round: Round
    arm: int
    reward: float
    probability: float
    tag: int


@kernel
def alter(state: State, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, State]:
    if state.left[0] <= 0.0 or round.t >= state.horizon:
        return reward, state
    if state.rest[0] == 0:
        _choose_script(state, round, arm, reward, view, rng)
        state.rest[0] = state.every
    state.rest[0] -= 1
    sign = state.script[arm]
    return (reward if sign == KEEP else 0.0 if sign == LOWER else 1.0), state


@kernel
def witness(state: State, arm: int, reward: float, seen: float) -> State:
    state.left[0] -= abs(seen - reward)
    return state


@rare_kernel
def _choose_script(state: State, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> None:
    """Find the best script."""
    next_word(rng)  # so that other scripts have other forecasts
    _start(state, rng)
    chosen, probability, tag = select(view, round, state.draws)
    for _ in range(TRIES):
        if chosen == arm:
            break
        chosen, probability, tag = select(view, round, state.draws)
    case = Case(round, arm, reward, probability, tag)
    width, n_arms = state.scripts.shape
    for k in range(n_arms):
        state.script[k] = state.scripts[0, k] = KEEP
    alone, _ = _forecast(state, case, view, rng, state.script)
    most, kept = 0.0, 1
    for size in range(1, n_arms + 1 if state.depth > 1 else 2):
        count, before = _longer(state, kept, arm if state.depth == 1 else -1), most
        for i in range(count):
            regret, cost = _forecast(state, case, view, rng, state.longer[i])
            state.worths[i] = regret - alone - state.price * cost
            if state.worths[i] > most:
                most = state.worths[i]
                for k in range(n_arms):
                    state.script[k] = state.longer[i, k]
        if size > 1 and most <= before:
            break
        kept = min(width, count)
        _keep_best(state, kept, count)


@kernel
def _longer(state: State, kept: int, only: int) -> int:
    """Each of the kept scripts with one more arm, or with this one only; how many there are."""
    count, n_arms = 0, len(state.means)
    for i in range(kept):
        for k in range(n_arms):
            if state.scripts[i, k] != KEEP or (only >= 0 and k != only):
                continue
            for sign in (LOWER, RAISE):
                for j in range(n_arms):
                    state.longer[count, j] = state.scripts[i, j]
                state.longer[count, k] = sign
                count += 1
    return count


@kernel
def _keep_best(state: State, kept: int, count: int) -> None:
    """Move the best scripts, the first of equal ones, to `scripts`."""
    for i in range(kept):
        best = 0
        for k in range(1, count):
            if state.worths[k] > state.worths[best]:
                best = k
        for j in range(len(state.means)):
            state.scripts[i, j] = state.longer[best, j]
        state.worths[best] = -np.inf


@kernel
def _start(state: State, rng: Stream) -> None:
    for i in range(len(rng)):
        state.draws[i] = rng[i]


@rare_kernel
def _forecast(state: State, case: Case, view: Any, rng: Stream, script: Integers) -> tuple[float, float]:
    """The regret of the next rounds, and the cost, if a script is followed for some answers and then nothing is."""
    _start(state, rng)
    victim, round = copy(view, state.spare), case.round
    arm, reward, probability, tag = case.arm, case.reward, case.probability, case.tag
    regret, cost = 0.0, 0.0
    for step in range(min(state.ahead, state.horizon - round.t) + 1):
        if step > 0:
            later = Round(round.t + step, round.open, round.open_per_arm, round.available)
            arm, probability, tag = select(victim, later, state.draws)
            reward = state.means[arm]
            regret += state.gaps[arm]
        shown = reward
        if step < state.depth and script[arm] != KEEP:
            wanted = 0.0 if script[arm] == LOWER else 1.0
            if cost + abs(wanted - reward) <= state.left[0]:
                shown = wanted
                cost += abs(shown - reward)
        victim = update(victim, Answer(arm, shown, probability, tag))
    return regret, cost


@dataclass(frozen=True, kw_only=True)
class LookAhead(Adversary):
    """With a copy of the policy, see what it would do after each answer, and spend where the regret grows most.

    The attack that needs no recipe: it applies to every policy of the package. Strong and white box; it knows the true
    means. To choose a script it plays forecasts of `ahead` rounds, about two for each arm and each of the `width`
    scripts that are kept: good for up to 10,000 rounds, or more with a large `every`.

    Args:
        budget: What it may spend in total: at worst, this many fake events; infinite by default.
        ahead: How many rounds a forecast has.
        price: The regret within these rounds that a unit of budget has to bring, at least.
        depth: For how many answers a script is followed in a forecast; 1: only the present one.
        every: After how many answers there is a new script.
        width: How many scripts are kept at a time.

    >>> import vambrace as vb
    >>> env, attack = vb.Bernoulli([0.9, 0.5]), vb.LookAhead(budget=30)
    >>> print(vb.simulate(vb.UCB1(alpha=1), env, attack, horizon=1_000, seed=1))
    ucb1:alpha=1 against look-ahead:budget=30: regret 391.6 after 1,000 rounds, cost 20.0
    """

    name, reference = "look-ahead", "vambrace: red team"
    strength, knowledge, aim = "strong", "white box", "makes the next rounds cost more"
    alter, witness = staticmethod(alter), staticmethod(witness)
    tries_policy = True

    budget: AttackBudget = inf
    ahead: Steps = 1_000
    price: Annotated[float, Range(0.0, 1e6)] = 1.0
    depth: Steps = 1_000
    every: Steps = 50
    width: Steps = 1

    @property
    def work(self) -> int:  # type: ignore[override]
        """How many steps of the policy it computes for each round, with two arms."""
        return 1 + 6 * self.ahead // self.every

    def init(self, game: Game) -> State:
        n_arms = len(game.means)
        scripts, longer = (np.zeros((rows, n_arms), dtype=np.int64) for rows in (self.width, 2 * self.width * n_arms))
        script, rest = np.zeros(n_arms, dtype=np.int64), np.zeros(1, dtype=np.int64)
        draws, left = np.zeros(4, dtype=np.uint64), np.array([float(self.budget)])
        sizes = (self.ahead, self.depth, self.every, float(self.price), game.required_horizon)
        gaps = game.means.max() - game.means
        return State(
            game.victim, game.means, gaps, left, script, rest, scripts, longer, np.zeros(len(longer)), draws, *sizes
        )
