"""Conformance checks for authors of new policies, adversaries and environments.

>>> import vambrace as vb
>>> from vambrace.testing import check_policy
>>> check_policy(vb.SE())

Each check plays small games and raises AssertionError with a sentence that says what is wrong.
"""

import copy
import dataclasses
import json
from collections.abc import Iterator
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np

from vambrace import registry
from vambrace.engine.result import Result
from vambrace.engine.simulation import simulate
from vambrace.environments import Bernoulli
from vambrace.kernels import Slot, compiled, is_kernel, kernel
from vambrace.live.learner import Learner
from vambrace.policies import MSSEWR, PEWR, SEWR, UCB1
from vambrace.protocols import Adversary, Answer, Environment, Floats, Game, Policy, Round
from vambrace.sampling import Stream, stream

__all__ = ["check_adversary", "check_environment", "check_policy", "examples"]

FALSE_ALARM = 1e-9  # the chance that a check of a mean fails although nothing is wrong
DRAWS = 20_000
LONGEST = 400  # rounds of a stretch that are played one by one


def examples(kind: str) -> list[Any]:
    """One object of every registered "policy", "adversary" or "environment"; missing parameters get a small value.

    Args:
        kind: Which of the three.

    >>> from vambrace.testing import examples
    >>> "se-wr" in [policy.name for policy in examples("policy")]
    True
    """
    found = registry.specimens(
        kind, budget=5.0, means=(0.8, 0.5, 0.2), events=(300, 200), successes=(90, 20), modes="-+"
    )
    for name in registry.known(kind):
        _require(name in found, f"{name}: give its parameters defaults, or a value for examples here")
    return list(found.values())


def check_policy(policy: Policy) -> None:
    """Check that `select` only reads, `update` writes, and the policy plays the same compiled, interpreted and live.

    Args:
        policy: The policy to check.
    """
    _check_specification(policy)
    _require(is_kernel(policy.select) and is_kernel(policy.update), f"{policy.name}: mark select and update @kernel")
    for n_arms, horizon in ((1, 1), (1, 40), (2, 2), (2, 75), (5, 300)):
        _check_moves(policy, n_arms, horizon)
        _check_delays(policy, n_arms, horizon)
        if policy.quiet is not None:
            _check_quiet_stretches(policy, n_arms, horizon)
        if policy.arms_can_change and n_arms > 1:
            _check_changing_arms(policy, n_arms, horizon)
    for attack, bounded in product((None, _Push(budget=20.0)), (True, False)):
        _check_runs(policy, Bernoulli((0.8, 0.5, 0.2)), attack, bounded)


def check_adversary(adversary: Adversary, policy: Policy | None = None) -> None:
    """Check that an attack stays within any budget and does the same compiled and interpreted.

    Args:
        adversary: The attack to check.
        policy: The policy that it attacks; None: the first of ours that has the fields that the attack reads.
    """
    _check_specification(adversary)
    victim, environment = policy or _victim(adversary), Bernoulli((0.8, 0.5, 0.2))
    main = {"strong": "alter", "medium": "corrupt", "injecting": "inject"}[adversary.strength]
    _require(is_kernel(getattr(adversary, main)), f"{adversary.name}: mark its kernel {main} @kernel")
    injecting = adversary.strength == "injecting"
    if adversary.respond is not None:
        _check_response(adversary, victim, environment.means, 400)
    for budget, bounded in product((0.0, 0.3, 7.5, 400.0 if injecting else float("inf")), (True, False)):
        attack = dataclasses.replace(adversary, budget=budget)  # type: ignore[type-var]
        result = _check_runs(victim, environment, attack, bounded)
        _require(bool((result.cost <= budget).all()), f"{adversary.name}: cost above the budget {budget}")
        within = np.abs(result.observed_regret - result.realized_regret) <= 2.0 * result.cost + 1e-9
        _require(bool(within.all()), f"{adversary.name}: observed and realised regret differ by more than 2 cost")


