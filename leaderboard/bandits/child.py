"""Plays bandits of another library in its own environment: reads what was learnt, writes the arm to pull.

    python child.py LIBRARY POLICY

It is started by `in_own_environments.py`, which says what goes through the pipe.
"""

import os
import random
import struct
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np

ASKED, STARTED, ANSWERED = struct.Struct("<iid"), struct.Struct("<iii"), struct.Struct("<i")


class SMPyBandits:
    """A policy of SMPyBandits, which draws from both global generators."""

    def __init__(self, name: str, n_arms: int, horizon: int, seed: int) -> None:
        from SMPyBandits import Policies

        np.random.seed(seed)
        random.seed(seed)
        self.policy: Any = getattr(Policies, name)(n_arms)
        self.policy.startGame()

    def ask(self) -> int:
        """The arm to pull."""
        return int(self.policy.choice())

    def tell(self, arm: int, reward: float) -> None:
        """Learn from a reward."""
        self.policy.getReward(arm, reward)


class PyMAB:
    """A policy of PyMAB."""

    def __init__(self, name: str, n_arms: int, horizon: int, seed: int) -> None:
        from pymab import policies

        more = {"UCBPolicy": {"c": 2.0}, "SuccessiveEliminationPolicy": {"delta": n_arms / horizon}}
        self.policy: Any = getattr(policies, name)(n_arms=n_arms, **more.get(name, {}))
        self.random = np.random.default_rng(seed)
        self.coins = np.random.default_rng([seed, 1]) if name == "BernoulliThompsonSamplingPolicy" else None

    def ask(self) -> int:
        """The arm to pull."""
        return int(self.policy.select_action(rng=self.random))

    def tell(self, arm: int, reward: float) -> None:
        """Learn from a reward. Thompson sampling takes only 0 and 1: other rewards are chances of a 1, as in ours."""
        if self.coins is not None and reward not in (0.0, 1.0):
            reward = float(self.coins.random() < reward)
        self.policy.update(action=arm, reward=reward)


def main() -> None:
    """Answer until the pipe is closed; a new game replaces the one before."""
    kinds: dict[str, Callable[..., Any]] = {"smpybandits": SMPyBandits, "pymab": PyMAB}
    library, policy = sys.argv[1:]
    source, target = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints must not get into the pipe
    playing, bandit = -1, cast(Any, None)
    while len(message := source.read(ASKED.size)) == ASKED.size:
        game, arm, reward = ASKED.unpack(message)
        if arm == -2:
            playing, bandit = game, kinds[library](policy, *STARTED.unpack(source.read(STARTED.size)))
            continue
        if bandit is None or game != playing:
            raise ValueError(f"game: expected {playing}, got {game}")
        if arm >= 0:
            bandit.tell(arm, reward)
        target.write(ANSWERED.pack(bandit.ask()))
        target.flush()


if __name__ == "__main__":
    main()
