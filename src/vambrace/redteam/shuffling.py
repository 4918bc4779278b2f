"""The arms of a game in another order: ties go to the lowest arm, so an order may shield the best arm.

Every game of the attack suite and of the search has its own order, which depends on the seed and the number of the game
only. So all attacks meet the same games.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from vambrace.adversaries import Script
from vambrace.environments import Replay
from vambrace.parameters import declared
from vambrace.protocols import Adversary, Environment

Thing = TypeVar("Thing")
Order = tuple[int, ...]  # place k of a game holds arm order[k]


def order_of(n_arms: int, seed: int, game: int) -> Order:
    """A random order of the arms for one game.

    >>> order_of(4, seed=0, game=0), order_of(4, seed=0, game=1)
    ((2, 0, 1, 3), (3, 0, 2, 1))
    """
    return tuple(np.random.default_rng((seed, game)).permutation(n_arms).tolist())


def shuffled(
    environment: Environment, attack: Adversary | None, seed: int, game: int
) -> tuple[Environment, Adversary | None, Order]:
    """The arms and the attack of one game, in the order of that game; as given if the arms have no order.

    >>> from vambrace.environments import Bernoulli
    >>> shuffled(Bernoulli([0.9, 0.8, 0.7]), None, seed=0, game=0)[2]
    (2, 0, 1)
    """
    if not has_order(environment):
        return environment, attack, tuple(range(environment.n_arms))
    order = order_of(environment.n_arms, seed, game)
    return shuffled_arms(environment, order), None if attack is None else shuffled_attack(attack, order), order


def has_order(environment: Environment) -> bool:
    """Whether the arms can be put into another order: they are parameters, one for each arm."""
    return dataclasses.is_dataclass(environment) and bool(_per_arm(environment))


def shuffled_arms(environment: Environment, order: Order) -> Environment:
    """The environment with its arms in this order; unchanged, if they have no order (see `has_order`).

    >>> from vambrace.environments import Bernoulli
    >>> shuffled_arms(Bernoulli([0.9, 0.8, 0.7]), (2, 0, 1)).means
    (0.7, 0.9, 0.8)
    """
    if not has_order(environment):
        return environment
    moved = {name: _moved(values, order) for name, values in _per_arm(environment).items()}
    if isinstance(environment, Replay) and environment.rewards is not None:
        blocks = np.split(np.array(environment.rewards), np.cumsum(environment.events)[:-1])
        moved["rewards"] = np.concatenate(_moved(blocks, order)).tolist()
    return _replaced(environment, moved)


def shuffled_attack(attack: Adversary, order: Order) -> Adversary:
    """The attack on the same arms where they stand in this order: `arm`, `target`, and all of a script.

    >>> from vambrace.adversaries import Conceal
    >>> shuffled_attack(Conceal(arm=2), (2, 0, 1)).arm
    0
    """
    named = {name: getattr(attack, name, None) for name in ("arm", "target")}
    moved: dict[str, Any] = {name: order.index(arm) for name, arm in named.items() if arm is not None}
    if isinstance(attack, Script):
        moved["modes"] = "".join(_moved(attack.modes.ljust(len(order), "0"), order))
        for name in ("levels", "caps", "first", "last"):
            values = getattr(attack, name)
            moved[name] = _moved(values, order) if len(values) > 1 else values
    return _replaced(attack, moved) if moved else attack


def _per_arm(environment: Any) -> dict[str, Any]:
    values = {each.name: getattr(environment, each.name) for each in declared(type(environment)) if each.kind.per_arm}
    return {name: value for name, value in values.items() if value is not None}


def _moved(values: Sequence[Any], order: Order) -> tuple[Any, ...]:
    return tuple(values[arm] for arm in order)


def _replaced(thing: Thing, changes: dict[str, Any]) -> Thing:
    changed: Thing = dataclasses.replace(thing, **changes)  # type: ignore[type-var]
    return changed