def check_environment(environment: Environment) -> None:
    """Check that rewards lie in [0, 1] and have the claimed means, in single draws and in sums.

    An arm with no more rewards than are drawn here must pay exactly what it claims and then nothing.

    Args:
        environment: The environment to check.
    """
    _check_specification(environment)
    _require(is_kernel(environment.draw), f"{environment.name}: mark draw @kernel")
    means, supply = environment.arm_means(), environment.supply
    _require(bool(((means >= 0) & (means <= 1)).all()), f"{environment.name}: a mean outside [0, 1]")
    sums = (environment.draw_total, environment.outcomes)
    hint = "offer no draw_total and outcomes, rewards of a limited supply are not independent"
    _require(supply is None or sums == (None, None), f"{environment.name}: {hint}")
    fill = compiled(_fill, {"draw": environment.draw})
    for arm in range(environment.n_arms):
        rewards = np.zeros(DRAWS if supply is None else min(DRAWS, supply[arm]))
        slack = sqrt(log(2 / FALSE_ALARM) / (2 * len(rewards)))  # Hoeffding's bound; also holds without replacement
        state = environment.init()
        fill(state, arm, stream(1, arm), rewards)
        _require(rewards.min() >= 0 and rewards.max() <= 1, f"{environment.name}: a reward outside [0, 1]")
        if supply is not None and len(rewards) == supply[arm]:
            slack, beyond = 1e-12, environment.draw(state, arm, stream(3, arm))
            _require(np.isnan(beyond), f"{environment.name}: arm {arm} pays more often than its supply allows")
        _require(abs(rewards.mean() - means[arm]) <= slack, f"{environment.name}: arm {arm} has another mean")
        state, rng = environment.init(), stream(1, arm)
        again = [environment.draw(state, arm, rng) for _ in rewards[:50]]
        _require(again == rewards[:50].tolist(), f"{environment.name}: compiled and interpreted draws differ")
        if environment.draw_total is not None:
            total = environment.draw_total(environment.init(), arm, DRAWS, stream(2, arm))
            _require(abs(total / DRAWS - means[arm]) <= slack, f"{environment.name}: draw_total has another mean")
            _require(environment.draw_total(environment.init(), arm, 0, stream(2)) == 0, "no pulls, no reward")
        if environment.outcomes is not None:
            high, low, chance = environment.outcomes(environment.init(), arm)
            _require({*rewards.tolist()} <= {high, low}, f"{environment.name}: a reward that outcomes does not name")
            expected = chance * high + (1.0 - chance) * low
            _require(abs(expected - means[arm]) < 1e-12, f"{environment.name}: outcomes have another mean")


def _victim(adversary: Adversary) -> Policy:
    """A policy whose state has the fields that a white-box attack reads."""
    for policy in (UCB1(), SEWR(budget=1.0), PEWR(), MSSEWR()):
        if {*adversary.reads} <= {*policy.init(Game(3, 400))._fields}:
            return policy
    raise AssertionError(f"{adversary.name}: pass a policy whose state has {', '.join(adversary.reads)}")


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise AssertionError(otherwise)


draw = Slot("draw")


@kernel
def _fill(state: Any, arm: int, rng: Stream, rewards: Floats) -> None:
    for i in range(len(rewards)):
        rewards[i] = draw(state, arm, rng)


@kernel
def _push(state: Any, round: Round, arm: int, reward: float, view: Any, rng: Stream) -> tuple[float, Any]:
    return (reward - 0.7 if arm == 0 else reward + 0.4), state


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Push(Adversary):
    """Lowers arm 0 and raises the rest, out of [0, 1] if allowed."""

    name, reference, strength, knowledge = "push", "conformance checks", "strong", "black box"
    budget: float = float("inf")
    alter = staticmethod(_push)

    def init(self, game: Game) -> int:
        return 0


def _check_specification(thing: Any) -> None:
    title = type(thing).__name__
    _require(dataclasses.is_dataclass(thing), f"{title}: make it a dataclass")
    _require(thing.__dataclass_params__.frozen, f"{title}: freeze it")
    _require(isinstance(getattr(thing, "name", None), str), f"{title}: give it a name")
    _require(dataclasses.replace(thing) == thing, f"{title}: equal parameters must make equal objects")


def _shape(value: Any) -> Any:
    """The types in a state, as the compiler sees them."""
    if hasattr(value, "_fields"):
        return (type(value), tuple(_shape(each) for each in value))
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape)
    kinds = ((bool | np.bool_, "flag"), (int | np.integer, "whole"), (float | np.floating, "real"))
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value))


