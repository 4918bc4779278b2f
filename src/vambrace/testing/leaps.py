"""Checks of what the leap engine relies on: quiet stretches of policies, and attacks that follow one rule."""

import copy
from typing import Any

import numpy as np

from vambrace.protocols import Adversary, Answer, Game, Policy, Round
from vambrace.sampling import stream

LONGEST = 400  # rounds of a stretch that are played one by one


def check_quiet_stretches(policy: Policy, n_arms: int, horizon: int) -> None:
    """In a quiet stretch the policy plays its cycle for any rewards, and `absorb` gives the same state as `update`.

    Rewards are multiples of 1/64, so that sums are exact; they are coin flips, or as uneven as possible.
    """
    for lucky in (None, 0, n_arms - 1):
        state, rng, coins = policy.init(Game(n_arms, horizon)), stream(8), np.random.default_rng(9)
        t = 0
        while t < horizon:
            sweeps = policy.quiet(state) if policy.quiet is not None else 0
            arms, count = policy.cycle(state) if policy.cycle is not None else (np.zeros(0), 1)
            sweeps = min(sweeps, (horizon - t) // count, LONGEST // count)
            leapt, totals = copy.deepcopy(state), np.zeros(n_arms)
            for expected in [int(arm) for arm in arms[:count]] * sweeps or [-1]:
                arm, probability, tag = policy.select(state, Round.prompt(t + 1, n_arms), rng)
                if expected not in (-1, arm):
                    raise AssertionError(f"{policy.name}: arm {arm} in a quiet stretch, expected {expected}")
                reward = coins.integers(0, 65) / 64 if lucky is None else float(arm == lucky)
                totals[arm] += reward
                state = policy.update(state, Answer(int(arm), float(reward), probability, tag))
                t += 1
            if sweeps > 0 and policy.absorb is not None:
                _compare(policy.name, policy.absorb(leapt, sweeps, totals), state)


def _compare(name: str, leapt: Any, played: Any) -> None:
    for field, one, other in zip(leapt._fields, leapt, played, strict=True):
        if hasattr(one, "_fields"):
            _compare(f"{name}: {field}", one, other)
        elif not np.array_equal(one, other):
            raise AssertionError(f"{name}: absorb leaves {field} = {one}, playing the same rounds leaves {other}")


def _responses(adversary: Adversary, state: Any, view: Any, n_arms: int) -> list[Any]:
    return [adversary.respond(state, view, arm, x) for arm in range(n_arms) for x in (0.0, 1.0)]  # type: ignore[misc]


def check_response(adversary: Adversary, policy: Policy, means: Any, horizon: int) -> None:
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
            if not 0.0 <= chance <= 1.0 or not seen <= allowed:
                raise AssertionError(f"{adversary.name}: respond promises {allowed}, alter returns {seen}")
    if policy.quiet is None:
        return
    before, coins, rng = _responses(adversary, state, view, len(means)), np.random.default_rng(10), stream(11)
    for _ in range(policy.quiet(view) * len(means) - 1):
        arm, probability, tag = policy.select(view, first, rng)
        view = policy.update(view, Answer(int(arm), float(coins.random() < 0.5), probability, tag))
        if adversary.look is not None and adversary.look(state, last, view) != state:
            raise AssertionError(f"{adversary.name}: look changed its mind while the policy dropped nothing")
        if _responses(adversary, state, view, len(means)) != before:
            raise AssertionError(f"{adversary.name}: respond changed its rule while the policy dropped nothing")
