"""Time a policy of SMPyBandits: the bare policy and arm loop, and its own Evaluator."""

import contextlib
import io
import random

import numpy as np
from common import MEANS, Maker, Policies, exp3_gamma, main


def quiet() -> contextlib.AbstractContextManager[object]:
    """Swallow what SMPyBandits prints, so that standard output holds only the JSON lines."""
    return contextlib.redirect_stdout(io.StringIO())


with quiet():
    from SMPyBandits.Arms import Bernoulli
    from SMPyBandits.Environment import Evaluator
    from SMPyBandits.Policies import (
        MOSSH,
        UCB,
        EpsilonDecreasing,
        Exp3,
        Exp3PlusPlus,
        Thompson,
        TsallisInf,
        klUCB,
    )

# Each a class of theirs with its parameters.
POLICIES: Policies = {
    "UCB1": lambda rounds: (UCB, {}),
    "KLUCB": lambda rounds: (klUCB, {"c": 1.0}),
    "MOSS": lambda rounds: (MOSSH, {"horizon": rounds}),
    "Thompson": lambda rounds: (Thompson, {}),
    "EpsilonGreedy": lambda rounds: (EpsilonDecreasing, {"epsilon": float(len(MEANS))}),
    "EXP3": lambda rounds: (Exp3, {"gamma": exp3_gamma(rounds)}),
    "EXP3PlusPlus": lambda rounds: (Exp3PlusPlus, {}),
    "TsallisINF": lambda rounds: (TsallisInf, {}),
}

# Theirs exploits the largest sum of rewards and not the largest mean, so it stays with the arm that led first.
HAPLESS = {"EpsilonGreedy"}


def seed_everything(seed: int) -> None:
    """SMPyBandits draws from both global generators."""
    np.random.seed(seed)
    random.seed(seed)


class Loop:
    """The inner loop of the Evaluator with everything else stripped away: choice, draw, getReward."""

    def __init__(self, maker: Maker, rounds: int, seed: int) -> None:
        """Construct the arms and the policy."""
        kind, parameters = maker(rounds)
        self.rounds = rounds
        self.arms = [Bernoulli(mean) for mean in MEANS]
        seed_everything(seed)  # before the policy, because some shuffle the arms when they are made
        self.policy = kind(len(MEANS), **parameters)
        self.best = 0

    def run(self) -> None:
        """Play every round."""
        arms, policy, best = self.arms, self.policy, 0
        policy.startGame()
        for t in range(self.rounds):
            arm = policy.choice()
            policy.getReward(arm, arms[arm].draw(t))
            best += arm == 0  # not policy.pulls, which Thompson leaves at zero
        self.best = int(best)

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return self.best


class Evaluation:
    """One Evaluator run of one policy, one repetition, one process, drawing the rewards in bulk (its faster mode)."""

    def __init__(self, maker: Maker, rounds: int, seed: int) -> None:
        """Construct the Evaluator and its environment."""
        kind, parameters = maker(rounds)
        configuration = {
            "horizon": rounds,
            "repetitions": 1,
            "n_jobs": 1,
            "verbosity": 0,
            "cache_rewards": True,
            "environment": [{"arm_type": Bernoulli, "params": list(MEANS)}],
            "policies": [{"archtype": kind, "params": parameters}],
        }
        with quiet():
            self.evaluator = Evaluator(configuration)
        seed_everything(seed)

    def run(self) -> None:
        """Simulate the only environment."""
        with quiet():
            self.evaluator.startAllEnv()

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return int(self.evaluator.pulls[0][0, 0])


if __name__ == "__main__":
    main("SMPyBandits", POLICIES, {"loop": Loop, "evaluator": Evaluation}, default_rounds=10_000, hapless=HAPLESS)