def _differences(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """The fields in which two states differ, with both values."""
    if hasattr(one, "_fields"):
        for field in one._fields:
            yield from _differences(getattr(one, field), getattr(other, field), f"{where}.{field}".removeprefix("."))
    elif not np.array_equal(one, other, equal_nan=isinstance(one, np.ndarray) and one.dtype.kind == "f"):
        yield f"{where} = {one}, playing the same rounds leaves {other}"


def _check_moves(policy: Policy, n_arms: int, horizon: int) -> None:
    """Check every step of a game with immediate feedback."""
    state, rng, coins = policy.init(Game(n_arms, horizon)), stream(3), np.random.default_rng(4)
    shape = _shape(state)
    for t in range(1, horizon + 1):
        before, words = copy.deepcopy(state), rng.copy()
        arm, probability, tag = policy.select(state, Round.prompt(t, n_arms), rng)
        _require(not any(_differences(before, state)), f"{policy.name}: select changed the state")
        _require(policy.randomized or np.array_equal(words, rng), f"{policy.name}: declare randomized = True")
        _require(0 <= arm < n_arms, f"{policy.name}: arm {arm} of {n_arms}")
        _require(0.0 < probability <= 1.0, f"{policy.name}: probability {probability}")
        state = policy.update(state, Answer(int(arm), float(coins.random() < 0.5), float(probability), int(tag)))
        _require(_shape(state) == shape, f"{policy.name}: update changed the types of the state")


def _check_delays(policy: Policy, n_arms: int, horizon: int) -> None:
    """Check late, shuffled and lost answers, and that a snapshot in the middle changes nothing."""
    learner, twin = (Learner(policy, n_arms=n_arms, horizon=horizon, seed=5) for _ in range(2))
    coins = np.random.default_rng(6)
    for t in range(horizon):
        if t == horizon // 2:
            twin = Learner.restore(json.loads(json.dumps(twin.snapshot(), allow_nan=False)), policy=policy)
        asked, same = learner.ask(), twin.ask()
        decides = (asked.index, asked.probability) == (same.index, same.probability)
        _require(decides, f"{policy.name}: a restored learner decides differently")
        for key, other in zip(learner.open, twin.open, strict=True):
            if coins.random() < 0.4:
                reward = float(coins.random() < 0.5)
                learner.tell(key, reward)
                twin.tell(other, reward)


def _check_changing_arms(policy: Policy, n_arms: int, horizon: int) -> None:
    """Check that no closed arm is played and an arm that opens is, also with late answers and with more arms."""
    state, rng, coins = policy.init(Game(n_arms, horizon)), stream(12), np.random.default_rng(13)
    available, open_per_arm = np.ones(n_arms, dtype=np.bool_), np.zeros(n_arms, dtype=np.int64)
    waiting: list[Answer] = []
    for t in range(1, horizon + 1):
        arm = int(coins.integers(0, len(available)))
        if coins.random() < 0.1 and (not available[arm] or available.sum() > 1):
            change = policy.close_arm if available[arm] else policy.open_arm
            state, available[arm] = change(state, arm) if change else state, not available[arm]
        if t == horizon // 2:
            shape, n_arms = _shape(policy.init(Game(n_arms + 1, horizon))), n_arms + 1
            state = policy.widen(state, Game(n_arms, horizon))
            _require(_shape(state) == shape, f"{policy.name}: widen makes a state of other types than init does")
            available, open_per_arm = np.append(available, False), np.append(open_per_arm, 0)
        before = copy.deepcopy(state)
        arm, probability, tag = policy.select(state, Round(t, len(waiting), open_per_arm, available), rng)
        _require(not any(_differences(before, state)), f"{policy.name}: select changed the state")
        _require(0 <= arm < n_arms and bool(available[arm]), f"{policy.name}: played arm {arm}, which is closed")
        _require(0.0 < probability <= 1.0, f"{policy.name}: probability {probability}")
        waiting.append(Answer(int(arm), float(coins.random() < 0.5), float(probability), int(tag)))
        open_per_arm[arm] += 1
        while waiting and coins.random() < 0.6:
            answer = waiting.pop(int(coins.integers(0, len(waiting))))
            open_per_arm[answer.arm] -= 1
            state = policy.update(state, answer)


def _check_runs(policy: Policy, environment: Environment, attack: Adversary | None, bounded: bool) -> Result:
    """Check that the numbers are the same compiled and interpreted, on one thread and on two."""
    options: dict[str, Any] = {"horizon": 400, "replications": 3, "seed": 7, "checkpoints": 8, "bounded": bounded}
    title = f"{policy.name} against {attack.name if attack else 'none'}"
    one = simulate(policy, environment, attack, threads=1, interpret=False, **options)
    for way in ({"threads": 2, "interpret": False}, {"interpret": True}):
        other = simulate(policy, environment, attack, **way, **options)
        for field in ("pseudo_regret", "realized_regret", "observed_regret", "cost", "pulls"):
            same = np.array_equal(getattr(one, field), getattr(other, field))
            _require(same, f"{title}: {field} is not reproducible")
    _require(bool((one.pulls.sum(axis=1) == one.horizon).all()), f"{title}: pulls do not add up to the horizon")
    _require(bool(np.isfinite(one.pseudo_regret).all()), f"{title}: regret is not finite")
    return one


# What the leap engine relies on: quiet stretches of policies, and attacks that follow one rule.


def _check_quiet_stretches(policy: Policy, n_arms: int, horizon: int) -> None:
    """In a quiet stretch the policy plays its cycle for any rewards, and `absorb` gives the same state as `update`.

    Rewards are multiples of 1/64, so that sums are exact; they are coin flips, or as uneven as possible.
    """
    for lucky in (None, 0, n_arms - 1):
        state, rng, coins, t = policy.init(Game(n_arms, horizon)), stream(8), np.random.default_rng(9), 0
        while t < horizon:
            sweeps = policy.quiet(state) if policy.quiet is not None else 0
            arms, count = policy.cycle(state) if policy.cycle is not None else (np.zeros(0), 1)
            sweeps = min(sweeps, (horizon - t) // count, LONGEST // count)
            leapt, totals = copy.deepcopy(state), np.zeros(n_arms)
            for expected in [int(arm) for arm in arms[:count]] * sweeps or [-1]:
                arm, probability, tag = policy.select(state, Round.prompt(t + 1, n_arms), rng)
                _require(expected in (-1, arm), f"{policy.name}: arm {arm} in a quiet stretch, expected {expected}")
                reward = coins.integers(0, 65) / 64 if lucky is None else float(arm == lucky)
                totals[arm] += reward
                state = policy.update(state, Answer(int(arm), float(reward), probability, tag))
                t += 1
            if sweeps > 0 and policy.absorb is not None:
                for each in _differences(policy.absorb(leapt, sweeps, totals), state):
                    raise AssertionError(f"{policy.name}: absorb leaves {each}")


def _responses(adversary: Adversary, state: Any, view: Any, n_arms: int) -> list[Any]:
    return [adversary.respond(state, view, arm, x) for arm in range(n_arms) for x in (0.0, 1.0)]  # type: ignore[misc]


def _check_response(adversary: Adversary, policy: Policy, means: Any, horizon: int) -> None:
    """`alter` agrees with `respond` in the first and in the last round, and the rule stays in a quiet stretch."""
    view = policy.init(Game(len(means), horizon))
    state = adversary.init(Game(len(means), horizon, np.array(means), view))
    first, last = Round.prompt(1, len(means)), Round.prompt(horizon, len(means))
    if adversary.look is not None:
        state = adversary.look(state, first, view)
    for arm in range(len(means)):
        for reward in (0.0, 0.25, 1.0):
            chance, altered = adversary.respond(state, view, arm, reward)  # type: ignore[misc]
            allowed = {reward} if chance == 0.0 else {altered} if chance == 1.0 else {reward, altered}
            seen = {adversary.alter(state, each, arm, reward, view, stream(each.t))[0] for each in (first, last)}
            fine = 0.0 <= chance <= 1.0 and seen <= allowed
            _require(fine, f"{adversary.name}: respond promises {allowed}, alter returns {seen}")
    if policy.quiet is None:
        return
    before, coins, rng = _responses(adversary, state, view, len(means)), np.random.default_rng(10), stream(11)
    for _ in range(policy.quiet(view) * len(means) - 1):
        arm, probability, tag = policy.select(view, first, rng)
        view = policy.update(view, Answer(int(arm), float(coins.random() < 0.5), probability, tag))
        same = adversary.look is None or adversary.look(state, last, view) == state
        _require(same, f"{adversary.name}: look changed its mind while the policy dropped nothing")
        same = _responses(adversary, state, view, len(means)) == before
        _require(same, f"{adversary.name}: respond changed its rule while the policy dropped nothing")
