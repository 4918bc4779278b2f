"""Time UCB1 in SMPyBandits: the bare policy and arm loop, and its own Evaluator."""

import contextlib
import io

import numpy as np
from common import MEANS, main


def quiet() -> contextlib.AbstractContextManager[object]:
    """Swallow what SMPyBandits prints, so that standard output holds only the JSON lines."""
    return contextlib.redirect_stdout(io.StringIO())


with quiet():
    from SMPyBandits.Arms import Bernoulli
    from SMPyBandits.Environment import Evaluator
    from SMPyBandits.Policies import UCB


class Loop:
    """The inner loop of the Evaluator with everything else stripped away: choice, draw, getReward."""

    def __init__(self, rounds: int, seed: int) -> None:
        """Construct the arms and the policy."""
        self.rounds = rounds
        self.arms = [Bernoulli(mean) for mean in MEANS]
        self.policy = UCB(len(MEANS))
        np.random.seed(seed)

    def run(self) -> None:
        """Play every round."""
        arms, policy = self.arms, self.policy
        policy.startGame()
        for t in range(self.rounds):
            arm = policy.choice()
            policy.getReward(arm, arms[arm].draw(t))

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return int(self.policy.pulls[0])


class Evaluation:
    """One Evaluator run of one policy, one repetition, one process, drawing the rewards in bulk (its faster mode)."""

    def __init__(self, rounds: int, seed: int) -> None:
        """Construct the Evaluator and its environment."""
        configuration = {
            "horizon": rounds,
            "repetitions": 1,
            "n_jobs": 1,
            "verbosity": 0,
            "cache_rewards": True,
            "environment": [{"arm_type": Bernoulli, "params": list(MEANS)}],
            "policies": [{"archtype": UCB, "params": {}}],
        }
        with quiet():
            self.evaluator = Evaluator(configuration)
        np.random.seed(seed)

    def run(self) -> None:
        """Simulate the only environment."""
        with quiet():
            self.evaluator.startAllEnv()

    def best_arm_pulls(self) -> int:
        """Count the pulls of arm 0."""
        return int(self.evaluator.pulls[0][0, 0])


if __name__ == "__main__":
    main("SMPyBandits", {"loop": Loop, "evaluator-cached-rewards": Evaluation}, default_rounds=20_000)
