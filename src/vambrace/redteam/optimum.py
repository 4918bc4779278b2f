"""The optimal attack on a tiny game, computed exactly: how far from the truth is an attack that was found by search?

Rewards are 0 or 1, and so are the answers of the attack, so each alteration costs one and a budget is a whole number of
alterations. Everything that the attacker can ever see is then a finite tree: the learner picks an arm, the arm pays or
not, the attacker answers. Two histories that lead to the same state of the learner have the same future, so the tree is
merged into one graph of states, which depends on the policy and the horizon only. On it the regret of the best attack
follows backwards from the last round:

    value(state, budget) = sum over arms of chance * (gap + E[max(value(next, budget), value(other next, budget - 1))])

Randomised policies need known chances: those that return the chance of the arm that they play, with two arms, and
Thompson sampling, whose chance with two arms is a finite sum.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, lgamma
from typing import Any, NamedTuple

import numpy as np

from vambrace import validation
from vambrace.environments import Bernoulli
from vambrace.errors import InvalidParameter, NotApplicable
from vambrace.policies import Thompson
from vambrace.protocols import Answer, Floats, Game, Integers, Policy, Round
from vambrace.sampling import stream

MOST_STATES = 400_000  # in one round


class Optimum(NamedTuple):
    """What the optimal attack does.

    Attributes:
        regret: The expected regret under it.
        clean: The expected regret without attack.
        first_answers: What it shows in the first round, for each arm that may be played and each reward.
    """

    regret: float
    clean: float
    first_answers: dict[tuple[int, int], int]


class Layer(NamedTuple):
    """All states in which a policy can be before one round."""

    chances: Floats  # (states, arms) of each arm to be played
    following: Integers  # (states, arms, 2) the state of the next layer after each answer


def optimal_attack(policy: Policy, means: Sequence[float], budget: int, horizon: int) -> Optimum:
    """The largest expected regret that any attack with answers 0 or 1 can cause, exactly.

    Args:
        policy: The attacked policy: deterministic, or randomised with known chances.
        means: The chance of a 1 for each arm.
        budget: How many rewards may be altered.
        horizon: The number of rounds: up to 14 for any of these policies, 50 and more for those that keep only counts.

    >>> import vambrace as vb
    >>> found = optimal_attack(vb.UCB1(), [0.9, 0.5], budget=2, horizon=8)
    >>> round(found.clean, 3), round(found.regret, 3)
    (1.218, 1.98)
    >>> found.first_answers  # arm 0 is played first; if it pays, that is hidden
    {(0, 0): 0, (0, 1): 0}
    """
    payoff = Bernoulli(means).arm_means()
    budget = validation.whole("budget", budget, low=0, high=1_000)
    gaps = payoff.max() - payoff
    layers = unfold(policy, len(payoff), validation.whole("horizon", horizon, low=1, high=100))
    values = np.zeros((int(layers[-1].following.max()) + 1, budget + 1))
    for layer in reversed(layers[1:]):
        values = _before(layer, payoff, gaps, values)
    first, answers = layers[0], {}
    for arm in np.flatnonzero(first.chances[0] > 0.0).tolist():
        for reward in (0, 1):
            left_alone = values[first.following[0, arm, reward], budget]
            altered = values[first.following[0, arm, 1 - reward], budget - 1] if budget > 0 else -np.inf
            answers[arm, reward] = 1 - reward if altered > left_alone else reward
    values = _before(first, payoff, gaps, values)
    return Optimum(float(values[0, budget]), float(values[0, 0]), answers)


def scripted_regret(
    policy: Policy, means: Sequence[float], budget: int, horizon: int, script: tuple[int | None, ...]
) -> float:
    """The expected regret under an attack that shows the same for an arm while the budget lasts, exactly.

    Args:
        policy: The attacked policy, as in `optimal_attack`.
        means: The chance of a 1 for each arm.
        budget: How many rewards may be altered.
        horizon: The number of rounds.
        script: What is shown for each arm: 0, 1, or None for the true reward.

    >>> import vambrace as vb
    >>> round(scripted_regret(vb.UCB1(), [0.9, 0.5], budget=2, horizon=8, script=(0, None)), 3)  # conceal
    1.925
    """
    payoff, layers = Bernoulli(means).arm_means(), unfold(policy, len(means), horizon)
    wanted = [[reward if shown is None else shown for reward in (0, 1)] for shown in script]
    choose = [np.broadcast_to(np.array(wanted), (len(layer.chances), len(script), 2)) for layer in layers]
    return _followed(layers, payoff, budget, choose)


def look_ahead_regret(
    policy: Policy, means: Sequence[float], budget: int, horizon: int, *, steps: int, least_gain: float = 0.0
) -> float:
    """The expected regret under an attack that looks ahead with a copy of the victim, exactly.

    It alters a reward if the regret of the next rounds, without any further attack, then grows by more than a limit.

    Args:
        policy: The attacked policy, as in `optimal_attack`.
        means: The chance of a 1 for each arm.
        budget: How many rewards may be altered.
        horizon: The number of rounds.
        steps: How many rounds it looks ahead.
        least_gain: The growth from which on an alteration is worth its price.

    >>> import vambrace as vb
    >>> found = [look_ahead_regret(vb.UCB1(), [0.9, 0.5], 2, 8, steps=steps, least_gain=0.1) for steps in (1, 3, 8)]
    >>> [round(each, 3) for each in found]
    [1.557, 1.808, 1.808]
    """
    payoff, layers = Bernoulli(means).arm_means(), unfold(policy, len(means), horizon)
    gaps, choose = payoff.max() - payoff, []
    for t, layer in enumerate(layers):
        ahead = np.zeros((int(layers[min(t + steps, horizon - 1)].following.max()) + 1, 1))
        for later in reversed(layers[t + 1 : t + 1 + steps]):
            ahead = _before(later, payoff, gaps, ahead)
        after = ahead[layer.following, 0]
        gain = after[:, :, ::-1] - after  # if the other answer is shown
        choose.append(np.where(gain > least_gain, [[1, 0]], [[0, 1]]))
    return _followed(layers, payoff, budget, choose)


def _followed(layers: list[Layer], payoff: Floats, budget: int, choose: list[Any]) -> float:
    """The expected regret if in each state, for each arm and reward, the attack shows what it chose, if it can pay."""
    gaps, rows = payoff.max() - payoff, int(layers[-1].following.max()) + 1
    values = np.zeros((rows, budget + 1))
    for layer, shown in zip(reversed(layers), reversed(choose), strict=True):
        after, values = values, np.zeros((len(layer.chances), budget + 1))
        for arm, mean in enumerate(payoff):
            total = np.full_like(values, gaps[arm])
            for reward, likely in ((0, 1.0 - mean), (1, mean)):
                true, other = layer.following[:, arm, reward], layer.following[:, arm, 1 - reward]
                worth = after[true].copy()
                altered = shown[:, arm, reward] != reward
                worth[altered, 1:] = after[other[altered], :-1]
                total += likely * worth
            values += layer.chances[:, arm, None] * total
    return float(values[0, budget])


def _before(layer: Layer, payoff: Floats, gaps: Floats, after: Floats) -> Floats:
    """The value of each state and budget before a round, from those after it."""
    altered = np.full_like(after, -np.inf)
    altered[:, 1:] = after[:, :-1]  # one alteration was paid for
    values = np.zeros((len(layer.chances), after.shape[1]))
    for arm, mean in enumerate(payoff):
        zero, one = layer.following[:, arm, 0], layer.following[:, arm, 1]
        paid, unpaid = np.maximum(after[one], altered[zero]), np.maximum(after[zero], altered[one])
        values += layer.chances[:, arm, None] * (gaps[arm] + mean * paid + (1.0 - mean) * unpaid)
    return values


@lru_cache(64)
def unfold(policy: Policy, n_arms: int, horizon: int) -> list[Layer]:
    """Every state that a policy can reach with rewards 0 and 1, round by round."""
    if not hasattr(policy.select, "__code__") or (policy.randomized and not _chances_are_known(policy, n_arms)):
        wanted = "a deterministic policy, or one with two arms and known chances"
        raise NotApplicable(f"optimal attack: expected {wanted}, got {policy.name} with {n_arms} arms")
    states, layers = [policy.init(Game(n_arms, horizon))], []
    for t in range(1, horizon + 1):
        chances, following = np.zeros((len(states), n_arms)), np.zeros((len(states), n_arms, 2), dtype=np.int64)
        found: dict[Any, int] = {}
        reached: list[Any] = []
        for number, state in enumerate(states):
            for arm, chance, tag in _decisions(policy, state, Round.prompt(t, n_arms)):
                chances[number, arm] = chance
                for reward in (0, 1):
                    after = policy.update(_copy(state), Answer(arm, float(reward), chance, tag))
                    place = found.setdefault(_key(after), len(reached))
                    if place == len(reached):
                        reached.append(after)
                    following[number, arm, reward] = place
        if len(reached) > MOST_STATES:
            raise InvalidParameter(f"horizon: expected a shorter one for {policy.name}, got {horizon}: too many states")
        layers.append(Layer(chances, following))
        states = reached
    return layers


def _chances_are_known(policy: Policy, n_arms: int) -> bool:
    return n_arms == 2 and (policy.knows_probability or isinstance(policy, Thompson))


def _decisions(policy: Policy, state: Any, round: Round) -> list[tuple[int, float, int]]:
    """Each arm that may be played, its chance and its tag."""
    arm, chance, tag = policy.select(state, round, stream(0))
    if not policy.randomized:
        return [(arm, chance, tag)]
    if isinstance(policy, Thompson):
        chance = float(_chance_of_first(*state.alphas, *state.betas))
        chance = chance if arm == 0 else 1.0 - chance
    elif tag != 0:
        raise NotApplicable(f"optimal attack: expected a policy without hidden draws, got {policy.name}")
    both = [(arm, chance, tag), (1 - arm, 1.0 - chance, tag)]
    return [each for each in both if each[1] > 0.0]


def _chance_of_first(alpha: float, other_alpha: float, beta: float, other_beta: float) -> float:
    """The chance that a Beta(alpha, beta) draw is above a Beta(other_alpha, other_beta) draw; whole numbers."""
    total = 0.0
    for i in range(int(alpha)):
        log_term = _log_beta(other_alpha + i, beta + other_beta) - _log_beta(1.0 + i, beta)
        total += exp(log_term - _log_beta(other_alpha, other_beta)) / (beta + i)
    return total


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(*map(_copy, value)) if hasattr(value, "_fields") else value


def _key(value: Any) -> Any:
    """What two states have in common only if they are equal."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return tuple(map(_key, value)) if hasattr(value, "_fields") else value
